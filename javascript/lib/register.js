// `node --import deadheat/register FILE`: in a worker, scripts that import tinybench, mitata,
// bench-node or benchmark get stand-ins, which race their benchmarks. Otherwise it does nothing.

import Module from "node:module";
import { fileURLToPath } from "node:url";

import { claim } from "./channel.js";
import { Script } from "./script.js";

const STAND_INS = {
  tinybench: "tinybench.cjs",
  mitata: "mitata.cjs",
  "bench-node": "bench_node.cjs",
  benchmark: "benchmark_js.cjs",
};

const channel = claim();
if (channel !== null) {
  globalThis[Symbol.for("deadheat.script")] = new Script(channel);
  const files = Object.entries(STAND_INS).map(([name, file]) => [
    name,
    new URL(`./stand_ins/${file}`, import.meta.url).href,
  ]);
  const urls = Object.fromEntries(files);
  redirectImports(urls);
  redirectRequires(urls);
}

function redirectImports(urls) {
  if (Module.registerHooks) {
    Module.registerHooks({
      resolve: (specifier, context, next) =>
        Object.hasOwn(urls, specifier)
          ? { url: urls[specifier], format: "commonjs", shortCircuit: true }
          : next(specifier, context),
    });
  } else {
    Module.register("./resolve.js", import.meta.url, { data: urls });
  }
}

function redirectRequires(urls) {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (request, ...rest) =>
    Object.hasOwn(urls, request)
      ? fileURLToPath(urls[request])
      : resolve.call(Module, request, ...rest);
}
