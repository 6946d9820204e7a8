// `race`: two functions, each replicate in a fresh process.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { RaceFailed, UsageError } from "./errors.js";
import { quoted, run } from "./program.js";
import { Result } from "./result.js";
import { refusal } from "./runtime.js";
import { inJavaScriptWords, options } from "./settings.js";
import { callingFile, packed } from "./travel.js";

const WORKER = fileURLToPath(new URL("./race_worker.js", import.meta.url));

/** Races two functions and resolves to the answer: is `new` faster than `old`? */
export async function race(given) {
  if (refusal !== null) throw new UsageError(refusal);
  if (globalThis[Symbol.for("deadheat.worker")]) {
    throw new UsageError(
      "a worker of deadheat cannot race: move race() out of the module of its functions",
    );
  }
  if (given === null || typeof given !== "object") {
    throw new UsageError("race() needs an object: race({ old, new, … })");
  }
  const words = options(given);
  const names = given.names ?? namesOf(given.old, given.new);
  if (!Array.isArray(names) || names.length !== 2 || new Set(names).size !== 2) {
    throw new UsageError(`names must be two different names, not ${JSON.stringify(names)}`);
  }
  const { inputPerCall, checkOutputs = false } = given;
  if (inputPerCall && given.input === undefined)
    throw new UsageError("inputPerCall needs an input");
  const sent = {
    name: given.name ?? `${names[0]} and ${names[1]}`,
    caller: callingFile(),
    contenders: [
      [names[0], packed(given.old, "old")],
      [names[1], packed(given.new, "new")],
    ],
    input: given.input === undefined ? null : packed(given.input, "input"),
    inputPerCall,
    checkOutputs:
      typeof checkOutputs === "boolean" ? checkOutputs : packed(checkOutputs, "checkOutputs"),
  };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "deadheat-"));
  try {
    return await raced(sent, words, folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function raced(sent, words, folder) {
  const [file, record, table] = ["race.json", "run.jsonl", "samples.csv"].map((name) =>
    path.join(folder, name),
  );
  fs.writeFileSync(file, JSON.stringify(sent));
  const command = quoted([process.execPath, ...ownOptions(), WORKER, file]);
  const fixed = [
    "--json",
    "--quiet",
    "--no-config",
    `--save=${record}`,
    `--export-csv=${table}`,
    "--csv-exact",
  ];
  const answer = JSON.parse(await run(["bench", command, ...fixed, ...words], folder));
  const failures = (answer.failures ?? []).map((one) => one.message);
  if (answer.failure || failures.length > 0) {
    throw new RaceFailed(
      withAdvice(inJavaScriptWords(failures.join("; ") || answer.failure), sent),
    );
  }
  return new Result(answer, fs.readFileSync(table, "utf8"), fs.readFileSync(record));
}

// Options of this Node that change how code runs. The others are about this process alone.
export function ownOptions(given = process.execArgv) {
  const own = "test|watch|eval|print|inspect|input-type|env-file|run|check|cpu-prof|heap-prof|prof";
  const isAbout = new RegExp(`^(-[rC]$|--(?!(${own})\\b))`);
  const kept = [];
  for (let at = 0; at < given.length; at++) {
    const isKept = isAbout.test(given[at]);
    if (isKept) kept.push(given[at]);
    // The value of an option may be the next word.
    while (given[at + 1]?.startsWith("-") === false) {
      at += 1;
      if (isKept) kept.push(given[at]);
    }
  }
  return kept;
}

function namesOf(one, other) {
  const name = (fn) => (typeof fn === "function" ? fn.name : String(fn).split("#").at(-1));
  const found = [name(one), name(other)];
  return found[0] === found[1] || found.includes("") ? ["old", "new"] : found;
}

// A function that travels as source leaves behind what it uses.
function withAdvice(message, sent) {
  const functions = [...sent.contenders.map(([, one]) => one), sent.input];
  if (!functions.some((one) => one?.source !== undefined)) return message;
  const missing = /ReferenceError: (\S+) is not defined/.exec(message)?.[1];
  if (missing === undefined) return message;
  return (
    `${message}: workers receive the source of a function, without '${missing}' of its module. ` +
    'Export the function from a module and name it, as old: "./file.js#parse"'
  );
}
