// Workers spoken to by hand, as docs/protocol.md has it, and files for them.

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after } from "node:test";

export const PACKAGE = path.resolve(import.meta.dirname, "..");
const INDEX = path.join(PACKAGE, "lib/index.js");

/** A folder of its own, in which packages of this one are found. */
export function folder() {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "deadheat-test-"));
  after(() => fs.rmSync(made, { recursive: true, force: true }));
  fs.writeFileSync(path.join(made, "package.json"), "{}");
  fs.symlinkSync(path.join(PACKAGE, "node_modules"), path.join(made, "node_modules"));
  return made;
}

/** Writes a file of a test, in which DEADHEAT stands for the path of the package's index. */
export function file(text, name = "suite.mjs", where = folder()) {
  const written = path.join(where, name);
  fs.mkdirSync(path.dirname(written), { recursive: true });
  fs.writeFileSync(written, text.replaceAll("DEADHEAT", JSON.stringify(INDEX)));
  return written;
}

/** A worker process; `ask` resolves to its reply. */
export class Worker {
  #replies;
  #lines = [];
  #waiting = [];

  /**
   * @param {string[]} words arguments of Node
   * @param {{ cwd?: string, baton?: boolean, node?: string }} options
   */
  constructor(words, { cwd, baton = false, node = process.execPath } = {}) {
    const env = { ...process.env, DEADHEAT_WORKER: "3,4,5", DEADHEAT_BATON: "6,7" };
    if (!baton) delete env.DEADHEAT_BATON;
    const stdio = ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"];
    if (baton) stdio.push("pipe", "pipe");
    // A group of its own, as deadheat gives it: the worker kills the rest of its group at its end.
    this.child = spawn(node, words, { cwd, env, stdio, detached: true });
    this.said = "";
    this.child.stderr.on("data", (bytes) => (this.said += bytes));
    this.notes = [];
    this.child.stdio[5].on("data", (bytes) => this.notes.push(...bytes));
    this.#replies = createInterface({ input: this.child.stdio[4] });
    this.#replies.on("line", (line) => {
      const waiting = this.#waiting.shift();
      if (waiting) waiting(JSON.parse(line));
      else this.#lines.push(JSON.parse(line));
    });
    this.#replies.on("close", () => this.#waiting.forEach((waiting) => waiting(null)));
    this.ended = new Promise((resolve) => this.child.on("close", (...how) => resolve(how)));
    after(() => this.child.kill("SIGKILL"));
  }

  /** The next reply; null if the worker ends without one. */
  async heard() {
    if (this.#lines.length > 0) return this.#lines.shift();
    return await new Promise((resolve) => {
      if (this.child.exitCode === null && this.child.signalCode === null)
        this.#waiting.push(resolve);
      else resolve(null);
    });
  }

  async ask(kind, said = {}) {
    this.send(kind, said);
    return await this.heard();
  }

  send(kind, said = {}) {
    this.child.stdio[3].write(`${JSON.stringify({ [kind]: said })}\n`);
  }

  async prepare(benchmark, said = {}) {
    const drawn = { clock: "", cpu_overhead_ns: 0, heap_bytes: 4_096, stack_bytes: 512 };
    return await this.ask("prepare", { benchmark, contender: null, ...drawn, ...said });
  }
}

/** A worker of this suite that has said hello and is prepared for a benchmark. */
export async function prepared(text, benchmark, said = {}) {
  const worker = new Worker([file(text)]);
  await worker.heard();
  const reply = await worker.prepare(benchmark, said);
  return [worker, reply];
}
