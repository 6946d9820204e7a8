// Functions on their way to a worker: by module and export, or as source.

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

/** The function; the counterpart of `packed`. */
export async function unpacked(sent, folder) {
  if (sent.source !== undefined) return evaluated(sent.source, sent.key);
  const { createRequire } = await import("node:module");
  const isUrl = /^(file|data|node):/.test(sent.module);
  const from = createRequire(path.join(folder, "package.json"));
  const url = isUrl ? sent.module : pathToFileURL(from.resolve(sent.module)).href;
  const module = await import(url);
  const found = module[sent.export] ?? module.default?.[sent.export];
  if (typeof found !== "function") {
    const where =
      isUrl && sent.module.startsWith("file:") ? fileURLToPath(sent.module) : sent.module;
    throw new UsageError(`${where} exports no function '${sent.export}'`);
  }
  return found;
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
