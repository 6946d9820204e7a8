import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { adviceOn } from "../lib/advice.js";
import { PACKAGE, Worker, file } from "./helpers.js";

const REGISTER = path.join(PACKAGE, "lib/register.js");

function started(text, name = "suite.mjs") {
  const script = file(text, name);
  return new Worker(["--import", REGISTER, script], { cwd: path.dirname(script) });
}

/** What a script lists, by name. */
async function listed(text, name) {
  const worker = started(text, name);
  await worker.heard();
  const { listed } = await worker.ask("list");
  worker.send("bye");
  const [code] = await worker.ended;
  assert.equal(code, 0, worker.said);
  return listed.benchmarks.map((one) => [one.name, ...one.contenders]);
}

/** Races a benchmark of a script for one block; resolves to the values. */
async function raced(text, benchmark, name, contender = null) {
  const worker = started(text, name);
  await worker.heard();
  assert.ok((await worker.prepare(benchmark, { contender })).prepared, worker.said);
  const { calibrated } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
  assert.ok(calibrated, worker.said);
  const asked = { seed: 2, iterations: calibrated.iterations, turns: [0, 0] };
  const { block } = await worker.ask("block", asked);
  worker.send("bye");
  await worker.ended;
  return block.values;
}

const TINYBENCH = `
import { Bench } from "tinybench";
const words = ["a", "b"];
const bench = new Bench({ name: "words", time: 100 });
let hooks = 0;
bench.add("join", () => words.join(" "), { beforeEach() { hooks += 1; } })
  .add("concat", () => words[0] + " " + words[1]);
await bench.run();
console.table(bench.table());
for (const task of bench.tasks) console.log(task.result.latency.mean, task.result.throughput.mean);
const other = new Bench();
other.add("alone", async () => {});
await other.run();
`;

test("a script of tinybench lists and races its tasks, and runs to its end", async () => {
  assert.deepEqual(await listed(TINYBENCH), [
    ["words", "join", "concat"],
    ["alone", "alone"],
  ]);
  const values = await raced(TINYBENCH, "words");
  assert.ok(values[0] > 0);
  assert.ok((await raced(TINYBENCH, "alone"))[0] > 0);
});

test("hooks surround the first and the last call of their task", async () => {
  const script = file(`
    import fs from "node:fs";
    import { Bench } from "tinybench";
    const say = (text) => fs.appendFileSync("log", text);
    const bench = new Bench({ setup: (task) => say("(" + task.name), teardown: () => say(")") });
    const hooks = { beforeEach: () => say("<"), afterEach: () => say(">") };
    bench.add("a", () => say("a"), { beforeAll: () => say("["), afterAll: () => say("]") });
    bench.add("b", () => say("b"), hooks);
    await bench.run();`);
  const worker = new Worker(["--import", REGISTER, script], { cwd: path.dirname(script) });
  await worker.heard();
  assert.ok((await worker.prepare("bench")).prepared, worker.said);
  assert.ok((await worker.ask("calibrate", { seed: 1, least_ns: 1_000 })).calibrated);
  worker.send("bye");
  await worker.ended;
  const log = fs.readFileSync(path.join(path.dirname(script), "log"), "utf8");
  assert.match(log, /^\(a\[a+\(b<b>(a|<b>)+\]\)\)$/);
});

test("the time of beforeEach does not count", async () => {
  const text = `import { Bench } from "tinybench";
    const bench = new Bench({ name: "b" });
    const wait = () => { const end = performance.now() + 2; while (performance.now() < end); };
    bench.add("f", () => 1, { beforeEach: wait, afterEach: wait });
    await bench.run();`;
  const [wall] = await raced(text, "b");
  assert.ok(wall < 1e6, `${wall}`);
});

const MITATA = `
import { bench, boxplot, do_not_optimize, group, run, summary } from "mitata";
bench("alone", () => do_not_optimize([1]));
summary(() => {
  bench("fill($n)", function* (state) {
    const n = state.get("n");
    yield () => new Array(n).fill(0);
  }).args("n", [10, 100]);
});
group("sorted", () => {
  bench("computed", function* () {
    yield { [0]() { return [3, 1, 2]; }, bench(list) { if (list[0] !== 3) throw new Error("used"); list.sort(); } };
  });
  bench("other", () => [3, 1, 2].sort());
});
boxplot(async () => { bench("in a plot", () => 1); });
await run({ format: "json" });
`;

test("a script of mitata lists and races groups, arguments and computed inputs", async () => {
  assert.deepEqual(await listed(MITATA), [
    ["alone", "alone"],
    ["summary", "fill(10)", "fill(100)"],
    ["sorted", "computed", "other"],
    ["in a plot", "in a plot"],
  ]);
  assert.ok((await raced(MITATA, "summary"))[0] > 0);
  assert.ok((await raced(MITATA, "sorted"))[0] > 0);
});

test("benchmarks of mitata have the state, the order and the results that scripts expect", async () => {
  const text = `import { bench, boxplot, do_not_optimize, group, run, summary } from "mitata";
    group("sized", () => {
      bench("copy $size", function* (state) {
        const list = Array.from({ length: state.get("size") }, (_, i) => i);
        yield () => do_not_optimize(list.slice());
      }).range("size", 1, 64).gc("inner");
      bench("base", function* () {
        yield { [0]: () => [1], [1]: () => 2, bench: (list, n) => list.push(n) };
      }).baseline();
    });
    boxplot(() => summary(() => {
      bench("both $a", function* (state) { yield async () => state.get("a") + state.get("b"); })
        .args({ a: [1, 2], b: [3] }).dense_range("c", 1, 3, 2);
      bench("loops", (state) => { for (const _ of state) do_not_optimize(1); });
    }));
    const { benchmarks } = await run({ filter: /size|base|both|loops/ });
    if (!benchmarks.every(({ runs }) => runs.every(({ stats }) => stats.avg === 0))) throw new Error("no results");`;
  const both = ["1 [b=3, c=1]", "1 [b=3, c=3]", "2 [b=3, c=1]", "2 [b=3, c=3]"];
  assert.deepEqual(await listed(text), [
    ["sized", "base", "copy 1", "copy 8", "copy 64"],
    ["summary", ...both.map((values) => `both ${values}`), "loops"],
  ]);
  assert.ok((await raced(text, "sized"))[0] > 0);
  assert.ok((await raced(text, "summary", "suite.mjs", "both 2 [b=3, c=3]"))[0] > 0);
  const worker = started(text);
  await worker.heard();
  await worker.prepare("summary", { contender: "loops" });
  const { failed } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
  assert.match(failed.problem.refused, /times its calls itself: yield a function/);
});

const BENCHMARK_JS = `
const Benchmark = require("benchmark");
const suite = new Benchmark.Suite("strings");
suite
  .add("test", () => /o/.test("Hello"))
  .add("deferred", { defer: true, fn(deferred) { setImmediate(() => deferred.resolve()); } })
  .on("cycle", (event) => console.log(String(event.target)))
  .on("complete", function () { console.log("Fastest is " + this.filter("fastest").map("name")); })
  .run({ async: true });
`;

test("a CommonJS script of benchmark.js lists and races its suite", async () => {
  assert.deepEqual(await listed(BENCHMARK_JS, "suite.cjs"), [["strings", "test", "deferred"]]);
  assert.ok((await raced(BENCHMARK_JS, "strings", "suite.cjs"))[0] > 0);
});

const BENCH_NODE = `
const { Suite } = require("bench-node");
const suite = new Suite();
suite.add("plain", () => [1].map(String));
suite.add("managed", (timer) => { timer.start(); for (let i = 0; i < timer.count; i++); timer.end(timer.count); });
suite.run();
`;

test("a script of bench-node lists and races its suite", async () => {
  assert.deepEqual(await listed(BENCH_NODE, "suite.cjs"), [["suite", "plain", "managed"]]);
  assert.ok((await raced(BENCH_NODE, "suite", "suite.cjs", "plain"))[0] > 0);
});

test("benchmarks of the same name are told apart", async () => {
  const text = `import { Bench } from "tinybench";
    for (let i = 0; i < 2; i++) { const b = new Bench({ name: "b" }); b.add("f", () => 1); await b.run(); }`;
  assert.deepEqual(await listed(text), [
    ["b", "f"],
    ["b #2", "f"],
  ]);
  assert.ok((await raced(text, "b #2"))[0] >= 0);
});

const REPEATED = {
  tinybench: `import { Bench } from "tinybench";
    const bench = new Bench({ name: "g" });
    await bench.add("a", () => 1).add("a", () => 2).add("b", () => 3).run();`,
  mitata: `import { bench, group, run } from "mitata";
    group("g", () => { bench("a", () => 1); bench("a", () => 2); bench("b", () => 3); });
    await run();`,
  "benchmark.js": `import Benchmark from "benchmark";
    new Benchmark.Suite("g").add("a", () => 1).add("a", () => 2).add("b", () => 3).run();`,
  "bench-node": `import { Suite } from "bench-node";
    const suite = new Suite({ name: "g" });
    await suite.add("a", () => 1).add("a", () => 2).add("b", () => 3).run();`,
};

for (const [library, text] of Object.entries(REPEATED)) {
  test(`tasks of ${library} with the same name all have a row`, async () => {
    assert.deepEqual(await listed(text), [["g", "a", "a #2", "b"]]);
  });
}

const NAMED_FIRST = {
  tinybench: `import { Bench } from "tinybench";
    const twice = (bench) => bench.add("a", () => 1).add("b", () => 2).run();
    await twice(new Bench({ name: "named" }));
    await twice(new Bench());
    await twice(new Bench());`,
  "benchmark.js": `import Benchmark from "benchmark";
    const twice = (suite) => suite.add("a", () => 1).add("b", () => 2).run();
    twice(new Benchmark.Suite("named"));
    twice(new Benchmark.Suite());
    twice(new Benchmark.Suite());`,
  "bench-node": `import { Suite } from "bench-node";
    const twice = (suite) => suite.add("a", () => 1).add("b", () => 2).run();
    await twice(new Suite({ name: "named" }));
    await twice(new Suite());
    await twice(new Suite());`,
};

for (const [library, text] of Object.entries(NAMED_FIRST)) {
  test(`a named suite of ${library} does not change the numbers of suites without a name`, async () => {
    const [first, second, third] = (await listed(text)).map(([name]) => name);
    assert.equal(first, "named");
    assert.match(second, /^(bench|suite)$/);
    assert.equal(third, `${second} #2`);
  });
}

test("a race of two programs notes names that deadheat has numbered, and other races do not", async () => {
  const notes = async (text, benchmark, contender) => {
    const worker = started(text);
    await worker.heard();
    assert.ok((await worker.prepare(benchmark, { contender })).prepared, worker.said);
    const { calibrated } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
    worker.send("bye");
    await worker.ended;
    return calibrated.notes.filter((note) => note.includes("pairs them by their order"));
  };
  assert.match(
    (await notes(NAMED_FIRST.tinybench, "bench #2", "a"))[0],
    /^several benchmarks have the name 'bench'/,
  );
  assert.deepEqual(await notes(NAMED_FIRST.tinybench, "bench #2", null), []);
  assert.deepEqual(await notes(NAMED_FIRST.tinybench, "bench", "a"), []);
  assert.match(
    (await notes(REPEATED.mitata, "g", "b"))[0],
    /^several contenders have the name 'a'/,
  );
});

for (const [what, line, advice] of [
  ["a file that a build may write", 'import "./dist/index.js";', true],
  [
    "a file that is required",
    'import m from "node:module"; m.createRequire(import.meta.url)("./dist/index.js");',
    true,
  ],
  ["a package", 'import "a-package-that-is-missing";', false],
]) {
  test(`a script without ${what} ends with the failed import as its last words`, async () => {
    const worker = started(`import { Bench } from "tinybench"; ${line}`);
    await worker.heard();
    assert.equal(await worker.ask("list"), null);
    assert.deepEqual(await worker.ended, [1, null]);
    assert.match(
      worker.said,
      /^error: Cannot find [^]*(dist\/index\.js|a-package-that-is-missing)/,
    );
    assert.equal(worker.said.includes("--build 'npm ci && npm run build'"), advice, worker.said);
  });
}

test("a script in TypeScript that Node cannot read ends with advice", () => {
  const advice = adviceOn('TypeError: Unknown file extension ".ts" for bench/a.ts');
  assert.match(advice, /^use Node 22\.18 or later/);
});

test("a benchmark that a script never comes to is unknown", async () => {
  const worker = started('import { Bench } from "tinybench"; await new Bench().run();');
  await worker.heard();
  const { failed } = await worker.prepare("gone");
  assert.deepEqual(failed.problem, { unknown: {} });
});

test("groups of mitata within plots are benchmarks of their own", async () => {
  const text = `import { bench, boxplot, group, run, summary } from "mitata";
    boxplot(() => {
      summary(() => { bench("a", () => 1); bench("b", () => 2); });
      bench("c", () => 3);
    });
    summary(() => { group("inner", () => { bench("d", () => 4); }); bench("e", () => 5); });
    await run();`;
  assert.deepEqual(await listed(text), [
    ["c", "c"],
    ["summary", "a", "b"],
    ["summary #2", "d", "e"],
  ]);
});

test("a suite of deadheat races in the same way", async () => {
  const text = `import { suite } from DEADHEAT;
    await suite({ sum: { input: (seed) => [seed], contenders: { a: (x) => x[0], b: (x) => x[0] } } });`;
  assert.deepEqual(await listed(text), [["sum", "a", "b"]]);
  assert.ok((await raced(text, "sum"))[0] >= 0);
});

test("without deadheat, a script has its own library", async () => {
  const { spawnSync } = await import("node:child_process");
  const script = file(`import { Bench } from "tinybench";
    const bench = new Bench({ time: 5, warmupTime: 5 });
    bench.add("f", () => 1);
    await bench.run();
    console.log(bench.tasks[0].result.latency.samplesCount > 0 || bench.tasks[0].result.latency.samples.length > 0);`);
  const done = spawnSync(process.execPath, ["--import", REGISTER, script], { encoding: "utf8" });
  assert.equal(done.stdout.trim(), "true", done.stderr);
});
