// The worker: answers what deadheat asks, as docs/protocol.md has it.

import { createRequire } from "node:module";

import { Session, failed, hello } from "./session.js";

export const VERSION = createRequire(import.meta.url)("../package.json").version;

/** Serves benchmarks until deadheat has no more requests, and ends the process. */
export async function serve(channel, benchmarks) {
  channel.reply(...hello(VERSION));
  for (;;) {
    const [kind, asked] = channel.request();
    if (kind === "bye") return channel.end();
    if (kind === "list") {
      const listed = [...benchmarks.values()].map((benchmark) => benchmark.listed());
      channel.reply("listed", { benchmarks: listed });
      continue;
    }
    if (kind === "prepare") {
      const find = async (name) => benchmarks.get(name) ?? null;
      await new Session(channel, find).serve(asked);
      return channel.end();
    }
    channel.reply(...failed({ out_of_turn: {} }));
  }
}
