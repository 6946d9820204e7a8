import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { RaceFailed, UsageError, race } from "../lib/index.js";
import { findProgram } from "../lib/program.js";
import { ownOptions } from "../lib/race.js";
import { options } from "../lib/settings.js";
import { packed, unpacked } from "../lib/travel.js";
import { PACKAGE, file, folder } from "./helpers.js";

test("options of Node go to the workers with their values, but none about this process alone", () => {
  const given = [
    "--disable-warning",
    "DEP1",
    "-r",
    "./a.cjs",
    "--no-opt",
    "--cpu-prof",
    "--test-name-pattern",
    "x",
  ];
  assert.deepEqual(ownOptions(given), ["--disable-warning", "DEP1", "-r", "./a.cjs", "--no-opt"]);
});

const QUICK = { budget: 20, seed: 1 };
const leftovers = () => fs.readdirSync(os.tmpdir()).filter((name) => /^deadheat-\w{6}$/.test(name));

test("twice the work is slower, and the answer has all of its parts", async () => {
  const before = leftovers();
  const work = (list, rounds) => {
    let sum = 0;
    for (let round = 0; round < rounds; round++) for (const one of list) sum += one * round;
    return sum;
  };
  const context = {
    module:
      file(`export ${work.toString().replace("(list", "function work(list").replace("=> {", "{")}
    export const once = (list) => work(list, 20);
    export const twice = (list) => work(list, 40);
    export const make = (seed) => Array.from({ length: 200 }, (_, i) => (i * seed) % 1000);`),
  };
  const { module } = context;
  const named = (name) => `${module}#${name}`;
  const result = await race({
    old: named("once"),
    new: named("twice"),
    input: named("make"),
    ...QUICK,
  });
  // Only the direction: on a busy machine the interval may be wide.
  assert.ok(result.change > 0, `${result.change}`);
  assert.ok(result.interval[0] < result.change);
  assert.deepEqual([result.baseline.name, result.candidate.name], ["once", "twice"]);
  assert.match(String(result), /'twice'/);
  assert.ok(result.samples.length > 20);
  assert.ok(result.samples.every((one) => one.wall_ns > 0 && one.iterations >= 1));
  const where = folder();
  result.save(path.join(where, "run.jsonl"));
  result.page(path.join(where, "page.html"));
  assert.match(fs.readFileSync(path.join(where, "page.html"), "utf8"), /^<!doctype html>/i);
  assert.ok(fs.statSync(path.join(where, "run.jsonl")).size > 1_000);
  assert.deepEqual(leftovers(), before);
});

test("functions travel as source, with what they are", async () => {
  const sent = {
    method(list) {
      return list.length;
    },
  };
  for (const [fn, given, wanted] of [
    [(x) => x + 1, 1, 2],
    [
      function named(x) {
        return x * 2;
      },
      2,
      4,
    ],
    [sent.method, [1, 2], 2],
  ]) {
    assert.equal((await unpacked(packed(fn, "old"), "file:///"))(given), wanted);
  }
  const awaited = await unpacked(
    packed(async (x) => x, "old"),
    "file:///",
  );
  assert.equal(await awaited(3), 3);
});

test("functions that cannot travel are refused with the way out", () => {
  const refused = (fn, message) => assert.throws(() => packed(fn, "old"), message);
  refused(Math.sin, /built-in function, which has no source: wrap it/);
  refused((() => 1).bind(null), /bound or built-in/);
  refused(class A {}, /is a class: wrap it, as x => new A\(x\)/);
  refused(function* () {}, /generator function/);
  refused("parse", /must name a module and its export/);
  refused(7, /must be a function or/);
});

test("settings become options, and others are refused with what was meant", () => {
  const words = options({
    margin: "2%",
    maxReplicates: 8,
    budget: 1.5,
    control: true,
    html: "a.html",
  });
  assert.deepEqual(words, [
    "--margin=2%",
    "--max-replicates=8",
    "--budget=1.5s",
    "--control",
    "--html=a.html",
  ]);
  const refused = (given, message) => assert.throws(() => options(given), message);
  refused({ margn: 1 }, /no setting 'margn'; did you mean 'margin'\?/);
  refused({ max_replicates: 1 }, /did you mean 'maxReplicates'\?/);
  refused({ failOn: "slower" }, /no setting 'failOn'$/);
  refused({ budget: -1 }, /budget must be a number of seconds above 0/);
  refused({ control: 1 }, /control must be true or false/);
});

test("the program's own refusal is told in the words of JavaScript", async () => {
  const refused = race({ old: () => 1, new: () => 2, margin: "much" });
  await assert.rejects(
    refused,
    (error) => error instanceof UsageError && !/--/.test(error.message),
  );
});

test("a worker cannot race, so that a module may not race its own functions", async () => {
  const module = file(`import { race } from DEADHEAT;
    export const f = () => 1;
    export const g = () => 2;
    await race({ old: new URL("#f", import.meta.url), new: new URL("#g", import.meta.url) });`);
  const failing = promisify(execFile)(process.execPath, [module], { timeout: 60_000 });
  await assert.rejects(failing, /a worker of deadheat cannot race/);
});

test("names such as numbers do not swap the sides", async () => {
  const names = ["2000", "100"];
  const result = await race({ old: () => 1, new: () => 2, names, maxReplicates: 2, ...QUICK });
  assert.deepEqual([result.baseline.name, result.candidate.name], names);
});

test("processes of both sides have the same seeds, and each replicate has others", async () => {
  const log = path.join(folder(), "log");
  const text = `import fs from "node:fs";
    import { suite } from DEADHEAT;
    fs.appendFileSync(${JSON.stringify(log)}, process.execArgv.join(" ") + "\\n");
    await suite({ f: () => 1 });`;
  const seen = async (node) => {
    fs.writeFileSync(log, "");
    const command = `${node} ${file(text)}`;
    const words = ["bench", command, `${node} ${file(text)}`, "--no-config", "-q"];
    await promisify(execFile)(findProgram(), [...words, "--max-replicates", "3"], {
      cwd: folder(),
    });
    return fs.readFileSync(log, "utf8").trim().split("\n").filter(Boolean);
  };
  const raced = await seen(process.execPath);
  const pattern = /^--hash-seed=(\d{10}) --random-seed=\1 --single-threaded$/;
  const seeds = raced.map((line) => pattern.exec(line)?.[1]);
  assert.ok(seeds.every(Boolean), raced.join("\n"));
  const last = seeds.slice(-6);
  assert.equal(new Set(last).size, 3, `${last}`);
  for (const seed of last) assert.equal(last.filter((one) => one === seed).length, 2, `${last}`);
  const own = await seen(`${process.execPath} --hash-seed=7 --no-single-threaded`);
  assert.match(own.at(-1), /^--random-seed=\d{10} --hash-seed=7 --no-single-threaded$/);
});

test("a function that uses its module is failed with the way out", async () => {
  const helper = (x) => x;
  const failing = race({ old: (x) => helper(x), new: (x) => x, ...QUICK });
  await assert.rejects(failing, (error) => {
    assert.ok(error instanceof RaceFailed);
    return /without 'helper' of its module/.test(error.message);
  });
});

test("a module without the export fails by name", async () => {
  const module = file("export const f = () => 1;");
  const failing = race({ old: `${module}#f`, new: `${module}#g`, ...QUICK });
  await assert.rejects(failing, /exports no function 'g'/);
});

test("a package is found as by import in the calling file", async () => {
  const where = folder();
  fs.unlinkSync(path.join(where, "node_modules"));
  const exports = { "./it": { import: "./import.js", require: "./require.cjs" } };
  const inPackage = (text, name) => file(text, `node_modules/pkg/${name}`, where);
  inPackage(JSON.stringify({ name: "pkg", type: "module", exports }), "package.json");
  inPackage('export const f = () => "import";', "import.js");
  inPackage('exports.f = () => "require";', "require.cjs");
  const url = pathToFileURL(path.join(where, "race.mjs")).href;
  assert.equal((await unpacked(packed("pkg/it#f", "old"), url))(), "import");
  const script = file(
    `import { race } from DEADHEAT;
    await race({ old: "pkg/it#f", new: "pkg/it#f", maxReplicates: 2 });
    await race({ old: "pkg/none#f", new: "pkg/it#f", maxReplicates: 2 });`,
    "race.mjs",
    where,
  );
  const racing = promisify(execFile)(process.execPath, [script], { cwd: os.tmpdir() });
  await assert.rejects(racing, ({ stderr }) => {
    assert.match(stderr, /subpath '\.\/none' is not defined by "exports" in .*node_modules\/pkg/);
    return true;
  });
});

test("a script that is interrupted leaves nothing", async () => {
  const before = leftovers();
  const script = file(`import { race } from DEADHEAT;
    const slow = () => { const end = performance.now() + 20; while (performance.now() < end); };
    const race_ = race({ old: slow, new: () => { const end = performance.now() + 20; while (performance.now() < end); } });
    console.log("racing");
    await race_;`);
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  child.kill("SIGINT");
  await new Promise((resolve) => child.on("close", resolve));
  const deadline = Date.now() + 20_000;
  while (leftovers().length > before.length && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(leftovers(), before);
});

test("two versions of Node race", async () => {
  // javascript/try names another version; otherwise a copy of this one's path has to do.
  const other = path.join(folder(), "other/bin/node");
  fs.mkdirSync(path.dirname(other), { recursive: true });
  fs.symlinkSync(process.env.OTHER_NODE ?? process.execPath, other);
  const script = file(
    `import { suite } from DEADHEAT;
    const loop = () => { let sum = 0; for (let i = 0; i < 20_000; i++) sum += i % 7; return sum; };
    await suite({ loop });`,
  );
  const words = ["bench", `${process.execPath} ${script}`, `${other} ${script}`];
  const limits = ["--max-replicates", "2", "--blocks", "1", "--json", "--quiet", "--no-config"];
  const racing = promisify(execFile)(findProgram(), [...words, ...limits], { cwd: folder() });
  const { benchmarks } = JSON.parse((await racing).stdout);
  assert.equal(benchmarks[0].benchmark, "loop");
  assert.equal(benchmarks[0].replicates, 2);
});

test("npx deadheat is the program, with its exit code", async () => {
  const bin = path.join(PACKAGE, "bin/deadheat.js");
  const env = { ...process.env, DEADHEAT_PROGRAM: findProgram() };
  const { stdout } = await promisify(execFile)(process.execPath, [bin, "--version"], { env });
  assert.match(stdout, /^deadheat \d/);
  const failing = promisify(execFile)(process.execPath, [bin, "analyze", "/nowhere"], { env });
  await assert.rejects(failing, (error) => error.code !== 0);
  const nowhere = { ...process.env, DEADHEAT_PROGRAM: "", PATH: path.dirname(process.execPath) };
  if (!fs.existsSync(path.join(nowhere.PATH, "deadheat"))) {
    const missing = promisify(execFile)(process.execPath, [bin, "--version"], { env: nowhere });
    await assert.rejects(missing, /neither in the package/);
  }
});
