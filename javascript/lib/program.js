// The program `deadheat`: where it is, and how it is run.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

import { ProgramNotFound, RaceFailed, UsageError } from "./errors.js";
import { inJavaScriptWords } from "./settings.js";

const NAME = "deadheat";
// Set to use a program that no package brings.
const VARIABLE = "DEADHEAT_PROGRAM";

/** The path of the program: that of the package for this platform, or else that on PATH. */
export function findProgram() {
  const named = process.env[VARIABLE];
  if (named) return named;
  const platform = `@deadheat/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${platform}/bin/${NAME}`);
  } catch {
    // The package is optional, so that an installation on another platform does not fail.
  }
  for (const folder of (process.env.PATH ?? "").split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, NAME);
    if (isExecutable(file) && isProgram(file)) return file;
  }
  throw new ProgramNotFound(
    `the program '${NAME}' is neither in the package ${platform} nor on PATH: ` +
      `set ${VARIABLE} to its path (Linux only)`,
  );
}

/** False for this package's own bin/deadheat.js, which npm and pnpm put on PATH by a link or a script. */
function isProgram(file) {
  const start = Buffer.alloc(2);
  const descriptor = fs.openSync(file);
  try {
    fs.readSync(descriptor, start, 0, 2, 0);
  } finally {
    fs.closeSync(descriptor);
  }
  return start.toString("latin1") !== "#!";
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The words of a command as one, as `deadheat bench` takes it. */
export function quoted(words) {
  const isPlain = (word) => /^[\w@%+=:,./-]+$/.test(word);
  return words
    .map((word) => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}

/**
 * Runs the program on files in a folder; resolves to what it prints.
 *
 * If this process ends first, the kernel closes the pipe that the program reads as standard input;
 * the program then removes the folder and ends.
 */
export async function run(words, folder) {
  const child = spawn(findProgram(), words, {
    stdio: ["pipe", "pipe", "pipe"],
    // So that a Ctrl-C in the terminal reaches only this process.
    detached: true,
    env: { ...process.env, DEADHEAT_OWNER: `${process.pid}:${folder}` },
  });
  const printed = [];
  const said = [];
  child.stdout.on("data", (bytes) => printed.push(bytes));
  child.stderr.on("data", (bytes) => said.push(bytes));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (...ended) => resolve(ended));
  });
  return answered(code, signal, Buffer.concat(printed).toString(), Buffer.concat(said).toString());
}

/** The same without waiting for anything else meanwhile; for what takes some milliseconds. */
export function runAtOnce(words) {
  const done = spawnSync(findProgram(), words, { encoding: "utf8", maxBuffer: 1 << 30 });
  if (done.error) throw done.error;
  return answered(done.status, done.signal, done.stdout, done.stderr);
}

function answered(code, signal, printed, said) {
  const error = errorOf(said);
  if (code === 2) throw new UsageError(error);
  // 1: a gate failed, but the result is complete.
  if (code !== 0 && code !== 1 && printed === "") {
    const ended = signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
    throw new RaceFailed(error || `the program deadheat ${ended}`);
  }
  return printed;
}

/** The error that the program printed, as one line without its advice on the command line. */
function errorOf(said) {
  const lines = said.trim().split("\n");
  const begin = lines.findLastIndex((line) => line.startsWith("error: "));
  const kept = [];
  for (const line of lines.slice(Math.max(begin, 0)).map((one) => one.trim())) {
    if (line === "" || line.startsWith("help: ")) break;
    kept.push(line);
  }
  return inJavaScriptWords(kept.join(" ").replace(/^error: /, ""));
}
