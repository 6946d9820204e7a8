import { bench, describe } from 'vitest';

const extra = Number(process.env.EXTRA ?? 0);
const options = { iterations: 8, time: 0, warmupIterations: 2, warmupTime: 0 };

function mix(rounds) {
  let hash = 7;
  for (let i = 0; i < rounds; i++) hash = (Math.imul(hash, 31) + i) | 0;
  return hash;
}

bench('mix', () => void mix(1e6 + extra), options);
describe('words', () => {
  describe('long', () => {
    bench('join', () => void Array.from({ length: 1e4 }, (_, i) => i).join(), options);
    bench('repeat', () => void 'words '.repeat(1e5 + extra).length, options);
  });
});
