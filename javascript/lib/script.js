// Scripts written for another library, whose stand-in offers the benchmarks at the place where that
// library would have run them.

import process from "node:process";

import { Benchmark } from "./benchmark.js";
import { Refused } from "./errors.js";
import { UniqueNames } from "./names.js";
import { Session, described, endUnlisted, failed, hello } from "./session.js";
import { VERSION } from "./worker.js";

/** The worker of a script. */
export class Script {
  #channel;
  #pending = null;
  #listed = [];
  #names = new UniqueNames();
  #error = null;

  /** @param {import("./channel.js").Channel} channel */
  constructor(channel) {
    this.#channel = channel;
    channel.reply(...hello(VERSION));
    process.on("uncaughtExceptionMonitor", (error) => {
      this.#error ??= described(error);
    });
    process.on("exit", () => this.#end());
  }

  /** Fails a benchmark whose times would be misleading. The reason continues after its name. */
  refuse(reason) {
    throw new Refused(reason);
  }

  /**
   * Lists the benchmarks, or serves the requested one if it is among them and ends the process.
   *
   * @param {[string, [string, import("./benchmark.js").Task][]][]} described names and contenders
   */
  async offer(described) {
    await this.offerBenchmarks(described.map(([name, tasks]) => Benchmark.ofTasks(name, tasks)));
  }

  /** @param {Benchmark[]} benchmarks */
  async offerBenchmarks(benchmarks) {
    for (const benchmark of benchmarks) benchmark.rename(this.#names);
    // While one suite is served, others of the script wait; the process ends after it.
    if (this.#pending?.[0] === "served") return new Promise(() => {});
    this.#pending ??= this.#channel.request();
    const [kind, asked] = this.#pending;
    if (kind === "bye") this.#channel.end();
    if (kind === "list") {
      this.#listed.push(...benchmarks.map((benchmark) => benchmark.listed()));
      return;
    }
    const found = benchmarks.find((benchmark) => benchmark.name === asked.benchmark);
    if (kind !== "prepare" || found === undefined) return;
    this.#pending = ["served", {}];
    await new Session(this.#channel, async () => found).serve(asked);
    this.#channel.end();
  }

  // The script has ended without the requested benchmark, or was only listed.
  #end() {
    const [kind] = this.#pending ?? this.#channel.request();
    if (kind === "bye" || kind === "served") return;
    if (this.#error !== null && kind === "list") endUnlisted(this.#error);
    if (this.#error !== null) {
      this.#channel.reply(...failed({ panicked: this.#error }));
    } else if (kind === "list") {
      this.#channel.reply("listed", { benchmarks: this.#listed });
      this.#channel.request();
    } else {
      const problem = kind === "prepare" ? { unknown: {} } : { out_of_turn: {} };
      this.#channel.reply(...failed(problem));
    }
  }
}
