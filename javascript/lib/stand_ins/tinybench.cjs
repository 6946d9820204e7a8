// tinybench's API (2 to 6). `run` offers the tasks to deadheat instead of measuring them.
"use strict";

const script = globalThis[Symbol.for("deadheat.script")];
const { unmeasured, withHooks } = require("./tinybench_task.cjs");

class Task extends EventTarget {
  constructor(bench, name, fn, options = {}) {
    super();
    this.bench = bench;
    this.name = name;
    this.fn = fn;
    this.opts = options;
    this.runs = 0;
    this.result = unmeasured();
  }
}

exports.Task = Task;

exports.Bench = class Bench extends EventTarget {
  #tasks = [];

  constructor(options = {}) {
    super();
    this.opts = options;
    this.name = options.name;
    this.concurrency = options.concurrency ?? null;
    this.threshold = options.threshold ?? 1;
  }

  add(name, fn, options) {
    this.#tasks.push(new Task(this, name, fn, options));
    return this;
  }

  todo() {
    return this;
  }

  remove(name) {
    this.#tasks = this.#tasks.filter((task) => task.name !== name);
    return this;
  }

  get tasks() {
    return [...this.#tasks];
  }

  get results() {
    return this.tasks.map((task) => task.result);
  }

  getTask(name) {
    return this.#tasks.find((task) => task.name === name);
  }

  reset() {}

  warmupSync() {}

  async warmup() {
    return this.tasks;
  }

  async warmupAll() {
    return this.tasks;
  }

  async run() {
    const tasks = this.tasks.map((task) => [task.name, withHooks(task, this.opts)]);
    const only = tasks.length === 1 ? tasks[0][0] : undefined;
    if (tasks.length > 0) await script.offer([[this.name ?? only ?? "bench", tasks]]);
    this.dispatchEvent(new Event("complete"));
    return this.tasks;
  }

  runSync() {
    throw new Error(
      "deadheat cannot serve runSync(), which does not wait: use `await bench.run()`",
    );
  }

  table(convert) {
    return this.tasks.map((task) => (convert ? convert(task) : { "Task name": task.name }));
  }
};

exports.nToMs = (ns) => ns / 1e6;
exports.mToNs = (ms) => ms * 1e6;
exports.hrtimeNow = () => Number(process.hrtime.bigint()) / 1e6;
exports.now = () => performance.now();
exports.hrtimeNowTimestampProvider = { name: "hrtimeNow", fn: exports.hrtimeNow };
exports.performanceNowTimestampProvider = { name: "performanceNow", fn: exports.now };
exports.formatNumber = (value) => String(value);
exports.default = exports;
