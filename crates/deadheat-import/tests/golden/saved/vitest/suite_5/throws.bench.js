import { test } from 'vitest';

const options = { iterations: 8, time: 0, warmupIterations: 2, warmupTime: 0 };

test('fails', async ({ bench }) => {
  await bench('throws', () => {
    throw new Error('no input');
  }).run(options);
});
