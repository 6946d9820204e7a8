// Runtimes other than Node, which this package refuses.

import process from "node:process";

const bun = process.versions.bun;
const deno = globalThis.Deno?.version.deno;
const other = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : null;

/** Why this runtime is refused; null in Node. */
export const refusal =
  other &&
  `deadheat calls functions in Node.js only, not in ${other}: run this with node, or race whole ` +
    "programs with 'deadheat run'";
