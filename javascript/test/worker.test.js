import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { test } from "node:test";

import { PACKAGE, Worker, file, prepared } from "./helpers.js";

const TRACED = `
import fs from "node:fs";
import { suite } from DEADHEAT;
const log = fs.openSync("log", "a");
const say = (text) => { fs.writeSync(log, text); };
await suite({
  traced: {
    input: (seed) => { say("i"); return seed % 1000; },
    contenders: { a: () => say("a"), b: () => say("b") },
    throughput: { bytes: 8 },
  },
  plain: () => 1,
});
`;

test("the worker speaks the whole protocol", async () => {
  const script = file(TRACED);
  const folder = path.dirname(script);
  const calls = () => {
    const text = fs.readFileSync(`${folder}/log`, "utf8");
    fs.writeFileSync(`${folder}/log`, "");
    return text;
  };
  const worker = new Worker([script], { cwd: folder });
  const { hello } = await worker.heard();
  assert.equal(hello.protocol, 2);
  assert.deepEqual(hello.metrics.slice(0, 2), ["wall_ns", "cpu_ns"]);
  const { listed } = await worker.ask("list");
  assert.deepEqual(listed.benchmarks, [
    { name: "traced", contenders: ["a", "b"], throughput: { bytes: 8 } },
    { name: "plain", contenders: ["plain"] },
  ]);
  assert.deepEqual(await worker.prepare("traced"), { prepared: { renews_input: true } });
  const { calibrated } = await worker.ask("calibrate", { seed: 1, least_ns: 100_000 });
  assert.ok(calibrated.iterations >= 1);
  assert.equal(calibrated.call_ns.length, 2);
  assert.ok(calibrated.call_ns.every((ns) => ns > 0));
  const { warm } = await worker.ask("warm_up", { seed: 2, order: [1, 0], iterations: 3 });
  assert.ok(warm.rounds >= 1);
  calls();
  const turns = [1, 0, 0, 1, 1, 0];
  const asked = { seed: 9, iterations: 2, turns, unrecorded: 2, unrecorded_iterations: 1 };
  const { block } = await worker.ask("block", asked);
  assert.equal(calls(), "ibaaabbbbaa");
  assert.equal(block.values.length, 4 * hello.metrics.length);
  assert.ok(block.values.every((value) => Number.isFinite(value) && value >= 0));
  worker.send("bye");
  assert.deepEqual(await worker.ended, [null, "SIGKILL"]);
});

/** A worker of one contender, which takes turns with another process. */
async function withBaton() {
  const script = file(TRACED);
  const worker = new Worker([script], { baton: true, cwd: path.dirname(script) });
  await worker.heard();
  await worker.prepare("traced", { contender: "a" });
  return worker;
}

test("a turn waits for the baton and passes it on", async () => {
  const worker = await withBaton();
  const [, , , , , , incoming, outgoing] = worker.child.stdio;
  const passed = () => new Promise((resolve) => outgoing.once("data", resolve));
  const ready = passed();
  worker.send("block", { seed: 1, iterations: 1, turns: [null, 0, 0, null] });
  assert.equal((await ready).length, 1);
  const over = passed();
  incoming.write("x");
  assert.equal((await over).length, 1);
  incoming.write("x");
  const { block } = await worker.heard();
  assert.equal(block.values.length % 2, 0);
});

test("a worker whose peer is gone says so", async () => {
  const worker = await withBaton();
  worker.child.stdio[6].end();
  const reply = await worker.ask("block", { seed: 1, iterations: 1, turns: [null, 0] });
  assert.deepEqual(reply.failed.problem, { peer_gone: {} });
});

const one = (run) => `import { suite } from DEADHEAT; await suite({ f: { run: ${run} } });`;

for (const [what, run, problem] of [
  ["throws", "() => { throw new TypeError('no'); }", /^TypeError: no/],
  ["throws what is no error", "() => { throw 7; }", /^7 was thrown/],
  ["rejects", "async () => { await null; throw new RangeError('late'); }", /^RangeError: late/],
  ["is not defined", "() => missing()", /^ReferenceError: missing is not defined/],
]) {
  test(`a function that ${what} fails its benchmark with the reason`, async () => {
    const [worker] = await prepared(one(run), "f");
    const { failed } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
    assert.equal(failed.contender, 0);
    assert.equal(failed.verb, "raised");
    assert.match(failed.problem.panicked, problem);
    await worker.ended;
  });
}

test("outputs that are not computed yet are refused", async () => {
  for (const run of ["() => [1][Symbol.iterator]()", "() => (async function* () {})()"]) {
    const [worker] = await prepared(one(run), "f");
    const { failed } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
    assert.match(failed.problem.refused, /returns an iterator/);
  }
});

test("async functions are awaited, and others are not", async () => {
  const wait = "() => new Promise((resolve) => setTimeout(resolve, 5))";
  const [worker] = await prepared(one(wait), "f");
  const { calibrated } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
  assert.ok(calibrated.call_ns[0] > 4e6, `${calibrated.call_ns}`);
});

test("an input that is a promise is refused, and an unknown change of an input is noted", async () => {
  const script = file(`
    import { suite } from DEADHEAT;
    class Heap { #left = 3; take() { this.#left -= 1; return this.#left; } }
    await suite({
      promised: { input: async () => 1, run: () => 1 },
      hidden: { input: () => new Heap(), run: (heap) => heap.take() },
    });`);
  const { failed } = await calibratedBy(script, "promised");
  assert.match(JSON.stringify(failed.problem), /input returns a promise/);
  const { calibrated } = await calibratedBy(script, "hidden");
  assert.match(calibrated.notes[0], /not known whether 'hidden' changes its input, .* of Heap/);
});

/** The reply to `calibrate` about a benchmark of a script. */
async function calibratedBy(script, name) {
  const worker = new Worker([script], { cwd: path.dirname(script) });
  await worker.heard();
  assert.ok((await worker.prepare(name)).prepared, worker.said);
  const reply = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
  if (reply.calibrated) worker.send("bye");
  await worker.ended;
  return reply;
}

test("a promise of a comparison of outputs is awaited", async () => {
  const script = file(`
    import { suite } from DEADHEAT;
    await suite({ f: { contenders: { a: () => 1, b: () => 2 }, checkOutputs: async (a, b) => a === b } });`);
  const { failed } = await calibratedBy(script, "f");
  assert.match(failed.problem.output_differs.detail, /2, not 1/);
});

test("a script does not see deadheat's question to Google Benchmark", async () => {
  const script = file(`
    import { suite } from DEADHEAT;
    await suite({ ["words " + process.argv.slice(2)]: () => 1 });`);
  const worker = new Worker([script, "own", "--benchmark_list_tests=true"]);
  await worker.heard();
  const { listed } = await worker.ask("list");
  assert.equal(listed.benchmarks[0].name, "words own");
  worker.send("bye");
  await worker.ended;
});

test("a function that changes its input gets one for every call, with a note", async () => {
  const text = `import { suite } from DEADHEAT;
    await suite({ f: { input: () => [3, 1, 2], run: (list) => list.sort() } });`;
  const [worker] = await prepared(text, "f");
  const { calibrated } = await worker.ask("calibrate", { seed: 1, least_ns: 1_000 });
  assert.equal(calibrated.input_per_call, true);
  assert.match(calibrated.notes[0], /'f' changes its input/);
});

test("outputs that differ are found, with the seed of the input", async () => {
  const text = `import { suite } from DEADHEAT;
    await suite({ f: { contenders: { a: () => [1, NaN], b: () => [1, 2] }, checkOutputs: true } });`;
  const [worker] = await prepared(text, "f");
  const { failed } = await worker.ask("calibrate", { seed: 5, least_ns: 1_000 });
  assert.equal(failed.contender, 1);
  assert.match(failed.problem.output_differs.detail, /\[1,2\], not \[1,null\] \(input of seed 5\)/);
});

test("the note before a call names the contender that ends the process", async () => {
  const text = `import { suite } from DEADHEAT;
    await suite({ f: { contenders: { a: () => 1, b: () => process.exit(3) } } });`;
  const [worker] = await prepared(text, "f");
  assert.equal(await worker.ask("calibrate", { seed: 1, least_ns: 1_000 }), null);
  assert.deepEqual(await worker.ended, [3, null]);
  assert.equal(worker.notes.at(-1), 2);
});

test("samples have the bytes of V8's heap, the time of collections and their number", async () => {
  const text = `import { suite } from DEADHEAT;
    import v8 from "node:v8";
    import vm from "node:vm";
    v8.setFlagsFromString("--expose-gc");
    const collect = vm.runInNewContext("gc");
    const contenders = { fill: () => new Array(1_000).fill(0), nothing: () => {}, collect: () => collect() };
    await suite({ f: { contenders } });`;
  const worker = new Worker([file(text)]);
  const { metrics } = (await worker.heard()).hello;
  await worker.prepare("f");
  assert.ok((await worker.ask("calibrate", { seed: 1, least_ns: 1_000 })).calibrated);
  const sample = async (contender, iterations) => {
    const turns = [contender, contender];
    const { block } = await worker.ask("block", { seed: 2, iterations, turns, unrecorded: 1 });
    return Object.fromEntries(metrics.map((name, at) => [name, block.values[at]]));
  };
  // More than V8 keeps for young objects, so that one sample has collections and the other has none.
  for (const calls of [10, 20_000]) {
    const fill = await sample(0, calls);
    assert.ok(Math.abs(fill.heap_bytes / calls - 8_016) < 200, `${fill.heap_bytes / calls}`);
    assert.equal(fill.gc_time_ns > 0, calls > 10);
  }
  const nothing = await sample(1, 1_000);
  assert.ok(nothing.heap_bytes < 10_000, `${nothing.heap_bytes}`);
  assert.deepEqual([nothing.gc_time_ns, nothing.major_collections], [0, 0]);
  const collect = await sample(2, 3);
  assert.equal(collect.major_collections, 3);
  assert.ok(collect.gc_time_ns > 0.5 * collect.wall_ns);
});

test("another runtime is refused by name", async () => {
  const runtime = "data:text/javascript,globalThis.Deno={version:{deno:'2.1.0'}}";
  const worker = new Worker(["--import", runtime, file(one("() => 1"))]);
  assert.equal(await worker.heard(), null);
  assert.deepEqual(await worker.ended, [2, null]);
  assert.match(
    worker.said,
    /^error: deadheat calls functions in Node\.js only, not in Deno 2\.1\.0: .*\n$/,
  );
});

test("a Node that is too old is refused before anything that it lacks is used", async () => {
  const older = `data:text/javascript,
    delete String.prototype.toWellFormed;
    delete Array.prototype.toReversed;
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.10.0" } });`;
  const message = "deadheat needs Node 20.11 or later, and this is Node 20.10.0: update Node";
  const register = path.join(PACKAGE, "lib/register.js");
  for (const words of [["--import", register, file("")], [file(one("() => 1"))]]) {
    const worker = new Worker(["--import", older, ...words]);
    assert.equal(await worker.heard(), null);
    assert.deepEqual(await worker.ended, [2, null]);
    assert.equal(worker.said, `error: ${message}\n`);
  }
  const race = file(
    "import { race } from DEADHEAT; race({ old: () => 1, new: () => 2 }).catch(console.log);",
  );
  const printed = execFileSync(process.execPath, ["--import", older, race], { encoding: "utf8" });
  assert.ok(printed.includes(message), printed);
});

test("what makes no sense is failed by name", async () => {
  const [, unknown] = await prepared(one("() => 1"), "g");
  assert.deepEqual(unknown.failed.problem, { unknown: {} });
  const [worker] = await prepared(one("() => 1"), "f");
  const { failed } = await worker.prepare("f");
  assert.deepEqual(failed.problem, { out_of_turn: {} });
});

test("the worker ends with deadheat", async () => {
  const [worker] = await prepared(one("() => 1"), "f");
  worker.child.stdio[3].end();
  await worker.ended;
});

test("processes of a function do not outlive the worker", async () => {
  const text = `import { suite } from DEADHEAT;
    import { spawn } from "node:child_process";
    let child;
    await suite({ f: () => { child ??= spawn("sleep", ["1000"]); console.log(child.pid); } });`;
  const [worker] = await prepared(text, "f");
  const printed = new Promise((resolve) => worker.child.stdout.once("data", resolve));
  worker.send("calibrate", { seed: 1, least_ns: 1_000 });
  const started = Number.parseInt(String(await printed));
  assert.ok(await worker.heard());
  worker.send("bye");
  await worker.ended;
  const isGone = () => {
    try {
      return fs.readFileSync(`/proc/${started}/stat`, "utf8").includes(") Z");
    } catch {
      return true;
    }
  };
  while (!isGone()) await new Promise((resolve) => setTimeout(resolve, 10));
});
