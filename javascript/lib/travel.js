// Functions on their way to a worker: by module and export, or as source.

import Module from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { refuseGenerator } from "./benchmark.js";
import { UsageError } from "./errors.js";

/**
 * What a worker needs to have this function.
 *
 * @param {Function | string | URL} fn a function, or `"./file.js#export"`
 * @param {string} role its name in messages
 * @returns {{ source: string, key: string | null } | { module: string, export: string }}
 */
export function packed(fn, role) {
  if (typeof fn === "string" || fn instanceof URL) return byExport(String(fn), role);
  if (typeof fn !== "function") {
    throw new UsageError(`${role} must be a function or "./file.js#export", not ${String(fn)}`);
  }
  refuseGenerator(role, fn);
  const source = Function.prototype.toString.call(fn);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(source)) {
    throw new UsageError(
      `${role} is a bound or built-in function, which has no source: wrap it, as x => f(x)`,
    );
  }
  if (/^class\b/.test(source))
    throw new UsageError(`${role} is a class: wrap it, as x => new ${fn.name || "C"}(x)`);
  const key = isExpression(source) ? null : fn.name;
  if (key !== null && !isExpression(asMethod(source))) {
    throw new UsageError(
      `the source of ${role} cannot be read: export it from a module, "./file.js#${fn.name}"`,
    );
  }
  return { source, key };
}

function byExport(text, role) {
  const hash = text.lastIndexOf("#");
  if (hash <= 0 || hash === text.length - 1) {
    throw new UsageError(
      `${role} must name a module and its export, as "./file.js#parse", not '${text}'`,
    );
  }
  const [module, name] = [text.slice(0, hash), text.slice(hash + 1)];
  if (/^(file|data|node):/.test(module)) return { module, export: name };
  const isFile = /^[./]/.test(module);
  return { module: isFile ? pathToFileURL(path.resolve(module)).href : module, export: name };
}

/** The function; the counterpart of `packed`. Packages are found as by `import` in the file `caller`. */
export async function unpacked(sent, caller) {
  if (sent.source !== undefined) return evaluated(sent.source, sent.key);
  const module = await importFrom(caller, sent.module);
  const found = module[sent.export] ?? module.default?.[sent.export];
  if (typeof found !== "function") {
    const where = sent.module.startsWith("file:") ? fileURLToPath(sent.module) : sent.module;
    throw new UsageError(`${where} exports no function '${sent.export}'`);
  }
  return found;
}

function importFrom(url, specifier) {
  const module = new Module(fileURLToPath(new URL("deadheat.cjs", url)));
  module._compile("module.exports = (specifier) => import(specifier);", module.id);
  return module.exports(specifier);
}

/** The URL of the file whose code calls this package, or of one in the working folder. */
export function callingFile() {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, places) => places.map((place) => place.getFileName() ?? "");
  const files = new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  const own = new URL(".", import.meta.url).href;
  const urls = files.map((file) => (path.isAbsolute(file) ? pathToFileURL(file).href : file));
  const calling = urls.find((url) => url.startsWith("file:") && !url.startsWith(own));
  return calling ?? pathToFileURL(path.resolve("index.js")).href;
}

function evaluated(source, key) {
  const value = new Function(
    `"use strict"; return (${key === null ? source : asMethod(source)});`,
  )();
  return key === null ? value : value[key];
}

// The source of a method, `parse(x) { … }`, is an expression only within an object.
function asMethod(source) {
  return `{ ${source} }`;
}

function isExpression(source) {
  try {
    new Function(`"use strict"; return (${source});`);
    return true;
  } catch {
    return false;
  }
}
