// Other ways to compare the functions of tasks.mjs with their copies: peers.mjs tinybench|mitata|processes
//
// Prints, for each function, the change and whether it is called a difference. tinybench (which is
// also `vitest bench`) prints a margin of error for each task: a difference is called if the two
// intervals do not overlap. mitata prints "x times faster": called from 1.01 on. By hand, ten
// processes of each side in turns, compared by Welch's t test at 5%.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { copy, tasks } from "./tasks.mjs";

// `just javascript` has installed them there.
const { resolve } = createRequire(new URL("../../javascript/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(resolve(name)).href);

const INPUT_SEED = 7;
const PROCESSES = 10;
const pairs = Object.entries(tasks).map(([name, [input, fn]]) => {
  const given = input(INPUT_SEED);
  const [base, other] = [copy(fn), copy(fn)];
  return [name, () => base(given), () => other(given)];
});

async function tinybench() {
  const { Bench } = await load("tinybench");
  const rows = [];
  for (const [name, base, other] of pairs) {
    const bench = new Bench();
    bench.add("base", base).add("copy", other);
    await bench.run();
    const [one, two] = bench.tasks.map((task) => task.result.latency);
    const called = Math.abs(one.mean - two.mean) > one.moe + two.moe;
    rows.push({ name, change: two.mean / one.mean - 1, called });
  }
  return rows;
}

async function mitata() {
  const { measure } = await load("mitata");
  const rows = [];
  for (const [name, base, other] of pairs) {
    const one = await measure(base);
    const two = await measure(other);
    const ratio = Math.max(one.avg / two.avg, two.avg / one.avg);
    rows.push({ name, change: two.avg / one.avg - 1, called: Number(ratio.toFixed(2)) > 1 });
  }
  return rows;
}

/** Nanoseconds of a call of each function in this process, after a warm-up. */
async function times() {
  const run = async (call, ms) => {
    const began = performance.now();
    let calls = 0;
    while (performance.now() - began < ms) {
      const output = call();
      if (typeof output?.then === "function") await output;
      calls += 1;
    }
    return ((performance.now() - began) * 1e6) / calls;
  };
  const found = [];
  for (const [, base] of pairs) {
    await run(base, 100);
    found.push(await run(base, 200));
  }
  return found;
}

function processes() {
  const sides = [[], []];
  for (let turn = 0; turn < 2 * PROCESSES; turn++) {
    const words = [import.meta.filename, "times"];
    sides[turn % 2].push(JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" })));
  }
  return pairs.map(([name], at) => {
    const [one, two] = sides.map((runs) => runs.map((run) => run[at]));
    return { name, change: mean(two) / mean(one) - 1, called: differ(one, two) };
  });
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values) =>
  values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1);

// Welch's t test at 5%; the quantile by the expansion of Cornish and Fisher, exact to 1% from 9
// degrees of freedom on.
function differ(one, two) {
  const [a, b] = [variance(one) / one.length, variance(two) / two.length];
  const t = Math.abs(mean(one) - mean(two)) / Math.sqrt(a + b);
  const df = (a + b) ** 2 / (a ** 2 / (one.length - 1) + b ** 2 / (two.length - 1));
  const z = 1.959964;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  return t > z + g1 / df + g2 / df ** 2;
}

const ways = { tinybench, mitata, processes, times };
console.log(JSON.stringify(await ways[process.argv[2]]()));
