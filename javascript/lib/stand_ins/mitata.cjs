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
    this.isBaseline = false;
  }

  baseline(is = true) {
    this.isBaseline = is;
    return this;
  }

  name(label) {
    this.label = label;
    return this;
  }

  args(name, values) {
    const given =
      name === null || Array.isArray(name) ? { x: name } : typeof name === "object" ? name : null;
    for (const [key, list] of Object.entries(given ?? { [name]: values })) {
      if (list == null) this.axes.delete(key);
      else this.axes.set(key, list);
    }
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

  /** Every combination of the arguments. */
  combinations() {
    let combinations = [{}];
    for (const [name, values] of this.axes) {
      combinations = combinations.flatMap((one) =>
        values.map((value) => ({ ...one, [name]: value })),
      );
    }
    return combinations;
  }

  /** A name and a task for every combination. */
  tasks() {
    return this.combinations().map((args) => [labelOf(this.label, args), taskOf(this.fn, args)]);
  }

  /** What scripts read of a benchmark that this process did not measure. */
  unmeasured() {
    const names = "avg min max p25 p50 p75 p99 p999 ticks".split(" ");
    const stats = {
      ...Object.fromEntries(names.map((name) => [name, 0])),
      kind: "fn",
      samples: [],
    };
    const runs = this.combinations().map((args) => ({
      name: labelOf(this.label, args),
      args,
      stats,
    }));
    const { label: alias, isBaseline: baseline } = this;
    return { alias, baseline, args: Object.fromEntries(this.axes), kind: "static", runs };
  }
}

// What only changes the output of mitata, or how long it measures.
for (const word of ["gc", "compact", "highlight"]) {
  Described.prototype[word] = function () {
    return this;
  };
}

function labelOf(label, values) {
  const named = label.replaceAll(/\$(\w+)/g, (all, name) =>
    name in values ? String(values[name]) : all,
  );
  const others = Object.keys(values).filter((name) => !label.includes(`$${name}`));
  if (others.length === 0) return named;
  return `${named} [${others.map((name) => `${name}=${values[name]}`).join(", ")}]`;
}

function taskOf(fn, values) {
  const isGenerator = fn instanceof GeneratorFunction || fn instanceof AsyncGeneratorFunction;
  const refuse = () =>
    script.refuse("times its calls itself: yield a function from a generator function instead");
  if (!isGenerator) return fn.length === 0 ? { fn } : { beforeAll: refuse };
  const task = {};
  let generator;
  // The arguments that the benchmark computes for each call.
  let makers = [];
  task.beforeAll = async () => {
    generator = fn({ get: (name) => values[name] });
    const { value } = await generator.next();
    const run = typeof value === "function" ? value : value?.bench;
    if (typeof run !== "function") refuse();
    makers = Object.keys(value)
      .filter((key) => /^\d+$/.test(key))
      .map((key) => value[key]);
    task.fn = makers.length > 0 ? (given) => run(...given) : run;
    if (makers.length > 0) task.input = () => makers.map((make) => make());
  };
  task.afterAll = () => generator.next();
  return task;
}

exports.bench = bench;
exports.baseline = (name, fn) => bench(name, fn).baseline();

function bench(name, fn) {
  const described =
    typeof name === "function"
      ? new Described(name.name || "anonymous", name)
      : new Described(name, fn);
  if (open === null) groups.push({ name: null, benchmarks: [described] });
  else open.benchmarks.push(described);
  return described;
}

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
  const all = [];
  for (const { name, benchmarks } of groups) {
    const wanted = benchmarks.filter(({ label }) => !options.filter || options.filter.test(label));
    all.push(...wanted);
    // The first contender is the baseline.
    const sorted = wanted.toSorted((one, other) => other.isBaseline - one.isBaseline);
    const kept = sorted.flatMap((described) => described.tasks());
    if (name === null) for (const task of kept) offered.push([task[0], [task]]);
    else if (kept.length > 0) offered.push([kept.length === 1 ? kept[0][0] : name, kept]);
  }
  groups = [];
  if (offered.length > 0) await script.offer(offered);
  const benchmarks = all.map((described) => described.unmeasured());
  return { context: {}, layout: [], benchmarks };
};

// A store that others can see, so V8 cannot remove what computes the value.
exports.$ = { _: null };
exports.do_not_optimize = (value) => {
  exports.$._ = value;
};
exports.measure = async () => ({ kind: "fn", avg: 0, min: 0, max: 0, p50: 0, p99: 0, samples: [] });
exports.flags = {};
exports.B = Described;
