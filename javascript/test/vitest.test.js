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
      bench("concat", { beforeEach() {} }, () => words.map((word) => word + word)),
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

const STORED = `
import { test } from "vitest";
test("stored", async ({ bench }) => {
  await bench.compare(
    bench("new", { writeResult: "./kept.json" }, () => 1),
    bench.from("old", "./gone.json"),
  );
});
`;

test("stored results stay as they are, and need not be there", { skip }, async () => {
  const where = folder();
  file(STORED, "stored.bench.ts", where);
  file("kept", "kept.json", where);
  const worker = new Worker([WORKER], { cwd: where });
  await worker.heard();
  const { listed } = await worker.ask("list");
  assert.deepEqual(
    listed.benchmarks.map((one) => one.name),
    ["stored.bench.ts > stored > new"],
    worker.said,
  );
  assert.equal(fs.readFileSync(path.join(where, "kept.json"), "utf8"), "kept");
});

const PROJECTS = `
import { defineConfig } from "vitest/config";
export default defineConfig({
  test: { projects: [{ test: { name: "one" } }] },
});
`;

test("the benchmarks of the projects of a configuration are listed", { skip }, async () => {
  const where = project();
  file(PROJECTS, "vitest.config.ts", where);
  const worker = new Worker([WORKER, "a.bench"], { cwd: where });
  await worker.heard();
  const { listed } = await worker.ask("list");
  assert.deepEqual(
    listed.benchmarks.map((one) => one.name),
    ["bench/a.bench.ts > count > alone > map", "bench/a.bench.ts > count > both"],
    worker.said,
  );
});

const BROKEN = {
  "syntax.bench.ts": "const x: number = ;",
  "import.bench.ts": 'import "./gone.js";',
  "throw.bench.ts": 'throw new TypeError("at collection");',
  "hook.bench.ts": `import { beforeAll, describe, test } from "vitest";
    describe("prepared", () => {
      beforeAll(() => { throw new Error("no database"); });
      test("query", async ({ bench }) => { await bench("q", () => 1).run(); });
    });`,
  "test.bench.ts": `import { test } from "vitest";
    test("early", async ({ bench }) => { missing(); await bench("e", () => 1).run(); });`,
};

test("what fails before its benchmarks is listed with the reason", { skip }, async () => {
  const where = folder();
  file(SUITE, "sound.bench.ts", where);
  for (const [name, text] of Object.entries(BROKEN)) file(text, name, where);
  const worker = new Worker([WORKER], { cwd: where });
  await worker.heard();
  const { listed } = await worker.ask("list");
  const names = listed.benchmarks.map((one) => one.name);
  for (const [at, pattern] of [
    /^hook\.bench\.ts > prepared \(fails: no database\)$/,
    /^import\.bench\.ts \(fails: Cannot find module '\.\/gone\.js'\)$/,
    /^sound\.bench\.ts > count > alone > map$/,
    /^sound\.bench\.ts > count > both$/,
    /^syntax\.bench\.ts \(fails: /,
    /^test\.bench\.ts > early \(fails: ReferenceError: missing is not defined\)$/,
    /^throw\.bench\.ts \(fails: TypeError: at collection\)$/,
  ].entries()) {
    assert.match(names[at] ?? "", pattern);
    assert.ok(!names[at].includes(where), names[at]);
  }
  assert.equal(names.length, 7, `${names}`);
  const { failed } = await worker.prepare(names.at(-1));
  assert.equal(failed.problem.panicked, "TypeError: at collection");
});

test("skip, todo and only are heeded, also where CI forbids only", { skip }, async () => {
  const marked = `import { describe, test } from "vitest";
    const one = (name) => [name, async ({ bench }) => { await bench(name, () => 1).run(); }];
    test.skip(...one("skipped"));
    test.todo("later");
    describe.skip("all", () => { test(...one("inner")); });
    test(...one("plain"));`;
  const where = folder();
  file(marked, "a.bench.ts", where);
  file(`${marked} test.only(...one("only"));`, "b.bench.ts", where);
  process.env.CI = "true";
  const worker = new Worker([WORKER], { cwd: where });
  delete process.env.CI;
  await worker.heard();
  const { listed } = await worker.ask("list");
  const names = listed.benchmarks.map((one) => one.name);
  assert.deepEqual(names, ["a.bench.ts > plain > plain", "b.bench.ts > only > only"]);
});

/** The names that a worker with these arguments lists in a project. */
async function listedBy(words, where) {
  const worker = new Worker([WORKER, ...words], { cwd: where });
  await worker.heard();
  const { listed } = (await worker.ask("list")) ?? assert.fail(worker.said);
  worker.send("bye");
  await worker.ended;
  return listed.benchmarks.map((one) => one.name);
}

const A = ["bench/a.bench.ts > count > alone > map", "bench/a.bench.ts > count > both"];
const B = A.map((name) => name.replace("a.bench", "b.bench"));
const FILTERED = [
  { words: ["--config", "bench.config.mjs"], names: B },
  { words: ["-c", "bench.config.mjs", "a.bench"], names: [] },
  { words: ["-t", "alone"], names: [A[0], B[0]] },
  { words: ["--testNamePattern=both", "a.bench"], names: [A[1]] },
  { words: ["--root", "bench", "b.bench"], names: B },
  { words: ["--dir=bench"], names: [...A, ...B] },
  { words: ["--exclude", "**/a.*"], names: B },
  // Vitest calls this project "two (bench)".
  { words: ["--project", "two*", "--config", "projects.config.mjs"], names: B },
  { words: ["--run", "--no-watch", "--no-color", "bench/a"], names: A },
  // `bench` is also the name of a command of Vitest.
  { words: ["bench"], names: [...A, ...B] },
];

test("options of Vitest select benchmarks as in vitest bench", { skip }, async () => {
  const where = project();
  const only = 'export default { test: { benchmark: { include: ["bench/b.*"] } } };';
  file(only, "bench.config.mjs", where);
  const of = (name, letter) =>
    `{ test: { name: "${name}", benchmark: { include: ["bench/${letter}.*"] } } }`;
  const projects = `export default { test: { projects: [${of("one", "a")}, ${of("two", "b")}] } };`;
  file(projects, "projects.config.mjs", where);
  for (const { words, names } of FILTERED)
    assert.deepEqual(await listedBy(words, where), names, words.join(" "));
});

test("options of Vitest change the environment of the benchmarks", { skip }, async () => {
  const where = folder();
  const text = `describe("d", () => {
    test(process.env.VARIED, async ({ bench }) => { await bench("f", () => 1).run(); });
  });`;
  file(text, "a.bench.js", where);
  file("VARIED=yes", ".env.varied", where);
  const config = `import { loadEnv } from "vite";
    export default ({ mode }) => ({ test: { env: loadEnv(mode, ".", "") } });`;
  file(config, "vitest.config.mjs", where);
  const names = await listedBy(["--globals", "--mode", "varied"], where);
  assert.deepEqual(names, ["a.bench.js > d > yes > f"]);
});

test("a file whose environment is not installed is listed with the reason", { skip }, async () => {
  const where = project();
  file('// @vitest-environment jsdom\nimport "vitest";', "bench/c.bench.ts", where);
  const names = await listedBy([], where);
  assert.deepEqual(names.slice(0, 4), [...A, ...B]);
  assert.match(names[4], /^bench\/c\.bench\.ts \(fails: Cannot find package 'jsdom'/);
  const [first] = await listedBy(["--environment", "jsdom"], where);
  assert.match(first, /^bench\/a\.bench\.ts \(fails: Cannot find package 'jsdom'/);
});

for (const [words, message] of [
  [["--retry", "3"], /does not use the option --retry of Vitest: .*\nhelp: remove it/],
  [["--confg=a.ts"], /does not use the option --confg of Vitest/],
  [["a.bench", "--coverage.enabled"], /does not use the option --coverage of Vitest/],
  [["-x", "a.bench"], /does not use the option -x of Vitest/],
  [["-u"], /does not use the option -u of Vitest/],
  [["a.bench", "--", "b.bench"], /does not use the option -- of Vitest/],
  [["-c", "a.ts", "-c", "b.ts"], /not those of vitest bench: Expected a single value/],
]) {
  test(`${words.join(" ")} is refused by name`, { skip }, async () => {
    const worker = new Worker([WORKER, ...words], { cwd: project() });
    assert.equal(await worker.heard(), null);
    assert.deepEqual(await worker.ended, [2, null]);
    assert.match(worker.said, message);
    // deadheat shows the last 200 characters.
    assert.ok(worker.said.trim().length <= 200, worker.said);
  });
}

test("a configuration that is missing is told instead of a list", { skip }, async () => {
  const worker = new Worker([WORKER, "--config", "gone.ts"], { cwd: project() });
  await worker.heard();
  assert.equal(await worker.ask("list"), null);
  assert.deepEqual(await worker.ended, [1, null]);
  assert.match(worker.said, /error: .*gone\.ts/);
});

test("benchmarks of a comparison with the same name all have a row", { skip }, async () => {
  const where = folder();
  const text = `import { test } from "vitest";
    test("t", async ({ bench }) => { await bench.compare(bench("f", () => 1), bench("f", () => 2)); });`;
  file(text, "a.bench.ts", where);
  const worker = new Worker([WORKER], { cwd: where });
  await worker.heard();
  const { listed } = await worker.ask("list");
  assert.deepEqual(listed.benchmarks, [{ name: "a.bench.ts > t", contenders: ["f", "f #2"] }]);
});

test(
  "a file that imports what a build writes fails with the way to build it",
  { skip },
  async () => {
    const where = folder();
    file('import "../dist/index.js";', "bench/a.bench.ts", where);
    const worker = new Worker([WORKER], { cwd: where });
    await worker.heard();
    const { listed } = await worker.ask("list");
    const { failed } = await worker.prepare(listed.benchmarks[0].name);
    assert.match(failed.problem.panicked, /--build 'npm ci && npm run build'/);
  },
);

test("Vitest 5 with a Node that is too old for it is refused by name", async () => {
  const where = folder();
  fs.unlinkSync(path.join(where, "node_modules"));
  file('{ "name": "vitest", "version": "5.0.0" }', "node_modules/vitest/package.json", where);
  const older = `data:text/javascript,
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.11.0" } });`;
  const worker = new Worker(["--import", older, WORKER], { cwd: where });
  assert.equal(await worker.heard(), null);
  assert.deepEqual(await worker.ended, [2, null]);
  assert.equal(
    worker.said,
    "error: Vitest 5 needs Node 22.12 or later, and this is Node 22.11.0: update Node\n",
  );
});

test("hooks of a benchmark and of a comparison run", { skip }, async () => {
  const where = folder();
  const text = `import fs from "node:fs";
    import { test } from "vitest";
    const say = (text) => () => fs.appendFileSync("log", text);
    test("t", async ({ bench }) => {
      const hooks = { beforeAll: say("["), beforeEach: say("<"), afterEach: say(">"), afterAll: say("]") };
      const setup = (task) => say(task.name)();
      await bench.compare(bench("f", hooks, say("f")), bench("g", say("g")), { setup, teardown: say(")") });
    });`;
  file(text, "a.bench.ts", where);
  const worker = new Worker([WORKER], { cwd: where });
  await worker.heard();
  assert.ok((await worker.prepare("a.bench.ts > t")).prepared, worker.said);
  assert.ok((await worker.ask("calibrate", { seed: 1, least_ns: 1_000 })).calibrated);
  await worker.ask("bye");
  const log = fs.readFileSync(path.join(where, "log"), "utf8");
  assert.match(log, /^f\[<f>g(g|<f>)+\]\)\)$/);
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
