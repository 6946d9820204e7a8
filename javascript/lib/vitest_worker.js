#!/usr/bin/env node
// A worker for the benchmarks of a Vitest project: deadheat bench 'node …/vitest_worker.js FILTER…'
//
// This thread starts Vitest. The provider (`vitest.js`) runs in a thread of Vitest's pool and serves
// the requested benchmarks in the tests that contain them. One start serves all benchmarks of a
// replicate, because Vitest needs a second for it.

import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";

import { adviceOn } from "./advice.js";
import { claim } from "./channel.js";
import { tooOld } from "./runtime.js";
import { described, endUnlisted, failed, hello } from "./session.js";
import { unmeasured } from "./stand_ins/tinybench_task.cjs";
import { STATE, titles } from "./vitest.js";
import { VERSION } from "./worker.js";

const OLDEST = 5;
const OLDEST_NODE = "22.12";
const PROVIDER = fileURLToPath(new URL("./vitest.js", import.meta.url));
// Characters of a reason in the name of a benchmark.
const MOST_NAMED = 200;
// Options of Vitest that select benchmarks, or that their files may need.
const PASSED = [
  "config",
  "dir",
  "environment",
  "exclude",
  "globals",
  "mode",
  "project",
  "root",
  "tagsFilter",
  "testNamePattern",
];
// Vitest gives the value of a shorthand by its name, too.
const SHORTHANDS = ["c", "p", "r", "t", "w"];
// Options that scripts of package.json often have, and that ask for what deadheat does anyway.
const FULFILLED = { run: true, watch: false };

const channel = claim();
if (channel === null) give("this program is a worker: start it by `npx deadheat bench`");
const vitest = await loadVitest();
const { filters, options: asked } = parsed(process.argv.slice(2));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "deadheat-vitest-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
const state = path.join(folder, "state.json");
process.env[STATE] = JSON.stringify({ state, descriptors: channel.descriptors });

// Files, suites and tests of the last run that failed before their benchmarks, with the reason. They are
// listed in place of the benchmarks, because the answer says nothing else about a failure on one side.
let broken = [];
channel.reply(...hello(VERSION, { forks: true }));
let request = channel.request();
while (request[0] !== "bye") request = await answered(request);
fs.rmSync(folder, { recursive: true, force: true });
channel.end();

async function answered([kind, asked]) {
  try {
    if (kind === "import") {
      channel.reply("imported", {});
      return channel.request();
    }
    if (kind === "list") {
      const { listed } = await run({ pending: null, listed: [] });
      const isListed = ({ place }) => listed.some(({ name }) => isWithin(name, place));
      const failures = broken.filter((failure) => !isListed(failure));
      const benchmarks = [...listed, ...failures.map((failure) => ({ name: nameOf(failure) }))];
      channel.reply("listed", { benchmarks: benchmarks.toSorted(byFile) });
      return channel.request();
    }
    const left = await run({ pending: [kind, asked], listed: null });
    if (left.pending?.[0] !== kind || left.pending[1].benchmark !== asked.benchmark)
      return left.pending;
    const failure = broken.find(({ place }) => isWithin(asked.benchmark, place));
    const problem = kind === "prepare" ? { unknown: {} } : { out_of_turn: {} };
    channel.reply(...failed(failure ? { panicked: withAdvice(failure.reason) } : problem));
  } catch (error) {
    if (kind === "list") endUnlisted(String(error));
    channel.reply(...failed({ panicked: described(error) }));
  }
  return ["bye", {}];
}

/** Runs all tests once; returns what the provider has left to do. */
async function run(todo) {
  fs.writeFileSync(state, JSON.stringify(todo));
  const options = {
    ...asked,
    run: true,
    watch: false,
    benchmarkOnly: true,
    benchmark: {
      provider: PROVIDER,
      suppressExportGetterWarnings: true,
    },
    pool: "threads",
    fileParallelism: false,
    maxWorkers: 1,
    maxConcurrency: 1,
    sequence: { concurrent: false, shuffle: false },
    // Vitest raises finite limits of benchmarks to a minute or two.
    testTimeout: Infinity,
    hookTimeout: Infinity,
    retry: 0,
    bail: 0,
    allowOnly: true,
    coverage: { enabled: false },
    passWithNoTests: true,
    reporters: [{ onInit: prepareProjects }],
  };
  const running = await vitest.startVitest(filters, options);
  const files = running?.state.getFiles() ?? [];
  const unstarted = running?.state.getUnhandledErrors().flatMap(failureToStart) ?? [];
  broken = [...files.flatMap(failuresIn), ...unstarted];
  await running?.close();
  process.exitCode = 0;
  return JSON.parse(fs.readFileSync(state, "utf8"));
}

/** Gives each project of the configuration the provider, and keeps stored results as they are. */
function prepareProjects({ projects }) {
  for (const project of projects) {
    project.config.benchmark = { ...project.config.benchmark, provider: PROVIDER };
    Object.assign(project.config, { testTimeout: Infinity, hookTimeout: Infinity });
    // Zeros would replace the results of `writeResult`.
    project.benchmark.writeResult = async () => {};
    // `bench.from` throws if the file is not in the commit.
    project.benchmark.readResult = async () => unmeasured();
  }
}

/** The failures of a file, suite or test, and of what is in it. */
function failuresIn(task) {
  const place = titles(task).join(" > ");
  const own = task.result?.state === "fail" ? (task.result.errors ?? []) : [];
  const reasons = own
    .slice(0, 1)
    .map((error) => ({ place, reason: reasonOf(error, task.file.filepath) }));
  return [...reasons, ...(task.tasks ?? []).flatMap(failuresIn)];
}

/** The file that Vitest could not run at all, for example because its environment is not installed. */
function failureToStart({ message, cause }) {
  const file = /^\[vitest-pool\]: Failed to start .* for test files (.+)\.$/.exec(message)?.[1];
  if (file === undefined || cause === undefined) return [];
  return [{ place: path.relative(process.cwd(), file), reason: reasonOf(cause, file) }];
}

/** The error in one line, without what its place says. */
function reasonOf({ name, message }, file) {
  const text = name === "Error" ? message : `${name}: ${message}`;
  return stripVTControlCharacters(text)
    .replaceAll(` imported from ${file}`, "")
    .replaceAll(`${process.cwd()}${path.sep}`, "")
    .replaceAll(/\s+/g, " ");
}

function withAdvice(reason) {
  const advice = adviceOn(reason);
  return advice === null ? reason : `${reason} (${advice})`;
}

function nameOf({ place, reason }) {
  const cut = reason.length > MOST_NAMED ? `${reason.slice(0, MOST_NAMED)}...` : reason;
  return `${place} (fails: ${cut})`;
}

// Vitest runs the files that took longest first.
function byFile(one, other) {
  const [file, another] = [one, other].map(({ name }) => name.split(/ > | \(fails: /)[0]);
  return file === another ? 0 : file < another ? -1 : 1;
}

/** Whether a benchmark is that of a place, in it, or stands for its failure. */
function isWithin(name, place) {
  return name === place || [" > ", " (fails: "].some((next) => name.startsWith(place + next));
}

/** The filters and options in the arguments of `vitest bench`. */
function parsed(words) {
  let filters, given;
  try {
    ({ filter: filters, options: given } = vitest.parseCLI(["vitest", "bench", ...words]));
  } catch (error) {
    give(`the arguments after -- are not those of vitest bench: ${error.message}`);
  }
  // Vitest sets `color` even if it is not given.
  const { "--": rest, color: _, exclude, ...named } = given;
  const options = {};
  for (const [name, value] of Object.entries(named)) {
    if (SHORTHANDS.includes(name) || FULFILLED[name] === value) continue;
    if (!PASSED.includes(name)) refuseOption(`${name.length === 1 ? "-" : "--"}${name}`);
    options[name] = value;
  }
  if (rest.length > 0) refuseOption("--");
  // By this name, Vitest adds the patterns to those of the configuration.
  if (exclude !== undefined) options.cliExclude = [exclude].flat();
  return { filters, options };
}

// deadheat shows the last 200 characters of this message.
function refuseOption(option) {
  give(
    `a race does not use the option ${option} of Vitest: it selects neither benchmarks nor their ` +
      "environment\nhelp: remove it; docs/javascript.md lists the options that races use",
  );
}

async function loadVitest() {
  const require = createRequire(path.join(process.cwd(), "package.json"));
  let version;
  try {
    version = require("vitest/package.json").version;
  } catch {
    give(`there is no vitest in ${process.cwd()}: install the dependencies of the project`);
  }
  if (Number.parseInt(version) < OLDEST) {
    give(
      `vitest ${version} cannot hand its benchmarks to another library; vitest ${OLDEST} can: ` +
        "update it, or race the functions by race() or suite() of deadheat",
    );
  }
  const problem = tooOld(`Vitest ${OLDEST}`, OLDEST_NODE);
  if (problem !== null) give(problem);
  return await import(pathToFileURL(require.resolve("vitest/node")).href);
}

function give(message) {
  console.error(`error: ${message}`);
  process.exit(2);
}
