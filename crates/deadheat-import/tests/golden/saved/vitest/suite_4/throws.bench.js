import { bench, describe } from 'vitest';

const options = { iterations: 8, time: 0, warmupIterations: 2, warmupTime: 0 };

describe('fails', () => {
  bench('throws', () => {
    throw new Error('no input');
  }, options);
});
