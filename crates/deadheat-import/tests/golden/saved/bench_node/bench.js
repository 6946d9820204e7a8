const { Suite, jsonReport, csvReport } = require('bench-node');

const extra = Number(process.env.EXTRA ?? 0);
const suite = new Suite({
  reporter: process.env.CSV ? csvReport : jsonReport,
  benchmarkMode: process.env.MODE ?? 'ops',
});
const options = { minTime: 0.01, maxTime: 0.05 };

function mix(rounds) {
  let hash = 7;
  for (let i = 0; i < rounds; i++) hash = (Math.imul(hash, 31) + i) | 0;
  return hash;
}

suite
  .add('mix', options, () => mix(1e5 + extra))
  .add('mix, long', options, () => mix(2e7 + extra))
  .add('join', options, () => ['a', 'b', 'c'].join('-'))
  .run();
