import assert from "node:assert/strict";
import { test } from "node:test";

import { Benchmark } from "../lib/benchmark.js";
import { suite } from "../lib/index.js";
import { UniqueNames } from "../lib/names.js";

test("a suite that nobody races says how it is raced", async () => {
  await assert.rejects(suite({ f: () => 1 }), /npx deadheat bench 'node /);
});

test("descriptions that make no sense are refused with what is wrong", () => {
  const refused = (described, message) =>
    assert.throws(() => new Benchmark("f", described), message);
  refused(7, /'f' must be a function or an object/);
  refused({}, /'f' needs either 'run' or 'contenders'/);
  refused({ run: () => 1, contenders: {} }, /'f' needs either 'run' or 'contenders'/);
  refused({ run: () => 1, inputs: 2 }, /'f' has no option 'inputs'/);
  refused({ contenders: { a: 1 } }, /'a' of 'f' is not a function/);
  refused(
    {
      contenders: [
        ["a", () => 1],
        ["a", () => 2],
      ],
    },
    /'f' has two contenders named 'a'/,
  );
  refused({ contenders: { b: () => 1, 100: () => 2 } }, /puts the contender '100' first/);
  refused({ run: function* () {} }, /generator function/);
  refused({ run: () => 1, input: [1] }, /must be a function of a seed/);
  refused({ run: () => 1, inputPerCall: true }, /no input/);
});

test("pairs keep their order, whatever their names are", () => {
  const pairs = [
    ["2000", () => 1],
    ["100", () => 2],
  ];
  assert.deepEqual(new Benchmark("f", { contenders: pairs }).listed().contenders, ["2000", "100"]);
});

test("a number that another name already has is skipped", () => {
  const names = new UniqueNames();
  const given = ["a", "a #2", "a", "a"].map((name) => names.add(name));
  assert.deepEqual(given, ["a", "a #2", "a #3", "a #4"]);
});
