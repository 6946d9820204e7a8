import { describe, expect, test } from 'vitest';

const extra = Number(process.env.EXTRA ?? 0);
const options = { iterations: 8, time: 0, warmupIterations: 2, warmupTime: 0 };

function mix(rounds) {
  let hash = 7;
  for (let i = 0; i < rounds; i++) hash = (Math.imul(hash, 31) + i) | 0;
  return hash;
}

test('mix', async ({ bench }) => {
  await bench('mix', () => mix(1e6 + extra)).run(options);
});
describe('words', () => {
  test('long', async ({ bench }) => {
    const found = await bench.compare(
      bench('join', () => Array.from({ length: 1e4 }, (_, i) => i).join()),
      bench('repeat', () => 'words '.repeat(1e5 + extra).length),
      options,
    );
    expect(found.get('join').latency.mean).toBeGreaterThan(0);
  });
});
