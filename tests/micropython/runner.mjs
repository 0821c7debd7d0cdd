// Runs a script of the folder scripts in the real MicroPython interpreter, with the firmware in its file system.
//   node runner.mjs --heap BYTES --firmware FOLDER --data FILE --out FILE SCRIPT FUNCTION...
// FOLDER becomes /firmware (its main.py /main.py). The script's functions are called with what is in the file of data, which is JSON,
// and each thing they give becomes a line of JSON in the other. Exceptions go to standard error, with the exit code 1.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript";

const { values, positionals } = parseArgs({
  options: { heap: { type: "string" }, firmware: { type: "string" }, data: { type: "string" }, out: { type: "string" } },
  allowPositionals: true,
});

const interpreter = await loadMicroPython({
  heapsize: Number(values.heap),
  stdout: (line) => fs.writeSync(1, `${line}\n`),
  stderr: (line) => fs.writeSync(2, `${line}\n`),
});

const scripts = path.join(path.dirname(fileURLToPath(import.meta.url)), "scripts");

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
copyFolder(scripts, "/scripts");
interpreter.FS.writeFile("/data.json", fs.readFileSync(values.data));
try {
  // Garbage is only collected between two of these calls.
  interpreter.runPython('import gc, json, sys\nsys.path[:] = ["/", "/scripts"]');
  interpreter.runPython('with open("/data.json") as file:\n    data = json.load(file)');
  interpreter.runPython(`import ${positionals[0]} as script\nresults = []`);
  for (const name of positionals.slice(1)) {
    interpreter.runPython(`results += script.${name}(data)`);
  }
  interpreter.runPython(
    'with open("/out", "w") as file:\n    for result in results:\n        json.dump(result, file)\n        file.write("\\n")',
  );
  fs.writeFileSync(values.out, interpreter.FS.readFile("/out"));
} catch (error) {
  fs.writeSync(2, `${error.message}\n`);
  process.exitCode = 1;
}
