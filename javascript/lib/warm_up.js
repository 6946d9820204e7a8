// The warm-up: V8 interprets a function first and compiles it in up to three steps. How many calls
// that takes differs by function, so the warm-up looks at the times.

import { performance } from "node:perf_hooks";

// Milliseconds that a round of one contender takes, if its calls are shorter.
const ROUND_MS = 2;
// Milliseconds of a warm-up: at least, and at most.
const LEAST_MS = 60;
const MOST_MS = 1_500;
// The warm-up ends when the later half of its rounds is less than this share faster than the
// earlier half.
const GAIN = 0.01;
const LEAST_ROUNDS = 3;
// Calls from this length on are not called again for the warm-up alone.
const LONG_MS = 100;

/**
 * Calls the contenders in this order, round by round, until they get no faster. Returns the number
 * of rounds, and for each contender the calls that fill ROUND_MS.
 *
 * @param {number[]} order
 * @param {(contender: number, calls: number) => Promise<number>} sample returns nanoseconds
 * @param {() => number} most the most calls of a sample; asked again after the first calls
 */
export async function warmUp(order, sample, calls = new Map(), most = () => 1e7) {
  const times = new Map(order.map((contender) => [contender, []]));
  const began = performance.now();
  for (let rounds = 1; ; rounds++) {
    for (const contender of order) {
      const now = Math.min(calls.get(contender) ?? 1, most());
      const took = (await sample(contender, now)) / 1e6;
      times.get(contender).push(took / now);
      if (took < ROUND_MS / 2) calls.set(contender, Math.min(2 * now, most()));
      else calls.set(contender, Math.max(1, Math.round((now * ROUND_MS) / took)));
    }
    const elapsed = (performance.now() - began) / order.length;
    const series = [...times.values()];
    const isLong = series.every((one) => Math.min(...one) >= LONG_MS);
    const isEnough = isLong || (elapsed >= LEAST_MS && rounds >= LEAST_ROUNDS);
    if (elapsed >= MOST_MS || (isEnough && series.every(isSettled))) return { rounds, calls };
  }
}

function isSettled(times) {
  if (times.length < 2) return times.length === 1;
  const half = times.length >> 1;
  const best = (part) => part.reduce((least, time) => Math.min(least, time));
  return best(times.slice(half)) > (1 - GAIN) * best(times.slice(0, half));
}
