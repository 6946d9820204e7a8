// The examples of docs/javascript.md run as they are printed.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";

import { findProgram } from "../lib/program.js";
import { PACKAGE, file, folder } from "./helpers.js";

const manual = fs.readFileSync(path.join(PACKAGE, "../docs/javascript.md"), "utf8");

/** The example that begins with the name of its file. */
function example(name) {
  const blocks = manual.matchAll(/```js\n\/\/ (\S+)\n([^]*?)```/g);
  const [, , text] = [...blocks].find((block) => block[1] === name);
  const where = folder();
  return file(text.replace('"deadheat"', "DEADHEAT"), name, where);
}

const run = promisify(execFile);

test("the shortest race gives the verdict of the manual", async () => {
  const { stdout } = await run(process.execPath, [example("shortest.mjs")]);
  assert.match(stdout, /'new' against|'new' is|'new' and/);
  assert.match(stdout, /^\S+ -?[\d.e-]+ \[ /m);
});

test("the file of benchmarks lists both of its benchmarks", async () => {
  const script = example("bench.mjs");
  const words = ["bench", `${process.execPath} ${script}`, `${process.execPath} ${script}`];
  const { stdout } = await run(findProgram(), [...words, "--list"]);
  assert.deepEqual(stdout.trim().split("\n"), [
    "count (map): benchmark",
    "count (object): benchmark",
    "join: benchmark",
  ]);
});
