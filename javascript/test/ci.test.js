// That CI runs these tests: without Node, it once skipped them and passed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { PACKAGE, folder } from "./helpers.js";

const TOP = path.join(PACKAGE, "..");

test("the workflow installs Node before it runs the tests", () => {
  const workflow = fs.readFileSync(path.join(TOP, ".github/workflows/ci.yml"), "utf8");
  const [job] = workflow.split(/^ {2}(?=\w+:$)/m).filter((part) => part.includes("- run: .ci/run"));
  const [before] = job.split("- run: .ci/run");
  assert.match(before, /- uses: actions\/setup-node@v\d+\n\s+with:\n\s+node-version: 22\n/);
});

test("without Node, the tests of the package fail in CI and are skipped elsewhere", () => {
  const told = (CI) => {
    const words = [path.join(TOP, ".ci/npm")];
    const env = { PATH: folder(), ...CI };
    const { status, stdout } = spawnSync("/bin/bash", words, { env, encoding: "utf8" });
    return [status, stdout];
  };
  const needs = "this needs npm with a registry, and Node 20 or later\n";
  assert.deepEqual(told({ CI: "true" }), [1, `the npm package cannot be tested: ${needs}`]);
  assert.deepEqual(told({}), [0, `the npm package is skipped: ${needs}`]);
});

test("no processor is assumed for the Node that the tests run with", () => {
  const script = fs.readFileSync(path.join(PACKAGE, "try"), "utf8");
  assert.doesNotMatch(script, /node-linux-(x64|arm64)/);
});
