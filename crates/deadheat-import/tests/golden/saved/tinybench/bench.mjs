import { writeFileSync } from 'node:fs';
import { Bench } from 'tinybench';

const extra = Number(process.env.EXTRA ?? 0);
const options = { iterations: 8, time: 0, warmup: false, warmupIterations: 2, warmupTime: 0 };
const bench = new Bench({ ...options, retainSamples: !process.env.SUMMARY });

function mix(rounds) {
  let hash = 7;
  for (let i = 0; i < rounds; i++) hash = (Math.imul(hash, 31) + i) | 0;
  return hash;
}

bench.add('mix', () => mix(1e6 + extra));
bench.add('fill, then join', () => Array.from({ length: 1e4 }, (_, i) => i).join());
if (!process.env.WHOLE) {
  bench.add('throws', () => {
    throw new Error('no input');
  });
}
await bench.run();

const save = (name, value) => {
  writeFileSync(`${process.argv[2]}_${name}.json`, `${JSON.stringify(value, null, 1)}\n`);
};
save('results', bench.tasks.map((task) => ({ name: task.name, ...task.result })));
save('tasks', bench.tasks.map((task) => ({ name: task.name, runs: task.runs, result: task.result })));
save('unnamed', bench.results);
try {
  save('table', bench.table());
} catch (error) {
  console.error(error.message);
}
