// Compiled only: what TypeScript must accept and refuse.
import { Result, type Verdict, race, suite } from "deadheat";

const result: Result = await race({
  old: (words: string[]) => words.length,
  new: (words) => words.map((word) => word.length),
  input: (seed) => [String(seed)],
  margin: "2%",
  budget: 5,
});
const verdict: Verdict | null = result.verdict;
const first: number = result.samples[0].wall_ns;
console.log(verdict, first);

// @ts-expect-error: race() does not have this setting.
await race({ old: () => 1, new: () => 2, margn: 1 });
// @ts-expect-error: `old` is missing.
await race({ new: () => 2 });

await suite({
  plain: () => 1,
  sum: {
    input: (seed) => [seed],
    contenders: { a: (xs: number[]) => xs[0], b: (xs: number[]) => xs.at(0) },
  },
});
