// The page docs/validation/javascript.md, from the records of measure.mjs.

const count = (rows, verdict) => rows.filter((row) => row.verdict === verdict).length;
const called = (rows) => count(rows, "faster") + count(rows, "slower");
const median = (values) => values.toSorted((one, other) => one - other)[values.length >> 1];

/** The upper end of the exact 95% interval of a share (Clopper and Pearson). */
function upper(successes, of) {
  if (successes === of) return 1;
  const tail = (share) => {
    let sum = 0;
    let term = (1 - share) ** of;
    for (let i = 0; i <= successes; i++) {
      sum += term;
      term *= ((of - i) / (i + 1)) * (share / (1 - share));
    }
    return sum;
  };
  let [low, high] = [successes / of, 1];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (tail(middle) > 0.025) low = middle;
    else high = middle;
  }
  return high;
}

const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
const most = (number, of) => percent(upper(number, of));

function time(ns) {
  if (ns < 1e3) return `${ns.toPrecision(3)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toPrecision(3)} µs`;
  return `${(ns / 1e6).toPrecision(3)} ms`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function perFunction(records) {
  const names = [...new Set(records.map((one) => one.name))];
  const rows = names.map((name) => {
    const own = records.filter((one) => one.name === name);
    const width = median(own.filter((one) => one.ci).map((one) => (one.ci[1] - one.ci[0]) / 2));
    const verdicts = [called(own), count(own, "equivalent"), count(own, "inconclusive")];
    return [name, time(own[0].ns), own.length, ...verdicts, `±${(100 * width).toFixed(2)}%`];
  });
  const head = ["function", "a call", "races", "called", "dead heats", "open", "median interval"];
  return table(head, rows);
}

function suites(records) {
  const rows = records.map((one) => {
    const verdicts = [
      called(one.rows),
      count(one.rows, "equivalent"),
      count(one.rows, "inconclusive"),
    ];
    const range = one.what === "itself" ? `${one.new} and itself` : `${one.old} → ${one.new}`;
    return [
      one.suite,
      range,
      one.rows.length,
      ...verdicts,
      `${(one.seconds / one.rows.length).toFixed(1)} s`,
    ];
  });
  return table(["suite", "sides", "rows", "called", "dead heats", "open", "a row"], rows);
}

function ofPeers(records, copies) {
  if (records.length === 0) return "";
  const names = {
    tinybench: "tinybench",
    mitata: "mitata",
    processes: "processes in turns, t test",
  };
  const rows = Object.entries(names).map(([peer, name]) => {
    const own = records.filter((one) => one.peer === peer);
    const seconds = own.length > 0 ? median(own.map((one) => one.race_seconds)).toFixed(1) : "–";
    return [name, `${own.filter((one) => one.called).length} of ${own.length}`, `${seconds} s`];
  });
  const seconds = median(copies.map((one) => one.race_seconds)).toFixed(1);
  rows.unshift(["deadheat", `${called(copies)} of ${copies.length}`, `${seconds} s`]);
  const found = table(["by", "copies called different", "a function"], rows);
  return `## The same copies by other tools

\`validation/javascript/peers.mjs\` has a rule for each of the other tools, by which the tool calls two copies different:

- *tinybench*, which \`vitest bench\` uses: the two intervals do not overlap.
- *mitata*: the ratio of the two times is 1.01 or more.
- *processes in turns, t test*: ten processes of each side take turns, and Welch's t test at 5% finds a difference.

The column *a function* has the median time that the tool takes for a function and its copy.

${found}

`;
}

export function page(records) {
  const of = (kind) => records.filter((one) => one.kind === kind);
  const [copies, more, raced] = [of("copies"), of("more"), of("suite")];
  const about = [...new Set(records.map((one) => `Node ${one.node}, ${one.cpu}`))].join("; ");
  const dates = records.map((one) => one.date).sort();
  const found = count(more, "slower");
  return `# Races of JavaScript

This page has three kinds of races. Ten functions race against copies of themselves. Seven of these functions race against versions with one percent more work. Public suites race unchanged, between a tag and itself and between two tags. We measured from ${dates[0]} to ${dates.at(-1)} on two cores
(${about}), with ten seconds for each benchmark. The raw data are in \`validation/data/javascript.jsonl\`; \`just validate-javascript\` measures and writes this page.

The columns of the tables are:

- *a call*: the typical time of a call of the baseline.
- *called*: verdicts of *faster* or *slower*.
- *open*: verdicts of *too close to call*.
- *median interval*: half the width of the interval, median over the races.

## Copies

A function and its copy do the same work, so every verdict of *faster* or *slower* is wrong. deadheat gave such a verdict in ${called(copies)} of ${copies.length} races. The upper end of the 95% interval for this share is ${most(called(copies), copies.length)}; the target for the share is at most 5%. ${count(copies, "equivalent")} of ${copies.length} verdicts are dead heats. A race took ${median(copies.map((one) => one.race_seconds)).toFixed(1)} s (median).

${perFunction(copies)}

${ofPeers(of("peer"), copies)}## One percent more work

The candidate repeats its task 101 times, and the baseline 100 times, so *slower* is the right verdict. The target is that 90% of the races say *slower*, within a median of 3 s. ${found} of ${more.length} races say *slower*. **The target is missed**, because replicates of V8 scatter by 0.5 to 2%, and a replicate costs 0.4 s. Of these 0.4 s, Node needs 0.1 s to start.

${perFunction(more)}

## Public suites

\`deadheat rev\` raced each suite without a change to its files, between a tag and itself and between two tags. The column *a row* has the time of the race, divided by the number of rows. A row that had too little time for six replicates has no verdict.

${suites(raced)}

## What was tried

| design | effect |
| --- | --- |
| all garbage collected before each block | a loop of 44 ns scattered by 1 to 8% between processes instead of 0.04%; dropped |
| long samples of up to 20 ms that contain collections | one block per replicate, intervals of ±2 to ±10%; dropped |
| young garbage collected before each sample | blocks of a function that fills a Map scatter by 8% instead of 16%; kept |
| V8's own threads off (\`--single-threaded\`) | disturbed blocks of functions that make garbage: 0 to 20% instead of 100%; kept |
| eight loops per contender that take turns | interval of a function with unpredictable calls ±1.4% instead of ±4%, measured while V8 still shared code between some of the loops; kept |
| loops of unlike text | V8 shares code and type feedback between functions of equal text, so both contenders were called at one place; kept |
| a new loop for each block | code that is not settled: intervals of ±5 to ±10%; dropped |
| loops compiled in a drawn order | with a fixed order, a copy was called 1.1% faster than its original in 5 of 6 races; with a drawn one in 0 of 8; kept |
`;
}
