// benchmark.js's API (1 and 2). `run` offers the benchmarks to deadheat instead of measuring them.
"use strict";

const script = globalThis[Symbol.for("deadheat.script")];

class Emitter {
  #listeners = [];

  on(types, listener) {
    for (const type of types.split(" ")) this.#listeners.push([type, listener]);
    return this;
  }

  off() {
    return this;
  }

  emit(type, target) {
    const event = { type, target, currentTarget: this };
    for (const [listened, listener] of this.#listeners)
      if (listened === type) listener.call(this, event);
  }
}

class Benchmark extends Emitter {
  constructor(name, fn, options = {}) {
    super();
    const given =
      typeof name === "object"
        ? name
        : typeof fn === "object"
          ? { name, ...fn }
          : { ...options, name, fn };
    Object.assign(this, given, { options: given, hz: 0, count: 0, cycles: 0, error: undefined });
    this.stats = { mean: 0, moe: 0, rme: 0, sem: 0, deviation: 0, variance: 0, sample: [] };
    this.times = { cycle: 0, elapsed: 0, period: 0, timeStamp: 0 };
    for (const type of ["Start", "Cycle", "Complete"]) {
      if (given[`on${type}`]) this.on(type.toLowerCase(), given[`on${type}`]);
    }
  }

  task() {
    const { fn, setup, teardown, defer } = this;
    for (const code of [fn, setup, teardown]) {
      if (typeof code === "string") {
        throw new Error(`deadheat needs functions for '${this.name}', not texts of code`);
      }
    }
    const call = defer ? () => new Promise((resolve) => fn.call(this, { resolve })) : fn.bind(this);
    return { fn: call, beforeAll: setup?.bind(this), afterAll: teardown?.bind(this) };
  }

  run() {
    return runAll(this, this.name ?? "benchmark", [this]);
  }

  toString() {
    return String(this.name);
  }
}

class Suite extends Emitter {
  constructor(name, options = {}) {
    super();
    this.name = typeof name === "string" ? name : undefined;
    this.benchmarks = [];
    for (const [key, listener] of Object.entries(typeof name === "object" ? name : options)) {
      if (/^on[A-Z]/.test(key)) this.on(key.slice(2).toLowerCase(), listener);
    }
  }

  get length() {
    return this.benchmarks.length;
  }

  [Symbol.iterator]() {
    return this.benchmarks[Symbol.iterator]();
  }

  add(name, fn, options) {
    const benchmark = new Benchmark(name, fn, options);
    this[this.benchmarks.length] = benchmark;
    this.benchmarks.push(benchmark);
    return this;
  }

  filter(wanted) {
    const kept = this.benchmarks.filter((one, at) =>
      typeof wanted === "function" ? wanted(one, at) : true,
    );
    const suite = new Suite(this.name);
    suite.benchmarks = kept;
    return suite;
  }

  map(property) {
    return this.benchmarks.map((one) =>
      typeof property === "function" ? property(one) : one[property],
    );
  }

  forEach(call) {
    this.benchmarks.forEach(call);
    return this;
  }

  run() {
    const only = this.benchmarks.length === 1 ? this.benchmarks[0].name : undefined;
    return runAll(this, this.name ?? only ?? "suite", this.benchmarks);
  }
}

function runAll(emitter, name, benchmarks) {
  const tasks = benchmarks.map((one) => [String(one.name), one.task()]);
  // Before the benchmarks, because a handler may prepare their data.
  emitter.emit("start", benchmarks[0]);
  const offered = tasks.length > 0 ? script.offer([[name, tasks]]) : Promise.resolve();
  offered.then(() => {
    for (const one of benchmarks) emitter.emit("cycle", one);
    emitter.emit("complete", benchmarks.at(-1));
  });
  return emitter;
}

Benchmark.Suite = Suite;
Benchmark.Benchmark = Benchmark;
Benchmark.options = {};
Benchmark.version = "2.1.4";
Benchmark.support = {};
Benchmark.platform = { description: `Node.js ${process.versions.node}` };
Benchmark.formatNumber = (number) => String(number);
module.exports = Benchmark;
module.exports.Suite = Suite;
