// A benchmark of a worker: contenders that do the same task, and their input.

import { UsageError } from "./errors.js";
import { UniqueNames, pairedByOrder } from "./names.js";

const OPTIONS = ["input", "run", "contenders", "inputPerCall", "checkOutputs", "throughput"];

/**
 * A function with what surrounds its calls: `beforeAll` and `afterAll` run once in a process,
 * `beforeEach` and `afterEach` around each call, outside of its time. A task with an `input` of its
 * own gets a new one for every call.
 *
 * @typedef {object} Task
 * @property {Function} fn may be set by `beforeAll`
 * @property {() => unknown} [beforeAll]
 * @property {() => unknown} [beforeEach]
 * @property {() => unknown} [afterEach]
 * @property {() => unknown} [afterAll]
 * @property {() => unknown} [input]
 */

/** Functions that do the same task. */
export class Benchmark {
  /**
   * A benchmark that another library has described. Tasks of the same name are numbered.
   *
   * @param {string} name
   * @param {[string, Task][]} described names and tasks
   */
  static ofTasks(name, described) {
    const names = new UniqueNames();
    const numbered = described.map(([key, task]) => [key, names.add(key), task]);
    const tasks = new Map(numbered.map(([, unique, task]) => [unique, task]));
    // `beforeAll` may set the function later.
    const contenders = [...tasks].map(([key, task]) => [key, task.fn ?? (() => {})]);
    const benchmark = new Benchmark(name, { contenders });
    benchmark.tasks = tasks;
    const repeated = numbered.find(([key, unique]) => key !== unique);
    if (repeated !== undefined) benchmark.pairingNote = pairedByOrder("contenders", repeated[0]);
    return benchmark;
  }

  /**
   * @param {string} name
   * @param {Function | object} described the function, or an object with `run` or `contenders`
   */
  constructor(name, described) {
    const given = typeof described === "function" ? { run: described } : described;
    if (given === null || typeof given !== "object") {
      throw new UsageError(`'${name}' must be a function or an object, not ${described}`);
    }
    const unknown = Object.keys(given).find((key) => !OPTIONS.includes(key));
    if (unknown !== undefined) {
      throw new UsageError(
        `'${name}' has no option '${unknown}'; the options are ${OPTIONS.join(", ")}`,
      );
    }
    if ((given.run === undefined) === (given.contenders === undefined)) {
      throw new UsageError(`'${name}' needs either 'run' or 'contenders', not both`);
    }
    this.name = name;
    /** @type {Map<string, Task>} */
    this.tasks = new Map();
    for (const [contender, fn] of pairsOf(given.contenders ?? [[name, given.run]])) {
      if (typeof fn !== "function")
        throw new UsageError(`'${contender}' of '${name}' is not a function`);
      refuseGenerator(contender, fn);
      if (this.tasks.has(contender))
        throw new UsageError(`'${name}' has two contenders named '${contender}'`);
      this.tasks.set(contender, { fn });
    }
    if (given.input !== undefined && typeof given.input !== "function") {
      throw new UsageError(`the input of '${name}' must be a function of a seed`);
    }
    if (given.inputPerCall && !given.input) {
      throw new UsageError(`'${name}' has inputPerCall but no input`);
    }
    this.input = given.input ?? null;
    this.inputPerCall = given.inputPerCall ?? null;
    this.checkOutputs = given.checkOutputs ?? false;
    this.throughput = given.throughput;
    /** @type {string | null} shown if the contenders of two programs race */
    this.pairingNote = null;
  }

  /** Numbers the name if another benchmark has it. */
  rename(names) {
    const given = this.name;
    this.name = names.add(given);
    if (this.name !== given) this.pairingNote = pairedByOrder("benchmarks", given);
  }

  listed() {
    const listed = { name: this.name, contenders: [...this.tasks.keys()] };
    return this.throughput === undefined ? listed : { ...listed, throughput: this.throughput };
  }
}

/** Names and functions, the baseline first. */
function pairsOf(contenders) {
  if (Array.isArray(contenders)) return contenders;
  const names = Object.keys(contenders);
  const number = names.find((name) => /^(0|[1-9]\d*)$/.test(name));
  if (number !== undefined && names.length > 1) {
    throw new UsageError(
      `an object puts the contender '${number}' first, wherever it is written: write pairs, as ` +
        `contenders: [["${number}", f], …]`,
    );
  }
  return Object.entries(contenders);
}

export function refuseGenerator(name, fn) {
  if (/Generator/.test(fn.constructor.name)) {
    throw new UsageError(
      `'${name}' is a generator function, whose calls run none of its code: pass a function that ` +
        "iterates to its end",
    );
  }
}
