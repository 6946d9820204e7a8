// The worker: answers what deadheat asks, as docs/protocol.md has it.

import { createRequire } from "node:module";

import { Session, failed, hello } from "./session.js";

export const VERSION = createRequire(import.meta.url)("../package.json").version;

/**
 * Serves a benchmark until deadheat has no more requests, and ends the process.
 *
 * @param {import("./channel.js").Channel} channel
 * @param {object[]} listed the benchmarks, as in the reply to `list`
 * @param {(name: string, prepared: object) => Promise<import("./benchmark.js").Benchmark | null>} find
 */
export async function serve(channel, listed, find) {
  channel.reply(...hello(VERSION));
  for (;;) {
    const [kind, asked] = channel.request();
    if (kind === "bye") return channel.end();
    if (kind === "list") {
      channel.reply("listed", { benchmarks: listed });
    } else if (kind === "prepare") {
      await new Session(channel, find).serve(asked);
      return channel.end();
    } else {
      channel.reply(...failed({ out_of_turn: {} }));
    }
  }
}
