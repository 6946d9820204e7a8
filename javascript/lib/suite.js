// Files of benchmarks, for `deadheat bench 'node FILE'`.

import process from "node:process";

import { Benchmark } from "./benchmark.js";
import { claim } from "./channel.js";
import { UsageError } from "./errors.js";
import { refusal } from "./runtime.js";
import { serve } from "./worker.js";

// Before anything of the user runs.
const channel = claim();

/** Races the benchmarks of this file, if deadheat has started it. */
export async function suite(benchmarks) {
  if (refusal !== null) throw new UsageError(refusal);
  if (benchmarks === null || typeof benchmarks !== "object") {
    throw new UsageError("suite() needs an object of benchmarks by name");
  }
  const made = Object.entries(benchmarks).map(([name, one]) => new Benchmark(name, one));
  // register.js, loaded before this file, has the channel.
  const script = globalThis[Symbol.for("deadheat.script")];
  if (script !== undefined) return await script.offerBenchmarks(made);
  if (channel === null) {
    const file = process.argv[1] ?? "FILE";
    throw new UsageError(`a suite does not race itself: npx deadheat bench 'node ${file}'`);
  }
  const listed = made.map((benchmark) => benchmark.listed());
  await serve(channel, listed, async (name) => made.find((one) => one.name === name) ?? null);
}
