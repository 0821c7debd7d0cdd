// A board with the real MicroPython interpreter behind a pseudo-terminal: its prompt, its files, its reset.
//   node board.mjs MASTER_FD WAIT_MS START_SCRIPT
// After a reset, and WAIT_MS without a Ctrl-C, START_SCRIPT is run if there is a /main.py and no /stay, and its step()
// is called again and again. Orders and answers are lines of JSON on standard input and output.
//
// Three things differ from a microcontroller. This port of MicroPython can't wait for input, so raw paste mode and its
// windows are played here, and the interpreter gets the code whole; the firmware's edges to the pins are those of
// START_SCRIPT; and errors of files have Emscripten's numbers.
import fs from "node:fs";
import process from "node:process";
import readline from "node:readline";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript";

const [masterFd, waitMs, startScript] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];
const CTRL_A = 1;
const CTRL_C = 3;
const CTRL_D = 4;
const RAW_PASTE = Buffer.from("\x05A\x01", "latin1");
const PASTE_WINDOW = 128;
const NOT_FILES = new Set([".", "..", "dev", "proc", "tmp", "home"]);
const STEP_MS = 1;

let interpreter = null;
let files = new Map();
let output = [];
let toFirmware = Buffer.alloc(0);
let step = null;
let pasted = null;
let timers = [];
let mode = "off";
let resetAsked = false;
let quotaBytes = Infinity;
const whenRunning = [];

function send() {
  let data = Buffer.from(output);
  output = [];
  for (let done = 0; done < data.length; ) {
    done += fs.writeSync(masterFd, data, done);
  }
}

function* walk(folder) {
  for (const name of interpreter.FS.readdir(folder === "" ? "/" : folder)) {
    if (name === "." || name === ".." || (folder === "" && NOT_FILES.has(name))) continue;
    const path = `${folder}/${name}`;
    const isFolder = interpreter.FS.isDir(interpreter.FS.stat(path).mode);
    yield [path, isFolder];
    if (isFolder) yield* walk(path);
  }
}

function keepFiles() {
  files = new Map();
  for (const [path, isFolder] of walk("")) {
    files.set(path, isFolder ? null : interpreter.FS.readFile(path));
  }
}

function usedBytes() {
  let bytes = 0;
  for (const [path, isFolder] of walk("")) bytes += isFolder ? 0 : interpreter.FS.stat(path).size;
  return bytes;
}

async function boot(rawPrompt) {
  timers.forEach(clearInterval);
  timers = [];
  step = pasted = null;
  toFirmware = Buffer.alloc(0);
  if (interpreter !== null) keepFiles();
  interpreter = await loadMicroPython({
    heapsize: 192 * 1024,
    linebuffer: false,
    stdout: (bytes) => output.push(...bytes),
    stderr: (bytes) => output.push(...bytes),
  });
  for (const [path, data] of files) {
    if (data === null) interpreter.FS.mkdirTree(path);
    else interpreter.FS.writeFile(path, data);
  }
  const write = interpreter.FS.write;
  interpreter.FS.write = (stream, buffer, offset, length, ...more) => {
    if (length > 0 && stream.node && interpreter.FS.isFile(stream.node.mode) && usedBytes() + length > quotaBytes) {
      throw new interpreter.FS.ErrnoError(28); // ENOSPC, as microcontrollers number it
    }
    return write.call(interpreter.FS, stream, buffer, offset, length, ...more);
  };
  interpreter.registerJsModule("machine", { reset: () => (resetAsked = true) });
  interpreter.registerJsModule("wire", {
    take: () => {
      const taken = toFirmware.toString("hex");
      toFirmware = Buffer.alloc(0);
      return taken;
    },
    give: (hex) => output.push(...Buffer.from(hex, "hex")),
    reset: () => (resetAsked = true),
  });
  if (rawPrompt) {
    prompt(true);
  } else if (!exists("/main.py")) {
    prompt(false);
  } else if (exists("/stay")) {
    interpreter.FS.unlink("/stay");
    prompt(false);
  } else {
    mode = "waiting";
    timers.push(setTimeout(startFirmware, waitMs));
  }
}

function exists(path) {
  return interpreter.FS.analyzePath(path).exists;
}

function prompt(raw) {
  timers.forEach(clearInterval);
  timers = [];
  mode = "prompt";
  interpreter.replInit();
  if (raw) {
    output = [...Buffer.from("MPY: soft reboot\r\n")];
    interpreter.replProcessChar(CTRL_A);
  }
  send();
}

function startFirmware() {
  mode = "firmware";
  try {
    interpreter.runPython(fs.readFileSync(startScript, "utf8"));
    step = interpreter.globals.get("step");
  } catch (error) {
    output.push(...Buffer.from(`${error.message}\r\n`));
    prompt(false);
    return;
  }
  timers.push(setInterval(stepFirmware, STEP_MS));
  whenRunning.splice(0).forEach((answer) => answer(true));
}

async function stepFirmware() {
  if (mode !== "firmware") return;
  step();
  send();
  if (resetAsked) await reset();
}

async function reset() {
  mode = "off";
  resetAsked = false;
  output = [];
  await boot(false);
}

async function takeIn(data) {
  if (mode === "firmware") {
    toFirmware = Buffer.concat([toFirmware, data]);
    return;
  }
  for (let index = 0; index < data.length; index += 1) {
    if (mode === "waiting" && data[index] === CTRL_C) prompt(false);
    if (mode !== "prompt") continue;
    if (data.subarray(index, index + RAW_PASTE.length).equals(RAW_PASTE)) {
      output.push(...Buffer.from("R\x01"), PASTE_WINDOW, 0, 1);
      index += RAW_PASTE.length - 1;
      pasted = [];
      continue;
    }
    if (pasted !== null) {
      paste(data[index]);
      if (resetAsked) {
        await reset();
        return;
      }
      continue;
    }
    const ended = interpreter.replProcessChar(data[index]);
    if (resetAsked) {
      await reset();
      return;
    }
    if (ended) {
      // Ctrl-D at the raw prompt answers "OK" first; at the friendly one main.py runs again.
      const isRaw = Buffer.from(output).toString("latin1").endsWith("OK\r\n");
      send();
      mode = "off";
      await boot(isRaw);
      return;
    }
  }
  send();
}

function paste(byte) {
  if (byte !== CTRL_D && byte !== CTRL_C) {
    pasted.push(byte);
    if (pasted.length % PASTE_WINDOW === 0) output.push(1);
    return;
  }
  output.push(CTRL_D);
  send();
  const code = byte === CTRL_D ? pasted : [];
  pasted = null;
  for (const char of [...code, CTRL_D]) interpreter.replProcessChar(char);
  output = output.slice("OK".length);
}

const ORDERS = {
  write: ({ path, data }) => {
    interpreter.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")) || "/");
    interpreter.FS.writeFile(path, Buffer.from(data, "base64"));
  },
  files: () => {
    keepFiles();
    const kept = [...files].filter(([, data]) => data !== null);
    return Object.fromEntries(kept.map(([path, data]) => [path, Buffer.from(data).toString("base64")]));
  },
  quota: ({ bytes }) => (quotaBytes = bytes === null ? Infinity : usedBytes() + bytes),
  reset,
  // Answers once the firmware runs.
  runs: () => new Promise((answer) => (mode === "firmware" ? answer(true) : whenRunning.push(answer))),
};

const buffer = Buffer.alloc(4096);
function listen() {
  fs.read(masterFd, buffer, 0, buffer.length, null, async (error, count) => {
    if (error) return;
    await takeIn(Buffer.from(buffer.subarray(0, count)));
    listen();
  });
}

await boot(false);
readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const { order, ...rest } = JSON.parse(line);
  const answer = await ORDERS[order](rest);
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`);
});
listen();
