// bench-node's API. `run` offers the benchmarks to deadheat instead of measuring them.
"use strict";

const script = globalThis[Symbol.for("deadheat.script")];

exports.Suite = class Suite {
  #tasks = [];
  #name;

  constructor(options = {}) {
    this.#name = options.name;
  }

  add(name, options, fn = options) {
    // A function that takes an argument measures itself, by a timer.
    this.#tasks.push([name, fn.length > 0 ? { fn: () => fn(timer) } : { fn }]);
    return this;
  }

  async run() {
    const only = this.#tasks.length === 1 ? this.#tasks[0][0] : undefined;
    const name = this.#name ?? only ?? "suite";
    if (this.#tasks.length > 0) await script.offer([[name, this.#tasks]]);
    return [];
  }
};

// The whole call is timed, with what comes before `start` and after `end`.
const timer = { start() {}, end() {}, count: 1 };

exports.textReport = () => {};
exports.prettyReport = () => {};
exports.chartReport = () => {};
exports.htmlReport = () => {};
exports.jsonReport = () => {};
exports.csvReport = () => {};

class Plugin {
  isSupported() {
    return false;
  }
}

exports.V8NeverOptimizePlugin = class extends Plugin {};
exports.V8GetOptimizationStatus = class extends Plugin {};
exports.V8OptimizeOnNextCallPlugin = class extends Plugin {};
exports.MemoryPlugin = class extends Plugin {};
