// The benchmark provider of Vitest 5, in a thread of Vitest's pool.

import fs from "node:fs";
import path from "node:path";
import process from "node:process";

import { Benchmark } from "./benchmark.js";
import { Channel } from "./channel.js";
import { UniqueNames } from "./names.js";
import { Session } from "./session.js";
import { unmeasured, withHooks } from "./stand_ins/tinybench_task.cjs";

/** The variable by which vitest_worker.js tells this thread of its pipes and of what is asked. */
export const STATE = "DEADHEAT_VITEST";

const given = process.env[STATE];
const { state, descriptors } = given === undefined ? {} : JSON.parse(given);
const channel = descriptors && new Channel(...descriptors);
const names = new UniqueNames();

/** @type {{ run(group: object): Promise<object[]> }} */
export default {
  async run({ test, registrations, options }) {
    if (channel === undefined) {
      throw new Error(
        "deadheat/vitest does not measure in `vitest bench`: remove it from the configuration, and run `npx deadheat rev main --vitest`",
      );
    }
    const benchmark = benchmarkOf(test, registrations, options);
    let { pending, listed } = JSON.parse(fs.readFileSync(state, "utf8"));
    if (listed !== null) {
      listed.push(benchmark.listed());
    } else {
      while (pending?.[0] === "prepare" && pending[1].benchmark === benchmark.name) {
        pending = (await served(benchmark, pending[1])) ? channel.request() : ["bye", {}];
      }
    }
    if (pending?.[0] === "bye") {
      // The other tests of the suite need not run.
      fs.rmSync(path.dirname(state), { recursive: true, force: true });
      channel.end();
    }
    fs.writeFileSync(state, JSON.stringify({ pending, listed }));
    return registrations.map(({ name }) => ({ name, ...unmeasured() }));
  },
};

async function served(benchmark, asked) {
  const sound = await new Session(channel, async () => benchmark).serve(asked);
  if (sound) channel.reply("over", {});
  return sound;
}

function benchmarkOf(test, registrations, options) {
  const tasks = registrations.map(({ name, fn, fnOpts: opts = {} }) => {
    const task = { name, fn, opts, runs: 0, result: unmeasured() };
    return [name, withHooks(task, options)];
  });
  const parts = titles(test);
  if (registrations.length === 1) parts.push(registrations[0].name);
  const benchmark = Benchmark.ofTasks(parts.join(" > "), tasks);
  benchmark.rename(names);
  return benchmark;
}

/** The file of a test, the names of the suites around it, and its own. */
export function titles(test) {
  const found = [];
  for (let task = test; task && task !== test.file; task = task.suite ?? null)
    found.unshift(task.name);
  return [path.relative(process.cwd(), test.file.filepath), ...found];
}
