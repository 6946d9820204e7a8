// Runtimes that this package refuses: others than Node, and old versions of Node.

import process from "node:process";

// The first Node with `import.meta.dirname`; it is also in package.json.
const OLDEST = "20.11";

const { bun, node } = process.versions;
const deno = globalThis.Deno?.version.deno;
const other = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : null;

/** Why this runtime is refused; null if it is not. */
export const refusal =
  other === null
    ? tooOld("deadheat", OLDEST)
    : `deadheat calls functions in Node.js only, not in ${other}: run this with node, or race whole ` +
      "programs with 'deadheat run'";

/** What to say if this Node is older than the oldest one that `what` runs on, otherwise null. */
export function tooOld(what, oldest) {
  const [major, minor] = node.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldest.split(".").map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return null;
  return `${what} needs Node ${oldest} or later, and this is Node ${node}: update Node`;
}
