// Samples: a batch of calls, timed as one, and what the system says of it.

import fs from "node:fs";
import { performance } from "node:perf_hooks";
import process from "node:process";
import v8 from "node:v8";
import vm from "node:vm";

import { refusal } from "./runtime.js";

export const METRICS = [
  "wall_ns",
  "cpu_ns",
  "minor_faults",
  "major_faults",
  "voluntary_switches",
  "involuntary_switches",
  "run_delay_ns",
  "gc_time_ns",
  "heap_bytes",
  "major_collections",
];
export const GC_TIME = METRICS.indexOf("gc_time_ns");

// Since Node 22.19 and 23.9.
const threadCpuUsage = process.threadCpuUsage?.bind(process);
const clock = performance.now.bind(performance);
const SPREAD = 16;
// Loops of a contender, which take turns from block to block. V8 puts small functions into the loop
// that calls them, so each loop has them at another address. docs/validation/javascript.md has the
// effect.
const LOOPS = 8;
// The frames of `deeper` are at least this large.
const FRAME_BYTES = 64;

/** Collects all garbage, or `{ type: "minor" }` that of young objects. */
export const collectGarbage = globalThis.gc ?? exposedCollector();

function exposedCollector() {
  if (refusal !== null) return () => {};
  v8.setFlagsFromString("--expose-gc");
  return vm.runInNewContext("gc");
}

// Of a loop.
const PARAMETERS = ["task", "inputs", "mask", "calls", "clock", "sink"];

/**
 * Compiles a loop that calls a contender. Each contender gets its own, because V8 optimises a call by
 * the functions that it has seen at that place.
 *
 * The input is read from an array, so that V8 does not know it to be the same in each call and
 * cannot move parts of the function out of the loop.
 */
function loopFor(isAsync) {
  return new (isAsync ? AsyncFunction : Function)(
    ...PARAMETERS,
    `const { fn } = task;
    let kept;
    const begun = clock();
    for (let i = 0; i < calls; i++) kept = ${isAsync ? "await " : ""}fn(inputs[i & mask]);
    const took = clock() - begun;
    sink.kept = kept;
    return took;${unlikeOthers()}`,
  );
}

/** The same with hooks around each call, which are not timed. */
function loopWithHooks() {
  return new AsyncFunction(
    ...PARAMETERS,
    `const { fn, beforeEach = () => {}, afterEach = () => {} } = task;
    let took = 0;
    for (let i = 0; i < calls; i++) {
      const input = inputs[i & mask];
      await beforeEach();
      const begun = clock();
      let kept = fn(input);
      if (typeof kept?.then === "function") kept = await kept;
      took += clock() - begun;
      sink.kept = kept;
      await afterEach();
    }
    return Math.max(0, took - calls * ${readingOfClock()});${unlikeOthers()}`,
  );
}

let compiled = 0;

/** Makes a text unlike all others: V8 shares code and type feedback between equal texts. */
function unlikeOthers() {
  compiled += 1;
  return `\n// ${compiled}`;
}

const AsyncFunction = (async () => {}).constructor;

/** Milliseconds of one reading of the clock. */
function readingOfClock() {
  let least = Infinity;
  for (let round = 0; round < 20; round++) {
    let took = 0;
    for (let i = 0; i < 1000; i++) {
      const begun = clock();
      took += clock() - begun;
    }
    least = Math.min(least, took / 1000);
  }
  return least;
}

/** A function with the loop that calls it. */
export class Contender {
  /** @param {import("./benchmark.js").Task} task */
  constructor(name, task) {
    this.name = name;
    this.task = task;
    this.sink = { kept: undefined };
    this.isSetUp = false;
    this.wasCalled = false;
    this.hasHooks = task.beforeEach !== undefined || task.afterEach !== undefined;
    this.isAsync = false;
    this.makeLoops();
  }

  makeLoops() {
    this.loops = Array.from({ length: LOOPS }, () => this.loopFor(this.isAsync));
    this.at = 0;
  }

  /** Lets the next samples run in other code. */
  nextLoop() {
    this.at = (this.at + 1) % LOOPS;
  }

  get loop() {
    return this.loops[this.at];
  }

  loopFor(isAsync) {
    return this.hasHooks ? loopWithHooks() : loopFor(isAsync);
  }
}

function made(make, seed) {
  const input = make(seed);
  if (typeof input?.then !== "function") return input;
  throw new TypeError("input returns a promise: let it return the value itself");
}

/** The inputs of a sample: one for all calls, or one for each. */
export class Inputs {
  constructor(make, seed, perCall) {
    this.make = make;
    this.seed = seed;
    this.perCall = perCall && make !== null;
    this.mask = this.perCall ? -1 : SPREAD - 1;
    this.shared = this.perCall ? null : new Array(SPREAD).fill(make ? made(make, seed) : undefined);
  }

  of(calls) {
    if (!this.perCall) return this.shared;
    const inputs = new Array(calls);
    for (let i = 0; i < calls; i++) inputs[i] = made(this.make, this.seed);
    return inputs;
  }
}

/** What is read before and after the calls of a sample. */
export class Instruments {
  #delay = openSchedstat();
  #buffer = Buffer.alloc(96);
  #waited = 0;
  #switches = -1;
  #begun = null;
  unread = false;
  stackBytes = 0;

  /** The metrics of `calls` calls of a contender, in the order of METRICS. */
  async sample(contender, inputs, calls) {
    const given = inputs.of(calls);
    // Otherwise one sample in ten contained a collection of the garbage of several others, and blocks
    // of a function that fills a Map scattered by 16% instead of 8%.
    collectGarbage({ type: "minor" });
    // A result that is still held would make the next call work in other memory.
    contender.sink.kept = undefined;
    const profiler = new v8.GCProfiler();
    profiler.start();
    const before = this.#usage();
    const used = usedHeap();
    const cpu = cpuTime();
    const took = deeper(Math.floor(this.stackBytes / FRAME_BYTES), () =>
      contender.loop(contender.task, given, inputs.mask, calls, clock, contender.sink),
    );
    const wall = typeof took === "number" ? took : await took;
    const cpuAfter = cpuTime();
    const grown = usedHeap() - used;
    const values = [wall * 1e6, Math.max(0, cpuAfter - cpu)];
    const after = this.#usage();
    for (let i = 0; i < after.length; i++) values.push(after[i] - before[i]);
    values.push(...collected(profiler.stop().statistics, grown));
    return values;
  }

  /**
   * A sample of one call, the first of a contender in this process. If it returns a promise, that
   * and all later ones are awaited.
   */
  async firstCall(contender, inputs) {
    const began = clock();
    const values = await this.sample(contender, inputs, 1);
    const { sink } = contender;
    if (!contender.wasCalled && typeof sink.kept?.then === "function") {
      sink.kept = await sink.kept;
      contender.isAsync = true;
      contender.makeLoops();
      values[0] = (clock() - began) * 1e6;
    }
    contender.wasCalled = true;
    return values;
  }

  #usage() {
    const usage = process.resourceUsage();
    const { voluntaryContextSwitches: given, involuntaryContextSwitches: taken } = usage;
    const faults = [usage.minorPageFault, usage.majorPageFault];
    return [...faults, given, taken, this.#runDelay(given + taken)];
  }

  // Reads the file only if a thread has left its core since the last time.
  #runDelay(switches) {
    if (switches === this.#switches) return this.#waited;
    this.#switches = switches;
    const [ran, waited] = this.#schedstat();
    // A kernel that keeps no account writes zeros.
    if (ran > 0 && waited >= this.#waited) this.#waited = waited;
    else this.unread = true;
    return this.#waited;
  }

  #schedstat() {
    if (this.#delay === null) return [0, 0];
    const bytes = fs.readSync(this.#delay, this.#buffer, 0, 96, 0);
    return this.#buffer.toString("latin1", 0, bytes).split(" ").map(Number);
  }

  /** Marks the beginning of the first block, for `keepWaiting`. */
  beginBlock() {
    this.#begun ??= this.#ownAndOthers();
  }

  /**
   * Why deadheat must not subtract the time that this thread has waited for a core: it may have waited
   * for V8's own threads, or for processes of the function.
   */
  keepWaiting() {
    const [ownBefore, othersBefore] = this.#begun;
    const [own, others] = this.#ownAndOthers();
    if (others - othersBefore > 1e5 + (own - ownBefore) / 1e3 || hasChildren()) return "concurrent";
    return this.unread ? "unread" : null;
  }

  // Nanoseconds of CPU time of this thread, and of others and ended child processes.
  #ownAndOthers() {
    const { user, system } = process.cpuUsage();
    const own = threadCpuUsage ? cpuTime() : this.#schedstat()[0];
    return [own, Math.max(0, (user + system) * 1e3 - own) + timeOfChildren()];
  }
}

function cpuTime() {
  const { user, system } = threadCpuUsage ? threadCpuUsage() : process.cpuUsage();
  return (user + system) * 1e3;
}

function usedHeap() {
  return v8.getHeapStatistics().used_heap_size;
}

/** The time of these collections, the bytes that were allocated, and the number of major ones. */
function collected(collections, grown) {
  let [microseconds, bytes, major] = [0, grown, 0];
  for (const { gcType, cost, beforeGC, afterGC } of collections) {
    microseconds += cost;
    bytes += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
    if (gcType === "MarkSweepCompact") major += 1;
  }
  return [microseconds * 1e3, Math.max(0, bytes), major];
}

function openSchedstat() {
  try {
    return fs.openSync("/proc/thread-self/schedstat");
  } catch {
    return null;
  }
}

// The kernel counts in hundredths of a second.
function timeOfChildren() {
  try {
    const stat = fs.readFileSync("/proc/self/stat", "latin1");
    // The name of the process is in brackets and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) * 1e7;
  } catch {
    return 0;
  }
}

function hasChildren() {
  try {
    return fs.readFileSync("/proc/thread-self/children", "latin1").trim() !== "";
  } catch {
    return false;
  }
}

// Calls a function with so many frames below it, to move its stack.
function deeper(frames, call) {
  return frames > 0 ? deeper(frames - 1, call) : call();
}
