import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";

import { findProgram } from "../lib/program.js";
import { PACKAGE, file, folder } from "./helpers.js";

/** A repository with a commit for each number of rounds, in which `source` has it as ROUNDS. */
function repository(source, name, rounds) {
  const where = folder();
  fs.unlinkSync(path.join(where, "node_modules"));
  fs.unlinkSync(path.join(where, "package.json"));
  const git = (...words) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: where });
  git("init", "--quiet");
  for (const count of rounds) {
    file(source.replaceAll("ROUNDS", String(count)), name, where);
    git("add", "--all");
    git("commit", "--quiet", "--message", `${count} rounds`);
  }
  return where;
}

async function rev(where, words) {
  // Outside of the repository, because builds must not see the modules of the working tree.
  const cache = fs.mkdtempSync(path.join(os.tmpdir(), "deadheat-cache-"));
  const env = { ...process.env, DEADHEAT_JAVASCRIPT_PACKAGE: PACKAGE, XDG_CACHE_HOME: cache };
  const started = promisify(execFile)(findProgram(), ["rev", ...words], { cwd: where, env });
  const { stdout, stderr, code = 0 } = await started.catch((error) => error);
  fs.rmSync(cache, { recursive: true, force: true });
  return { stdout, stderr, code };
}

const WORK = `
function work(rounds) {
  let sum = 0;
  for (let i = 0; i < rounds; i++) sum = (sum * 31 + i) & 0xffff;
  return sum;
}
`;
const TINYBENCH = `import { Bench } from "tinybench";${WORK}
const bench = new Bench({ name: "sums" });
bench.add("sum", () => work(ROUNDS)).add("same", () => work(1000));
await bench.run();`;

test("a script of tinybench races between two commits, task by task", async () => {
  const where = repository(TINYBENCH, "bench/sums.mjs", [1000, 2000]);
  const words = ["HEAD~1..HEAD", "--node", "bench/*.mjs", "--json", "-q", "--margin", "5%"];
  const { stdout, stderr } = await rev(where, words);
  const { benchmarks } = JSON.parse(
    stdout || `{"benchmarks":[{"benchmark":${JSON.stringify(stderr)}}]}`,
  );
  assert.deepEqual(
    benchmarks.map((one) => one.benchmark),
    ["sums (sum)", "sums (same)"],
  );
  // Only the direction: on a busy machine the race may be too close to call.
  assert.ok(benchmarks[0].change > 0, `${benchmarks[0].change}`);
});

test("files that a side lacks are named", async () => {
  const where = repository(TINYBENCH, "bench/sums.mjs", [1000, 1001]);
  const { stderr, code } = await rev(where, ["HEAD~1..HEAD", "--node", "test/*.mjs"]);
  assert.match(stderr, /has no file 'test\/\*\.mjs'/);
  assert.equal(code, 3);
});

test("an installation that fails names the side and its command", async () => {
  const where = repository(TINYBENCH, "bench/sums.mjs", [1000, 1001]);
  const { stderr, code } = await rev(where, [
    "HEAD~1..HEAD",
    "--node",
    "bench/*.mjs",
    "--build",
    "false",
  ]);
  assert.match(stderr, /`false`/);
  assert.equal(code, 3);
});

const [major, minor] = process.versions.node.split(".").map(Number);
const skip = major < 22 || (major === 22 && minor < 12) ? "Vitest 5 needs Node 22.12" : false;

const VITEST = `import { test } from "vitest";${WORK}
test("sums", async ({ bench }) => {
  await bench("sum", () => work(ROUNDS)).run();
});`;

test("a suite of Vitest races between two commits", { skip }, async () => {
  const where = repository(VITEST, "sums.bench.mjs", [1000, 2000]);
  const modules = path.join(PACKAGE, "node_modules");
  const words = ["HEAD~1..HEAD", "--vitest", "--build", `ln -s '${modules}' node_modules`];
  const { stdout, stderr } = await rev(where, [...words, "--json", "-q", "--margin", "5%"]);
  const { benchmarks } = JSON.parse(
    stdout || `{"benchmarks":[{"benchmark":${JSON.stringify(stderr)}}]}`,
  );
  assert.equal(benchmarks[0].benchmark, "sums.bench.mjs > sums > sum");
  assert.ok(benchmarks[0].change > 0, `${benchmarks[0].change}`);
});

test("the dependencies of a package are installed at the lock file above it", async () => {
  const text = `import fs from "node:fs";
    const installed = fs.existsSync("../../node_modules/.package-lock.json");
    if (!installed) throw new Error("nothing is installed");
    ${TINYBENCH}`;
  const where = repository(text, "packages/a/sums.mjs", [1000, 1001]);
  const git = (...words) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: where });
  const name = { name: "root", version: "1.0.0" };
  const lock = { ...name, lockfileVersion: 3, requires: true };
  const dependency = { "node_modules/b": { resolved: "packages/b", link: true }, "packages/b": {} };
  const dependencies = { b: "file:packages/b" };
  const packages = { "": { ...name, dependencies }, ...dependency };
  file(JSON.stringify({ ...name, dependencies }), "package.json", where);
  file(JSON.stringify({ ...lock, packages }), "package-lock.json", where);
  file('{ "name": "a" }', "packages/a/package.json", where);
  file('{ "name": "b" }', "packages/b/package.json", where);
  git("add", "--all");
  git("commit", "--quiet", "--message", "a workspace");
  const words = ["HEAD..HEAD", "--node", "sums.mjs", "--list"];
  const { stdout, stderr } = await rev(path.join(where, "packages/a"), words);
  assert.match(stdout, /sums/, stderr);
});

test("without the package, the way to install it is told", async () => {
  const where = repository(TINYBENCH, "bench/sums.mjs", [1000, 1001]);
  const env = { ...process.env, DEADHEAT_JAVASCRIPT_PACKAGE: "" };
  const words = ["rev", "HEAD~1..HEAD", "--node", "bench/*.mjs"];
  const started = promisify(execFile)(findProgram(), words, { cwd: where, env });
  await assert.rejects(started, (error) => error.code === 2 && /npm install/.test(error.stderr));
});
