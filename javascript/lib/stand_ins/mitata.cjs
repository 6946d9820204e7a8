// mitata's API (1). `run` offers the benchmarks to deadheat instead of measuring them.
"use strict";

const script = globalThis[Symbol.for("deadheat.script")];

// Groups in the order of the script; each is a name, or null, and its benchmarks.
let groups = [];
let open = null;
const GeneratorFunction = function* () {}.constructor;
const AsyncGeneratorFunction = async function* () {}.constructor;

class Described {
  constructor(name, fn) {
    this.label = name;
    this.fn = fn;
    this.axes = new Map();
  }

  name(label) {
    this.label = label;
    return this;
  }

  args(name, values) {
    if (Array.isArray(name)) this.axes.set("x", name);
    else if (typeof name === "object")
      for (const key of Object.keys(name)) this.axes.set(key, name[key]);
    else this.axes.set(name, values);
    return this;
  }

  range(name, from, to, factor = 8) {
    const values = [];
    for (let value = from; value < to; value *= factor) values.push(value);
    return this.args(name, [...values, to]);
  }

  dense_range(name, from, to, step = 1) {
    const values = [];
    for (let value = from; value <= to; value += step) values.push(value);
    if (!values.includes(to)) values.push(to);
    return this.args(name, values);
  }

  /** A name and a task for every combination of the arguments. */
  tasks() {
    let combinations = [{}];
    for (const [name, values] of this.axes) {
      combinations = combinations.flatMap((one) =>
        values.map((value) => ({ ...one, [name]: value })),
      );
    }
    return combinations.map((values) => [labelOf(this.label, values), taskOf(this.fn, values)]);
  }
}

// What only changes the output of mitata, or how long it measures.
for (const word of ["gc", "baseline", "compact", "highlight"]) {
  Described.prototype[word] = function () {
    return this;
  };
}

function labelOf(label, values) {
  const isNamed = Object.keys(values).some((name) => label.includes(`$${name}`));
  const named = label.replaceAll(/\$(\w+)/g, (all, name) =>
    name in values ? String(values[name]) : all,
  );
  if (isNamed || Object.keys(values).length === 0) return named;
  return `${named} [${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ")}]`;
}

function taskOf(fn, values) {
  const isGenerator = fn instanceof GeneratorFunction || fn instanceof AsyncGeneratorFunction;
  if (!isGenerator) return { fn };
  const task = {};
  let generator;
  // The arguments that the benchmark computes for each call.
  let makers = [];
  task.beforeAll = async () => {
    generator = fn({ get: (name) => values[name] });
    const { value } = await generator.next();
    const run = typeof value === "function" ? value : value.bench;
    makers = Object.keys(value)
      .filter((key) => /^\d+$/.test(key))
      .map((key) => value[key]);
    task.fn = makers.length > 0 ? (given) => run(...given) : run;
    if (makers.length > 0) task.input = () => makers.map((make) => make());
  };
  task.afterAll = () => generator.next();
  return task;
}

exports.bench = (name, fn) => {
  const described =
    typeof name === "function"
      ? new Described(name.name || "anonymous", name)
      : new Described(name, fn);
  if (open === null) groups.push({ name: null, benchmarks: [described] });
  else open.benchmarks.push(described);
  return described;
};

exports.group = (name, define) => {
  const [label, fill] =
    typeof name === "function"
      ? [null, name]
      : [typeof name === "string" ? name : name?.name, define];
  return within({ name: label ?? "group", benchmarks: [] }, fill);
};

// A group within a named one belongs to it; plots have no name and may contain groups.
function within(group, fill) {
  const outer = open;
  if (outer !== null && outer.name !== null) return filled(fill());
  groups.push(group);
  open = group;
  const close = () => {
    open = outer;
  };
  const done = filled(fill());
  if (typeof done?.then === "function") return done.finally(close);
  close();
}

// The body of a group may be a function, an async one or a generator.
function filled(body) {
  if (typeof body?.next !== "function") return body;
  for (let step = body.next(); !step.done; step = body.next())
    if (typeof step.value?.then === "function") return finish(body, step);
}

async function finish(body, step) {
  while (!step.done) step = await body.next(await step.value);
}

const groupNamed = (name) => (fill) => within({ name, benchmarks: [] }, fill);

exports.summary = groupNamed("summary");
exports.boxplot = groupNamed(null);
exports.barplot = groupNamed(null);
exports.lineplot = groupNamed(null);
exports.compact = groupNamed(null);

exports.run = async (options = {}) => {
  const offered = [];
  for (const { name, benchmarks } of groups) {
    const tasks = benchmarks.flatMap((described) => described.tasks());
    const kept = tasks.filter(([label]) => !options.filter || options.filter.test(label));
    if (name === null) for (const task of kept) offered.push([task[0], new Map([task])]);
    else if (kept.length > 0) offered.push([kept.length === 1 ? kept[0][0] : name, new Map(kept)]);
  }
  groups = [];
  if (offered.length > 0) await script.offer(offered);
  return { context: {}, benchmarks: [] };
};

exports.do_not_optimize = (value) => value;
exports.measure = async () => ({ kind: "fn", avg: 0, min: 0, max: 0, p50: 0, p99: 0, samples: [] });
exports.flags = {};
exports.B = Described;
