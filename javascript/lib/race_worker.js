// The worker of `race`: node race_worker.js FILE, where FILE is what race.js wrote.

import fs from "node:fs";
import process from "node:process";

import { Benchmark } from "./benchmark.js";
import { claim } from "./channel.js";
import { Session, failed, hello } from "./session.js";
import { unpacked } from "./travel.js";
import { VERSION } from "./worker.js";

const channel = claim();
const sent = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
// Pairs, because an object puts names such as "100" in an order of its own.
const sources = new Map(sent.contenders);
const names = [...sources.keys()];

channel.reply(...hello(VERSION));
for (;;) {
  const [kind, asked] = channel.request();
  if (kind === "bye") channel.end();
  if (kind === "list") {
    channel.reply("listed", { benchmarks: [{ name: sent.name, contenders: names }] });
  } else if (kind === "prepare") {
    await new Session(channel, load).serve(asked);
    channel.end();
  } else {
    channel.reply(...failed({ out_of_turn: {} }));
  }
}

// In a drawn order: a module that is loaded second finds other places of the heap free.
async function load(_name, { heap_bytes: drawn }) {
  const input = sent.input ? await unpacked(sent.input, sent.folder) : undefined;
  const found = new Map();
  for (const name of drawn % 2 ? names.toReversed() : names) {
    found.set(name, await unpacked(sources.get(name), sent.folder));
  }
  const check = sent.checkOutputs;
  const checkOutputs = typeof check === "object" ? await unpacked(check, sent.folder) : check;
  const contenders = names.map((name) => [name, found.get(name)]);
  const { inputPerCall } = sent;
  return new Benchmark(sent.name, { contenders, input, inputPerCall, checkOutputs });
}
