// What scripts and reporters read of a task of tinybench that this process did not measure.
"use strict";

const NAMES =
  "min max mean p50 p75 p99 p995 p999 sd sem variance df critical moe rme mad aad".split(" ");
const statistics = () => ({
  ...Object.fromEntries(NAMES.map((name) => [name, 0])),
  samples: [],
  samplesCount: 0,
});

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
