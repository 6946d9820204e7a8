// The functions of tasks.mjs with copies of the same source, for `deadheat bench`.
//
// EXTRA=1 gives the candidates one percent more work: they repeat their task 101 times, the
// baselines 100 times.

import { suite } from "../../javascript/lib/index.js";
import { copy, tasks } from "./tasks.mjs";

const EXTRA = Number(process.env.EXTRA ?? 0);

const repeated = (fn, times) =>
  (0, eval)(
    `(fn) => (input) => { let kept; for (let i = 0; i < ${times}; i++) kept = fn(input); return kept; }`,
  )(copy(fn));

const benchmarks = Object.entries(tasks).map(([name, [input, fn]]) => {
  const contenders = EXTRA
    ? { base: repeated(fn, 100), more: repeated(fn, 100 + EXTRA) }
    : { base: copy(fn), copy: copy(fn) };
  return [name, { input, contenders }];
});
// A hundred of these take seconds.
const few = EXTRA
  ? benchmarks.filter(([name]) => !["async", "typed", "closures"].includes(name))
  : benchmarks;
await suite(Object.fromEntries(few));
