/** Races of JavaScript functions: is B faster than A, by how much, how sure? */

/**
 * A function, or a module and its export: `"./file.js#parse"`, relative to the working folder, or
 * `"package#parse"`, found as by `import` in the calling file.
 */
export type Raced<F> = F | string | URL;

export interface RaceOptions<Input = unknown> extends Settings {
  /** The baseline. It gets the input as its only argument. */
  old: Raced<(input: Input) => unknown>;
  /** The candidate. */
  new: Raced<(input: Input) => unknown>;
  /** Makes the input from a seed, a whole number below 2⁵³. Its time is not measured. */
  input?: Raced<(seed: number) => Input>;
  /**
   * `true` makes an input for every call, which may change it; `false` gives all calls of a sample
   * one input. By default the calibration run checks whether a call changes its input.
   */
  inputPerCall?: boolean;
  /** `true` compares the outputs as `util.isDeepStrictEqual` does; a function says if they agree. */
  checkOutputs?: boolean | Raced<(old: unknown, candidate: unknown) => boolean>;
  /** The name of the benchmark. */
  name?: string;
  /** The names of the two functions, by default their own. */
  names?: [string, string];
}

/** Settings of a race. Times are seconds, or texts with a unit such as `"200ms"`. */
export interface Settings {
  /** The smallest change of time worth acting on: 0.01 (the default), or `"1%"`. */
  margin?: number | string;
  /** The accepted probability of a wrong verdict, above 0 and at most 0.5; 0.05 by default. */
  alpha?: number;
  /** The metric to judge: `"wall"` (the default), `"cpu"`, `"heap-bytes"`, `"gc-time"`. */
  metric?: string;
  /** Judge this quantile of single calls, above 0 and below 1, instead of their centre. */
  quantile?: number | string;
  /** The largest number of replicates; each is a fresh process. */
  maxReplicates?: number;
  /** Blocks in a replicate. The calibration run chooses them by default. */
  blocks?: number;
  /** Race the baseline against a copy of itself as well. */
  control?: boolean;
  /** Start no block after this time. */
  budget?: number | string;
  /** The shortest duration of a sample. The calibration run chooses it by default. */
  sampleTime?: number | string;
  /** Kill a worker whose sample takes longer; 60 by default. `"none"` waits for ever. */
  timeout?: number | string;
  /** Cores for the workers: `"auto"` (one per replicate, drawn), `"none"`, or numbers: `"2,3"`. */
  pin?: number | string;
  /** Scheduling delay: `"auto"` subtracts it unless the race caused it, `"keep"` does not. */
  waiting?: "auto" | "keep";
  /** The source of all random choices. Drawn by default. */
  seed?: number;
  /** Write a page with every plot, figure and warning to this file. */
  html?: string | URL;
  /** Write the verdicts to this file as JUnit test cases. */
  junit?: string | URL;
  /** Write summaries and all times to this file, in hyperfine's JSON format. */
  exportJson?: string | URL;
  /** Write the answer to this file, as a table of Markdown. */
  exportMarkdown?: string | URL;
}

export type Verdict = "faster" | "slower" | "equivalent" | "inconclusive";

/** One side of a race: times of a call in nanoseconds, and the number of its samples. */
export interface Side {
  name: string;
  typical: number | null;
  median: number;
  mean: number;
  min: number;
  max: number;
  stddev: number | null;
  samples: number;
}

/** A sample; times are nanoseconds of all its calls together. */
export interface Sample {
  benchmark: string;
  replicate: number;
  block: number;
  slot: number;
  contender: string;
  role: "baseline" | "candidate";
  /** The number of calls. */
  iterations: number;
  wall_ns: number;
  cpu_ns: number | null;
  flags: string;
  [metric: string]: string | number | null;
}

/** The answer of a race. */
export declare class Result {
  readonly name: string;
  /**
   * The verdict about the candidate: `"equivalent"` is a dead heat, `"inconclusive"` too close to
   * call. `null` if the data allow none.
   */
  readonly verdict: Verdict | null;
  /** Whether the verdict is provisional, as docs/glossary.md describes. */
  readonly provisional: boolean;
  /** The time of the candidate divided by that of the baseline, minus 1. */
  readonly change: number | null;
  /** The ends of the confidence interval of the change. */
  readonly interval: [number, number] | null;
  /** The smallest change worth acting on, a fraction. */
  readonly margin: number;
  /** The number of fresh processes that were compared. */
  readonly replicates: number | null;
  readonly baseline: Side;
  readonly candidate: Side;
  /** Doubts and notes, as sentences. */
  readonly warnings: string[];
  readonly samples: Sample[];
  /** Everything, as docs/formats.md describes it. */
  readonly json: unknown;
  /** Writes the run file, which `deadheat analyze` and `deadheat report` read. */
  save(file: string | URL): void;
  /** Writes a page with every plot, figure and warning. */
  page(file: string | URL): void;
  /** The answer as the program prints it. */
  toString(): string;
}

/**
 * Races two functions and resolves to the answer: is `new` faster than `old`?
 *
 * Rejects with `UsageError` if the arguments make no sense, with `RaceFailed` if a function fails or
 * a module does not export it, and with `ProgramNotFound` if the program `deadheat` is not installed.
 */
export declare function race<Input = unknown>(options: RaceOptions<Input>): Promise<Result>;

/** A benchmark of a suite: functions that do the same task, and their input. */
export interface Benchmark<Input = any> {
  /** The function, if the benchmark has only one. Give `run` or `contenders`, not both. */
  run?: (input: Input) => unknown;
  /** Several functions by name, or pairs of a name and a function; the first is the baseline. */
  contenders?: Record<string, (input: Input) => unknown> | [string, (input: Input) => unknown][];
  /** Makes the input from a seed, a whole number below 2⁵³. Its time is not measured. */
  input?: (seed: number) => Input;
  /** As for `race`. */
  inputPerCall?: boolean;
  /** As for `race`. */
  checkOutputs?: boolean | ((baseline: unknown, candidate: unknown) => boolean);
  /** The work of one call. */
  throughput?: { bytes: number } | { items: number };
}

/**
 * Ends a file of benchmarks, which `deadheat bench 'node FILE'` races. Never resolves: the process
 * ends with the race.
 */
export declare function suite(
  benchmarks: Record<string, Benchmark | (() => unknown)>,
): Promise<never>;

/** The arguments make no sense. */
export declare class UsageError extends Error {}
/** A function failed, or the race could not be run. */
export declare class RaceFailed extends Error {}
/** The program `deadheat` is not installed. */
export declare class ProgramNotFound extends Error {}
