import { bench, group, run } from 'mitata';

// Long calls: mitata calls a function for 0.6 s, and at least twelve times.
const extra = Number(process.env.EXTRA ?? 0);

function mix(rounds) {
  let hash = 7;
  for (let i = 0; i < rounds; i++) hash = (Math.imul(hash, 31) + i) | 0;
  return hash;
}

bench('mix', () => mix(50e6 + extra));
// Releases before 1.0.12 have groups without names.
const named = process.env.UNNAMED ? [] : ['sized'];
group(...named, () => {
  bench('mix $millions', function* (state) {
    const rounds = state.get('millions') * 1e6;
    yield () => mix(rounds + extra);
  }).args('millions', [50, 60]);
  bench('fill', function* (state) {
    const length = state.get('millions') * 1e4;
    yield () => Array.from({ length }, (_, i) => [i]);
  }).args('millions', [10, 12]);
});
bench('throws', () => {
  throw new Error('no input');
});

const samples = !process.env.SUMMARY;
await run({ format: samples ? 'json' : { json: { samples, debug: false } } });
