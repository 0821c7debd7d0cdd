// Runs a Python script in the real MicroPython interpreter, with the firmware in its file system.
//   node runner.mjs --heap BYTES --firmware FOLDER [--data FILE] SCRIPT
// FOLDER becomes /firmware (its main.py /main.py), FILE /data.json. What the script prints goes to standard output;
// an exception goes to standard error, and the exit code is 1.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript";

const { values, positionals } = parseArgs({
  options: { heap: { type: "string" }, firmware: { type: "string" }, data: { type: "string" } },
  allowPositionals: true,
});

const interpreter = await loadMicroPython({
  heapsize: Number(values.heap),
  stdout: (line) => fs.writeSync(1, `${line}\n`),
  stderr: (line) => fs.writeSync(2, `${line}\n`),
});

function copyFolder(from, to) {
  interpreter.FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    if (entry.isDirectory() && entry.name !== "__pycache__") {
      copyFolder(source, `${to}/${entry.name}`);
    } else if (entry.name.endsWith(".py")) {
      const target = source === path.join(values.firmware, "main.py") ? "/main.py" : `${to}/${entry.name}`;
      interpreter.FS.writeFile(target, fs.readFileSync(source));
    }
  }
}

copyFolder(values.firmware, "/firmware");
if (values.data !== undefined) {
  interpreter.FS.writeFile("/data.json", fs.readFileSync(values.data));
}
try {
  interpreter.runPython(fs.readFileSync(positionals[0], "utf8"));
} catch (error) {
  fs.writeSync(2, `${error.message}\n`);
  process.exitCode = 1;
}
