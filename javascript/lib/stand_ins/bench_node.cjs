// bench-node's API. `run` offers the benchmarks to deadheat instead of measuring them.
"use strict";

const script = globalThis[Symbol.for("deadheat.script")];
let unnamed = 0;

exports.Suite = class Suite {
  #tasks = new Map();
  #name;

  constructor(options = {}) {
    this.#name = options.name;
  }

  add(name, options, fn = options) {
    // A function that takes an argument measures itself, by a timer.
    this.#tasks.set(name, fn.length > 0 ? { fn: () => fn(timer) } : { fn });
    return this;
  }

  async run() {
    unnamed += 1;
    const only = this.#tasks.size === 1 ? [...this.#tasks.keys()][0] : undefined;
    const name = this.#name ?? only ?? (unnamed === 1 ? "suite" : `suite ${unnamed}`);
    if (this.#tasks.size > 0) await script.offer([[name, this.#tasks]]);
    return [];
  }
};

// The whole call is timed, with what comes before `start` and after `end`.
const timer = { start() {}, end() {}, count: 1 };

for (const word of [
  "textReport",
  "prettyReport",
  "chartReport",
  "htmlReport",
  "jsonReport",
  "csvReport",
]) {
  exports[word] = () => {};
}
