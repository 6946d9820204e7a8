// Tasks of tinybench: their hooks, and what scripts and reporters read of a task that this process did
// not measure.
"use strict";

const NAMES =
  "min max mean p50 p75 p99 p995 p999 sd sem variance df critical moe rme mad aad".split(" ");
const statistics = () => ({
  ...Object.fromEntries(NAMES.map((name) => [name, 0])),
  samples: [],
  samplesCount: 0,
});

/** A task with its hooks and those of its bench, as `Benchmark.ofTasks` takes it. */
exports.withHooks = (task, { setup, teardown } = {}) => {
  const { beforeAll, beforeEach, afterEach, afterAll } = task.opts;
  const described = { fn: task.fn };
  described.beforeAll = async () => {
    await setup?.(task, "run");
    await beforeAll?.call(task, "run");
  };
  described.afterAll = async () => {
    await afterAll?.call(task, "run");
    await teardown?.(task, "run");
  };
  if (beforeEach) described.beforeEach = () => beforeEach.call(task, "run");
  if (afterEach) described.afterEach = () => afterEach.call(task, "run");
  return described;
};

/** Zeros, by the names of tinybench 2 to 6. */
exports.unmeasured = () => ({
  ...statistics(),
  state: "completed",
  latency: statistics(),
  throughput: statistics(),
  hz: 0,
  period: 0,
  totalTime: 0,
  runs: 0,
  runtime: "node",
  runtimeVersion: process.version,
});
