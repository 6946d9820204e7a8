import assert from "node:assert/strict";
import { test } from "node:test";

import { warmUp } from "../lib/warm_up.js";

/** A function whose calls become faster after so many; its samples take no time at all. */
function simulated(ns, fasterAfter = 0, gain = 1) {
  let calls = 0;
  return async (_, count) => {
    calls += count;
    return count * (calls > fasterAfter ? ns / gain : ns);
  };
}

test("a warm-up of steady calls ends, after it has grown its rounds to milliseconds", async () => {
  const { rounds, calls } = await warmUp([0], simulated(100));
  assert.ok(rounds >= 3);
  assert.ok(calls.get(0) * 100 >= 1e6, `${calls.get(0)} calls`);
});

test("calls of a tenth of a second are called once", async () => {
  const { rounds } = await warmUp([0], simulated(2e8));
  assert.equal(rounds, 1);
});

test("a warm-up outlasts the step by which a compiler makes the calls faster", async () => {
  let slowest = 0;
  const sample = simulated(1_000, 200_000, 5);
  await warmUp([0], async (contender, count) => {
    const took = await sample(contender, count);
    slowest = took / count;
    return took;
  });
  assert.equal(slowest, 200);
});
