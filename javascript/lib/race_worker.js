// The worker of `race`: node race_worker.js FILE, where FILE is what race.js wrote.

import fs from "node:fs";
import process from "node:process";

import { Benchmark } from "./benchmark.js";
import { claim } from "./channel.js";
import { inDrawnOrder } from "./session.js";
import { unpacked } from "./travel.js";
import { serve } from "./worker.js";

const channel = claim();
const sent = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
// Pairs, because an object puts names such as "100" in an order of its own.
const sources = new Map(sent.contenders);
const names = [...sources.keys()];
await serve(channel, [{ name: sent.name, contenders: names }], load);

async function load(_name, { heap_bytes: drawn }) {
  const input = sent.input ? await unpacked(sent.input, sent.caller) : undefined;
  const found = new Map();
  for (const name of inDrawnOrder(names, drawn)) {
    found.set(name, await unpacked(sources.get(name), sent.caller));
  }
  const check = sent.checkOutputs;
  const checkOutputs = typeof check === "object" ? await unpacked(check, sent.caller) : check;
  const contenders = names.map((name) => [name, found.get(name)]);
  const { inputPerCall } = sent;
  return new Benchmark(sent.name, { contenders, input, inputPerCall, checkOutputs });
}
