// The settings of `race`, and their translation into options of the program.

import { fileURLToPath } from "node:url";

import { UsageError } from "./errors.js";

const isNumberOrText = (value) => typeof value === "number" || typeof value === "string";
const isTime = (value) =>
  typeof value === "string" || (typeof value === "number" && value > 0 && value < 1e8);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isFlag = (value) => typeof value === "boolean";
const isFile = (value) => typeof value === "string" || value instanceof URL;

const KINDS = {
  count: [isCount, "a whole number that is not negative"],
  file: [isFile, "a path"],
  flag: [isFlag, "true or false"],
  number: [isNumberOrText, "a number or a text"],
  time: [isTime, "a number of seconds above 0, or a text with a unit"],
};

// index.d.ts says what they mean.
const SETTINGS = {
  margin: "number",
  alpha: "number",
  metric: "number",
  quantile: "number",
  maxReplicates: "count",
  blocks: "count",
  control: "flag",
  budget: "time",
  sampleTime: "time",
  timeout: "time",
  pin: "number",
  waiting: "number",
  seed: "count",
  html: "file",
  junit: "file",
  exportJson: "file",
  exportMarkdown: "file",
};

const ARGUMENTS = ["old", "new", "input", "inputPerCall", "checkOutputs", "name", "names"];

/** Splits the argument of `race` into what it races and options of the program. */
export function options(given) {
  const words = [];
  for (const [name, value] of Object.entries(given)) {
    if (ARGUMENTS.includes(name) || value === undefined) continue;
    const kind = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : null;
    if (kind === null) throw new UsageError(`race() has no setting '${name}'${advice(name)}`);
    const [isSound, wanted] = KINDS[kind];
    if (!isSound(value)) throw new UsageError(`${name} must be ${wanted}, not ${String(value)}`);
    const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) words.push(option);
    else if (value instanceof URL) words.push(`${option}=${fileURLToPath(value)}`);
    else if (kind === "time" && typeof value === "number") words.push(`${option}=${value}s`);
    else if (value !== false) words.push(`${option}=${value}`);
  }
  return words;
}

function advice(name) {
  const known = [...Object.keys(SETTINGS), ...ARGUMENTS];
  const wanted = name.toLowerCase().replaceAll(/[-_]/g, "");
  const alike =
    known.find((one) => one.toLowerCase() === wanted) ??
    known.find((one) => distance(one, name) <= 2);
  return alike === undefined ? "" : `; did you mean '${alike}'?`;
}

/** The number of letters to insert, delete or replace (Levenshtein). */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (other[j] === letter ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
}

const camel = (option) => option.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());

/**
 * Replaces options in a message of the program by settings: `--max-replicates` becomes
 * `maxReplicates`. Keeps other options.
 */
export function inJavaScriptWords(text) {
  const withoutResume = text.replace(
    /,?\s+or\s+continue\s+with\s+deadheat\s+bench\s+--resume\s+FILE/g,
    "",
  );
  const withValues = withoutResume.replace(/--(metric|pin) ([a-z-]+)(?![a-z])/g, "$1: '$2'");
  return withValues.replace(/--([a-z][a-z-]*[a-z])(?![a-z-])/g, (option, name) =>
    Object.hasOwn(SETTINGS, camel(name)) ? camel(name) : option,
  );
}
