// The pipes between deadheat and this process, when it is a worker (docs/protocol.md).

import fs from "node:fs";
import process from "node:process";

import { refusal } from "./runtime.js";

/** The other process of the race has closed the baton's pipe. */
export class PeerGone extends Error {}

const WORKER = "DEADHEAT_WORKER";
const BATON = "DEADHEAT_BATON";
// Milliseconds for the process that has just passed the baton to fall asleep. Node has no
// sched_yield.
const YIELD_MS = 0.05;

/** Requests, replies, notes and the baton of a worker process. */
export class Channel {
  #requests;
  #replies;
  #notes;
  #baton;
  #text = "";
  #buffer = Buffer.alloc(1 << 16);
  #byte = new Uint8Array(1);
  #never = new Int32Array(new SharedArrayBuffer(4));

  /**
   * @param {number[]} descriptors requests, replies and notes
   * @param {number[]} baton where it comes from and where it goes; empty without another process
   */
  constructor([requests, replies, notes], baton) {
    this.#requests = requests;
    this.#replies = replies;
    this.#notes = notes;
    this.#baton = baton;
  }

  /** What the constructor takes, for another thread of this process. */
  get descriptors() {
    return [[this.#requests, this.#replies, this.#notes], this.#baton];
  }

  /** The kind of the next request and what it says; `bye` at the end of file. */
  request() {
    let end;
    while ((end = this.#text.indexOf("\n")) < 0) {
      const bytes = read(this.#requests, this.#buffer);
      if (bytes === 0) return ["bye", {}];
      this.#text += this.#buffer.toString("utf8", 0, bytes);
    }
    const [kind, said] = Object.entries(JSON.parse(this.#text.slice(0, end)))[0];
    this.#text = this.#text.slice(end + 1);
    return [kind, said];
  }

  reply(kind, said) {
    const line = Buffer.from(JSON.stringify({ [kind]: said }, wellFormed) + "\n");
    for (let sent = 0; sent < line.length;) sent += fs.writeSync(this.#replies, line, sent);
  }

  /** Says which contender is called from now on, for the case that it crashes or hangs. */
  note(contender) {
    this.#byte[0] = contender === null ? 0 : contender + 1;
    try {
      fs.writeSync(this.#notes, this.#byte);
    } catch {
      // A note that does not fit is lost.
    }
  }

  get takesTurns() {
    return this.#baton.length > 0;
  }

  passBaton() {
    this.#byte[0] = 1;
    try {
      fs.writeSync(this.#baton[1], this.#byte);
    } catch {
      throw new PeerGone();
    }
  }

  takeBaton() {
    if (read(this.#baton[0], this.#byte) === 0) throw new PeerGone();
    Atomics.wait(this.#never, 0, 0, YIELD_MS);
  }

  /** Ends this process and all that its functions have started. */
  end() {
    if (leadsItsGroup()) process.kill(-process.pid, "SIGKILL");
    process.exit(0);
  }
}

/** Takes the pipes that deadheat has given this process; null if it has not. */
export function claim() {
  const numbers = process.env[WORKER];
  if (numbers === undefined) return null;
  if (refusal !== null) {
    console.error(`error: ${refusal}`);
    process.exit(2);
  }
  globalThis[Symbol.for("deadheat.worker")] = true;
  // deadheat's question to Google Benchmark, which is not for the script.
  const own = process.argv.filter((word) => !word.startsWith("--benchmark_list_tests"));
  process.argv.splice(0, Infinity, ...own);
  const baton = process.env[BATON];
  delete process.env[WORKER];
  delete process.env[BATON];
  const [requests, replies, notes] = listed(numbers);
  return new Channel([requests, replies, withoutWaiting(notes)], baton ? listed(baton) : []);
}

// Half of a surrogate pair, as of a text that was cut, is no valid UTF-8.
function wellFormed(_key, value) {
  return typeof value === "string" ? value.toWellFormed() : value;
}

function listed(numbers) {
  return numbers.split(",").map(Number);
}

function read(descriptor, buffer) {
  for (;;) {
    try {
      return fs.readSync(descriptor, buffer);
    } catch (error) {
      if (error.code === "EOF") return 0;
      if (error.code !== "EINTR" && error.code !== "EAGAIN") throw error;
    }
  }
}

// Opened a second time, because Node cannot change the flags of an open pipe: a worker whose notes nobody
// reads must not wait. A socket cannot be opened a second time, and stays as it is.
function withoutWaiting(descriptor) {
  const flags = fs.constants.O_WRONLY | fs.constants.O_NONBLOCK;
  try {
    const opened = fs.openSync(`/proc/self/fd/${descriptor}`, flags);
    if (descriptor > 2) fs.closeSync(descriptor);
    return opened;
  } catch {
    return descriptor;
  }
}

function leadsItsGroup() {
  try {
    const stat = fs.readFileSync("/proc/self/stat", "utf8");
    // The name of the process is in brackets and may contain anything.
    const group = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2];
    return Number(group) === process.pid;
  } catch {
    return false;
  }
}
