import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { test } from "node:test";

import { PACKAGE, Worker, file, folder } from "./helpers.js";

const WORKER = path.join(PACKAGE, "lib/vitest_worker.js");
const [major, minor] = process.versions.node.split(".").map(Number);
// Vitest 5 needs it.
const skip = major < 22 || (major === 22 && minor < 12) ? "Vitest 5 needs Node 22.12" : false;

const SUITE = `
import { describe, expect, test } from "vitest";
const words: string[] = Array.from({ length: 100 }, (_, i) => "w" + (i % 10));
describe("count", () => {
  test("alone", async ({ bench }) => {
    const result = await bench("map", () => new Map(words.map((word) => [word, 1]))).run();
    expect(result.latency.mean).toBeGreaterThan(1e9);
  });
  test("both", async ({ bench }) => {
    await bench.compare(
      bench("join", () => words.join()),
      bench("concat", { beforeEach() {} }, () => words[0] + words[1]),
    );
  });
  test.skip("skipped", async ({ bench }) => { await bench("no", () => 1).run(); });
});
`;

function project() {
  const where = folder();
  file(SUITE, "bench/a.bench.ts", where);
  file(SUITE, "bench/b.bench.ts", where);
  return where;
}

test("a project of Vitest lists its benchmarks by file, suite and test", { skip }, async () => {
  const worker = new Worker([WORKER], { cwd: project() });
  const { hello } = await worker.heard();
  assert.equal(hello.forks, true);
  const { listed } = await worker.ask("list");
  assert.deepEqual(
    listed?.benchmarks.map((one) => [one.name, ...one.contenders]),
    [
      ["bench/a.bench.ts > count > alone > map", "map"],
      ["bench/a.bench.ts > count > both", "join", "concat"],
      ["bench/b.bench.ts > count > alone > map", "map"],
      ["bench/b.bench.ts > count > both", "join", "concat"],
    ],
    worker.said,
  );
});

test("one start serves all benchmarks of a replicate, in any order", { skip }, async () => {
  const worker = new Worker([WORKER, "a.bench"], { cwd: project() });
  await worker.heard();
  const names = ["count > both", "count > alone > map"].map((name) => `bench/a.bench.ts > ${name}`);
  assert.deepEqual(await worker.ask("import", { benchmarks: names }), { imported: {} });
  for (const name of names) {
    assert.ok((await worker.prepare(name)).prepared, worker.said);
    const { calibrated } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
    assert.ok(calibrated.call_ns.every((ns) => ns > 0));
    const { block } = await worker.ask("block", { seed: 2, iterations: 5, turns: [0, 0] });
    assert.ok(block.values[0] > 0);
    assert.deepEqual(await worker.ask("bye"), { over: {} });
  }
  const { failed } = await worker.prepare("bench/a.bench.ts > gone");
  assert.deepEqual(failed.problem, { unknown: {} });
  await worker.ended;
});

test("an older Vitest is refused with the way out", async () => {
  const where = folder();
  fs.unlinkSync(path.join(where, "node_modules"));
  file('{ "name": "vitest", "version": "4.0.1" }', "node_modules/vitest/package.json", where);
  const worker = new Worker([WORKER], { cwd: where });
  assert.equal(await worker.heard(), null);
  assert.deepEqual(await worker.ended, [2, null]);
  assert.match(worker.said, /vitest 4\.0\.1 cannot hand its benchmarks/);
});

test("the provider without deadheat says how to race", { skip }, () => {
  const where = project();
  const provider = JSON.stringify(path.join(PACKAGE, "lib/vitest.js"));
  file(
    `export default { test: { benchmark: { provider: ${provider} } } };`,
    "vitest.config.mjs",
    where,
  );
  const vitest = path.join(where, "node_modules/vitest/vitest.mjs");
  const run = () =>
    execFileSync(process.execPath, [vitest, "bench", "--run"], { cwd: where, stdio: "pipe" });
  assert.throws(run, (error) =>
    /does not measure in `vitest bench`/.test(`${error.stdout}${error.stderr}`),
  );
});
