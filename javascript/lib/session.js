// The one benchmark of a process, and the state of its race.

import path from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { inspect, isDeepStrictEqual, types } from "node:util";
import v8 from "node:v8";

import { adviceOn } from "./advice.js";
import { PeerGone } from "./channel.js";
import { Refused } from "./errors.js";
import { Contender, GC_TIME, Inputs, Instruments, METRICS, collectGarbage } from "./sample.js";
import { warmUp } from "./warm_up.js";

// The shortest sample: shorter ones show single interruptions and the resolution of the clocks.
const LEAST_NS = 200_000;
// Collections of garbage that take this share of the time are worth a note.
const SHARE = 0.02;
// Nanoseconds over which collections are counted.
const PROFILED_NS = 20_000_000;
// The most inputs that exist at once, their bytes, and the time of making them or of hooks in a sample.
const MOST_INPUTS = 4_096;
const INPUTS_BYTES = 256 << 20;
const INPUTS_NS = 200_000_000;
// No warm-up if calls are this long and the first is at most this share slower than the second.
const LONG_NS = 20_000_000;
const GAIN = 0.01;
// Bytes of an input whose changes are looked for.
const MOST_COMPARED = 16 << 20;
const MOST_SAID = 2_000;
const FRAMES = 4;

export class Session {
  #channel;
  #find;
  #benchmark = null;
  #contenders = [];
  #tools = new Instruments();
  #calling = null;
  // The inputs that contenders share, and those of each contender.
  #shared = null;
  #inputs = [];
  #perCall = false;
  // Whether the contender races one of another program.
  #hasPeer = false;
  #ready = null;
  #calls = new Map();
  // Nanoseconds of the first call, by contender.
  #firstNs = [];
  // The most inputs that exist at once.
  #most = MOST_INPUTS;
  // The most calls of a sample, because of hooks around each call.
  #mostHooked = Infinity;
  #held = null;
  #seed = null;

  /**
   * @param {import("./channel.js").Channel} channel
   * @param {(name: string, prepared: object) => Promise<import("./benchmark.js").Benchmark | null>} find
   */
  constructor(channel, find) {
    this.#channel = channel;
    this.#find = find;
  }

  /** Answers requests about the benchmark of this `prepare` until `bye`. Returns false if it failed. */
  async serve(asked) {
    let reply = await this.#answered("prepare", asked);
    for (;;) {
      this.#channel.reply(...reply);
      if (reply[0] === "failed") return false;
      const [kind, said] = this.#channel.request();
      if (kind === "bye") break;
      reply = await this.#answered(kind, said);
    }
    for (const { task, isSetUp } of this.#contenders) {
      try {
        if (isSetUp) await task.afterAll?.();
      } catch (error) {
        console.error(described(error));
      }
    }
    return true;
  }

  async #answered(kind, asked) {
    try {
      return await this.#answer(kind, asked);
    } catch (error) {
      return failed(problemOf(error, this.#seed), this.#calling);
    }
  }

  async #answer(kind, asked) {
    if (kind === "prepare" && this.#benchmark === null) return await this.#prepare(asked);
    if (this.#benchmark === null) return failed({ out_of_turn: {} });
    switch (kind) {
      case "calibrate":
        return await this.#calibrate(asked);
      case "warm_up":
        return await this.#warmUp(asked);
      case "block":
        return await this.#block(asked);
      case "smoke":
        this.#makeInputs(asked.seed);
        for (const [number] of this.#contenders.entries()) await this.#sample(number, 1);
        return ["sound", {}];
      default:
        return failed({ out_of_turn: {} });
    }
  }

  async #prepare(asked) {
    this.#held = new Array(Math.floor(asked.heap_bytes / 8)).fill(0.5);
    this.#tools.stackBytes = asked.stack_bytes;
    const benchmark = await this.#find(asked.benchmark, asked);
    const names = [...(benchmark?.tasks.keys() ?? [])];
    const wanted = names.filter((name) => asked.contender === null || asked.contender === name);
    if (benchmark === null || wanted.length === 0) return failed({ unknown: {} });
    this.#benchmark = benchmark;
    this.#perCall = asked.input_per_call || benchmark.inputPerCall === true;
    this.#hasPeer = asked.contender !== null;
    const made = new Map();
    for (const name of inDrawnOrder(wanted, asked.heap_bytes)) {
      made.set(name, new Contender(name, benchmark.tasks.get(name)));
    }
    this.#contenders = wanted.map((name) => made.get(name));
    // What imports have left. It is not repeated before each block: a loop of 44 ns then scattered by
    // 1 to 8% from process to process instead of 0.04%.
    collectGarbage();
    return ["prepared", { renews_input: benchmark.input !== null }];
  }

  /** Says which contender is called from now on. */
  #note(number) {
    this.#calling = number;
    this.#channel.note(number);
  }

  #makeInputs(seed) {
    this.#note(null);
    this.#inputs = [];
    this.#seed = this.#benchmark.input === null ? null : seed;
    this.#shared = new Inputs(this.#benchmark.input, seed, this.#perCall);
  }

  /** Begins with calls of a contender; returns its inputs. */
  async #begin(number) {
    this.#note(number);
    const contender = this.#contenders[number];
    const { task } = contender;
    if (!contender.isSetUp) {
      contender.isSetUp = true;
      await task.beforeAll?.();
    }
    // Only now, because `beforeAll` may set `input`.
    this.#inputs[number] ??=
      task.input === undefined ? this.#shared : new Inputs(task.input, this.#seed, true);
    return this.#inputs[number];
  }

  async #sample(number, calls) {
    const inputs = await this.#begin(number);
    const contender = this.#contenders[number];
    if (!contender.wasCalled) {
      const first = await this.#tools.firstCall(contender, inputs);
      if (calls === 1 && first[0] >= LONG_NS) return first;
    }
    return await this.#tools.sample(contender, inputs, calls);
  }

  async #calibrate({ seed, least_ns: asked }) {
    const began = performance.now();
    this.#makeInputs(seed);
    const inputNs = (performance.now() - began) * 1e6;
    const notes = await this.#examine(seed);
    this.#most = Math.max(1, Math.min(this.#most, Math.floor(INPUTS_NS / Math.max(inputNs, 1))));
    const order = [...this.#contenders.keys()];
    const second = [];
    for (const number of order) second.push((await this.#sample(number, 1))[0]);
    const isWarm = (ns, number) => ns >= LONG_NS && this.#firstNs[number] <= (1 + GAIN) * ns;
    const isLong = this.#benchmark.input === null && second.every(isWarm);
    if (!isLong) await this.#warm(order);
    const least = Math.max(asked, LEAST_NS);
    const callNs = [];
    for (const number of order) callNs.push(await this.#timed(number, least));
    for (const number of order) {
      const share = await this.#garbage(number, callNs[number]);
      if (share < SHARE) continue;
      const { name } = this.#contenders[number];
      notes.push(
        `garbage collection takes ${Math.round(100 * share)}% of the time of '${name}' if calls ` +
          "follow each other; most samples contain no collection.",
      );
    }
    const fastest = Math.max(Math.min(...callNs), 1e-3);
    const iterations = this.#limited(1 + Math.floor(least / fastest));
    const limit = this.#limited(Infinity);
    const most = limit === Infinity ? null : limit;
    const said = { iterations, call_ns: callNs, most_iterations: most, input_ns: inputNs, notes };
    if (isLong) said.warm_at_once = true;
    if (this.#perCall) said.input_per_call = true;
    return ["calibrated", said];
  }

  /** Nanoseconds of a call, by samples of at least `least`. */
  async #timed(number, least) {
    const most = this.#limited(2 ** 31);
    let calls = 1;
    let took;
    for (;;) {
      const began = performance.now();
      [took] = await this.#sample(number, calls);
      if (took >= least || calls >= most) break;
      if ((performance.now() - began) * 1e6 > INPUTS_NS) {
        this.#mostHooked = Math.min(this.#mostHooked, calls);
        break;
      }
      calls = Math.min(2 * calls, most);
    }
    for (let samples = 0; samples < 2 && took < LONG_NS; samples++) {
      took = Math.min(took, (await this.#sample(number, calls))[0]);
    }
    return took / calls;
  }

  /** The share of the time in which V8 collects garbage, if calls follow each other. */
  async #garbage(number, callNs) {
    const calls = this.#limited(Math.ceil(PROFILED_NS / Math.max(callNs, 1)));
    if (calls < 2) return 0;
    const values = await this.#sample(number, calls);
    return Math.min(1, values[GC_TIME] / values[0]);
  }

  /** Looks at the outputs of the first calls and at what they do to the input. */
  async #examine(seed) {
    const benchmark = this.#benchmark;
    const notes = this.#hasPeer && benchmark.pairingNote !== null ? [benchmark.pairingNote] : [];
    const outputs = [];
    for (const [number, contender] of this.#contenders.entries()) {
      this.#makeInputs(seed);
      const inputs = await this.#begin(number);
      const given = inputs.shared?.[0];
      const before = digest(given);
      const bytes = Math.max(before?.length ?? 0, 1);
      this.#most = Math.max(1, Math.min(this.#most, Math.floor(INPUTS_BYTES / bytes)));
      const [ns] = await this.#tools.firstCall(contender, inputs);
      this.#firstNs[number] = ns;
      const output = contender.sink.kept;
      refuseUncomputed(output);
      outputs.push(output);
      const after = before === null ? null : digest(given);
      const looksSame = before === null || after === null || before.equals(after);
      if (looksSame && hidesState(given) && !this.#perCall && benchmark.inputPerCall !== false) {
        notes.push(
          `it is not known whether '${contender.name}' changes its input, which is an instance of ` +
            `${given.constructor?.name || "a class"}: if it does, set inputPerCall.`,
        );
      }
      if (looksSame) continue;
      if (benchmark.inputPerCall === false) {
        notes.push(
          `'${contender.name}' changes its input, and inputPerCall is false: later calls of a sample get the changed input.`,
        );
        continue;
      }
      notes.push(`'${contender.name}' changes its input, so every call gets its own input.`);
      this.#perCall = true;
    }
    this.#note(null);
    if (benchmark.checkOutputs && outputs.length === 1) {
      notes.push("outputs are not compared, because each program has only one of the functions.");
    } else if (benchmark.checkOutputs) {
      await this.#checkOutputs(outputs, seed);
    }
    this.#makeInputs(seed);
    return notes;
  }

  async #checkOutputs(outputs, seed) {
    const agree =
      typeof this.#benchmark.checkOutputs === "function"
        ? this.#benchmark.checkOutputs
        : isDeepStrictEqual;
    for (let number = 1; number < outputs.length; number++) {
      if (await agree(outputs[0], outputs[number])) continue;
      this.#calling = number;
      const detail = `${shown(outputs[number])}, not ${shown(outputs[0])} (input of seed ${seed})`;
      throw new OutputDiffers(detail);
    }
  }

  async #warm(order) {
    const sample = async (number, calls) => {
      this.#contenders[number].nextLoop();
      return (await this.#sample(number, this.#limited(calls)))[0];
    };
    const { rounds } = await warmUp(order, sample, this.#calls, () => this.#limited(1e7));
    return rounds;
  }

  #limited(calls) {
    return Math.min(calls, this.#mostHooked, this.#needsManyInputs() ? this.#most : Infinity);
  }

  #needsManyInputs() {
    const isShared = this.#contenders.every(({ task }) => task.input === undefined);
    return !isShared || (this.#perCall && this.#benchmark.input !== null);
  }

  async #warmUp({ seed, order, iterations }) {
    this.#makeInputs(seed);
    // Calibration has limited the calls to the inputs that fit into memory.
    if (this.#needsManyInputs()) this.#most = Math.min(this.#most, iterations);
    const rounds = await this.#warm(order);
    this.#ready = rounds === 1 ? seed : null;
    return ["warm", this.#ready === null ? { rounds } : { rounds, ready: seed }];
  }

  async #block(asked) {
    const { seed, iterations, turns, unrecorded = 0, unrecorded_iterations: few = 1 } = asked;
    // An input that takes long to make has the same seed in all blocks of a replicate.
    const isThere = this.#seed === seed && !this.#needsManyInputs();
    if (this.#ready !== seed && !isThere) this.#makeInputs(seed);
    else this.#note(null);
    this.#ready = null;
    for (const contender of this.#contenders) contender.nextLoop();
    this.#tools.beginBlock();
    const own = turns.map((turn) => turn !== null);
    const channel = this.#channel;
    const values = [];
    if (channel.takesTurns && !own[0]) channel.passBaton();
    for (let turn = 0; turn <= turns.length; turn++) {
      const isOwn = own[turn] === true;
      const wasOwn = turn > 0 && own[turn - 1];
      if (channel.takesTurns && (isOwn || turn === turns.length) && !wasOwn) channel.takeBaton();
      if (!isOwn) continue;
      const calls = turn < unrecorded ? few : iterations;
      const sample = await this.#sample(turns[turn], calls);
      if (turn >= unrecorded) for (const value of sample) values.push(value);
      if (channel.takesTurns && !own[turn + 1]) channel.passBaton();
    }
    const keep = this.#tools.keepWaiting();
    return ["block", keep === null ? { values } : { values, keep_waiting: keep }];
  }
}

class OutputDiffers extends Error {}

/**
 * The values forwards or backwards, by the parity of a drawn number: what is loaded or compiled
 * second finds other places of the heap free.
 */
export function inDrawnOrder(values, drawn) {
  return drawn % 2 === 1 ? values.toReversed() : values;
}

/** The first message of a worker. */
export function hello(version, more = {}) {
  const worker = `deadheat for JavaScript ${version} (node ${process.versions.node})`;
  return ["hello", { protocol: 2, worker, metrics: METRICS, ...more }];
}

export function failed(problem, contender = null) {
  const said = { contender, problem };
  return ["failed", "panicked" in problem ? { ...said, verb: "raised" } : said];
}

function problemOf(error, seed) {
  if (error instanceof PeerGone) return { peer_gone: {} };
  if (error instanceof Refused) return { refused: error.message };
  if (error instanceof OutputDiffers) return { output_differs: { detail: error.message } };
  return { panicked: described(error, seed) };
}

/** The error, the seed of the input, and the innermost lines of its stack that are not ours. */
export function described(error, seed = null) {
  const said =
    error instanceof Error || types.isNativeError(error)
      ? `${error.name}: ${error.message}`
      : `${shown(error)} was thrown`;
  const given = seed === null ? "" : ` (input of seed ${seed})`;
  const stack = typeof error?.stack === "string" ? error.stack.split("\n") : [];
  const own = import.meta.dirname;
  const places = stack
    .filter((line) => /^\s+at /.test(line) && !line.includes("node:") && !line.includes(own))
    .filter((line) => !line.includes("eval at loopFor"))
    .map((line) => line.trim().replace("file://", ""));
  const where = places.slice(0, FRAMES).map((place) => `, ${place}`);
  return said.replaceAll(/\s+/g, " ").slice(0, MOST_SAID) + given + where.join("");
}

/**
 * Prints why a worker cannot list its benchmarks, and ends the process. deadheat shows the last 200
 * characters of the standard error, so the paths of files in the working folder are relative.
 */
export function endUnlisted(reason) {
  const advice = adviceOn(reason);
  const line = reason.replace(/^Error: /, "").replaceAll(process.cwd() + path.sep, "");
  console.error(
    `error: ${line.replaceAll(/\s+/g, " ")}${advice === null ? "" : `\nhelp: ${advice}`}`,
  );
  process.exit(1);
}

function refuseUncomputed(output) {
  if (typeof output?.overriddenDuration === "number") {
    throw new Refused("returns a duration of its own (overriddenDuration), which is not supported");
  }
  const kinds = [Symbol.iterator, Symbol.asyncIterator];
  const isIterable = kinds.some((kind) => typeof output?.[kind] === "function");
  if (isIterable && typeof output.next === "function") {
    throw new Refused(
      "returns an iterator, with nothing computed yet: iterate to its end in the function",
    );
  }
}

const PLAIN = [Object, Array, Map, Set, Date, RegExp, ArrayBuffer, Boolean, Number, String];

/** Whether an input may have private fields or other content that `v8.serialize` leaves out. */
function hidesState(input) {
  if (input === null || typeof input !== "object" || ArrayBuffer.isView(input)) return false;
  const prototype = Object.getPrototypeOf(input);
  return prototype !== null && !PLAIN.some((known) => known.prototype === prototype);
}

/** The content of an input, or null if it cannot be told. */
function digest(input) {
  if (input === null || typeof input !== "object") return null;
  try {
    const bytes = v8.serialize(input);
    return bytes.length > MOST_COMPARED ? null : bytes;
  } catch {
    return null;
  }
}

function shown(value) {
  let text;
  try {
    text =
      typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  } catch {
    text = inspect(value, { depth: 1 });
  }
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
