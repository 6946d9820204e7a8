#!/usr/bin/env node
// Races of JavaScript, as `docs/validation/javascript.md` shows them.
//
//   measure.mjs copies|more RACES     ten functions against copies, or with one percent more work
//   measure.mjs peers RACES           the same copies by tinybench, mitata and alternating processes
//   measure.mjs suite NAME CHECKOUT OLD NEW PATTERN [BUILD]
//                                     a public suite against itself, and between two tags
//   measure.mjs page                  writes the page
//
// Appends to validation/data/javascript.jsonl. Nothing else may run on the machine. DEADHEAT names
// the program, NODE the Node that is raced (default: node).

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { page } from "./page.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const DATA = path.join(ROOT, "validation/data/javascript.jsonl");
const PAGE = path.join(ROOT, "docs/validation/javascript.md");
const DEADHEAT = process.env.DEADHEAT ?? path.join(ROOT, "target/release/deadheat");
const NODE = process.env.NODE ?? "node";
const FUNCTIONS = path.join(import.meta.dirname, "functions.mjs");
const SECONDS_PER_ROW = 10;
const VERSION = execFileSync(NODE, ["--version"], { encoding: "utf8" }).trim();

function add(record) {
  const about = {
    date: new Date().toISOString().slice(0, 10),
    node: VERSION,
    cpu: os.cpus()[0].model,
  };
  fs.appendFileSync(DATA, `${JSON.stringify({ ...record, ...about })}\n`);
}

/** Rows of a race, and its seconds. */
function raced(words, { env = {}, cwd } = {}) {
  const began = performance.now();
  const fixed = ["--json", "--quiet", "--no-config"];
  const done = spawnSync(DEADHEAT, [...words, ...fixed], {
    cwd,
    env: {
      ...process.env,
      DEADHEAT_JAVASCRIPT_PACKAGE: path.join(ROOT, "javascript"),
      ...env,
    },
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  if (done.stdout === "") throw new Error(done.stderr);
  const answer = JSON.parse(done.stdout);
  const rows = answer.benchmarks.map((one) => ({
    name: one.benchmark,
    ns: one.baseline.typical,
    change: one.change,
    ci: one.ci,
    verdict: one.verdict,
    replicates: one.replicates,
    seconds: one.seconds_to_settle ?? null,
  }));
  return {
    rows,
    failures: answer.failures ?? [],
    seconds: (performance.now() - began) / 1e3,
  };
}

function functions(kind, races) {
  const env = kind === "more" ? { EXTRA: "1" } : {};
  const count = kind === "more" ? 7 : 10;
  for (let race = 0; race < races; race++) {
    const words = ["bench", `${NODE} ${FUNCTIONS}`, "--budget", `${count * SECONDS_PER_ROW}s`];
    const { rows, seconds } = raced(words, { env });
    for (const row of rows)
      add({
        kind,
        load: os.loadavg()[0],
        ...row,
        race_seconds: seconds / count,
      });
    console.error(
      `${kind} ${race + 1}/${races}: ${seconds.toFixed(0)} s`,
      rows.map((row) => row.verdict).join(" "),
    );
  }
}

/** Each peer measures both copies of every function, and calls them different by its own rule. */
function peers(races) {
  for (let race = 0; race < races; race++) {
    for (const peer of ["tinybench", "mitata", "processes"]) {
      const began = performance.now();
      const words = [path.join(import.meta.dirname, "peers.mjs"), peer];
      const rows = JSON.parse(execFileSync(NODE, words, { encoding: "utf8", maxBuffer: 1 << 28 }));
      const seconds = (performance.now() - began) / 1e3 / rows.length;
      for (const row of rows) add({ kind: "peer", peer, ...row, race_seconds: seconds });
      console.error(`${peer}: ${rows.filter((row) => row.called).length} of ${rows.length} called`);
    }
  }
}

function suite([name, checkout, old, recent, pattern, build]) {
  const way = pattern === "--vitest" ? ["--vitest"] : ["--node", pattern];
  const prepared = build ? ["--build", build] : [];
  const listed = execFileSync(
    DEADHEAT,
    ["rev", `${recent}..${recent}`, ...way, ...prepared, "--list"],
    {
      cwd: checkout,
      env: {
        ...process.env,
        DEADHEAT_JAVASCRIPT_PACKAGE: path.join(ROOT, "javascript"),
      },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const budget = listed.trim().split("\n").length * SECONDS_PER_ROW;
  for (const [kind, range] of [
    ["itself", `${recent}..${recent}`],
    ["releases", `${old}..${recent}`],
  ]) {
    const words = ["rev", range, ...way, ...prepared, "--budget", `${budget}s`];
    const { rows, failures, seconds } = raced(words, { cwd: checkout });
    add({
      kind: "suite",
      suite: name,
      what: kind,
      old,
      new: recent,
      pattern,
      rows,
      failures,
      seconds,
    });
    console.error(name, kind, `${seconds.toFixed(0)} s`, rows.map((row) => row.verdict).join(" "));
  }
}

const [command, ...words] = process.argv.slice(2);
if (command === "copies" || command === "more") functions(command, Number(words[0]));
else if (command === "peers") peers(Number(words[0]));
else if (command === "suite") suite(words);
else if (command === "page") {
  const records = fs
    .readFileSync(DATA, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  fs.writeFileSync(PAGE, page(records));
} else
  throw new Error(
    "measure.mjs copies|more|peers RACES, suite NAME CHECKOUT OLD NEW PATTERN, or page",
  );
