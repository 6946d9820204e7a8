// The answer of a race.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import { RaceFailed } from "./errors.js";
import { runAtOnce } from "./program.js";
import { inJavaScriptWords } from "./settings.js";

// The columns of the table of samples that hold texts.
const TEXTS = new Set(["benchmark", "contender", "role", "flags"]);

export class Result {
  #table;
  #samples = null;
  #record;
  #text = null;

  constructor(answer, table, record) {
    const told = answer.benchmarks[0];
    if (told === undefined)
      throw new RaceFailed("the race ended before there was anything to judge");
    this.json = answer;
    this.name = told.benchmark;
    this.verdict = told.verdict;
    this.provisional = told.provisional;
    this.change = told.change;
    this.interval = told.ci;
    this.margin = told.margin;
    this.replicates = told.replicates;
    this.baseline = told.baseline;
    this.candidate = told.candidate;
    this.warnings = told.warnings.map((warning) => inJavaScriptWords(warning.message));
    this.#table = table;
    this.#record = record;
  }

  /** Every sample, an object by the columns of tidy CSV. */
  get samples() {
    this.#samples ??= rowsOf(this.#table);
    return this.#samples;
  }

  /** Writes the run file, which `deadheat analyze` and `deadheat report` read. */
  save(file) {
    fs.writeFileSync(file, this.#record);
  }

  /** Writes a page with every plot, figure and warning: one file, nothing loaded. */
  page(file) {
    const written = file instanceof URL ? fileURLToPath(file) : path.resolve(file);
    this.#analyze([`--html=${written}`]);
  }

  /** The answer as the program prints it. */
  toString() {
    this.#text ??= this.#analyze([]).trim();
    return this.#text;
  }

  [inspect.custom]() {
    return this.toString();
  }

  #analyze(words) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "deadheat-"));
    try {
      const file = path.join(folder, "race.jsonl");
      this.save(file);
      const told = runAtOnce(["analyze", file, "--no-config", "--color=never", ...words]);
      const lines = told.split("\n").filter((line) => !line.includes(folder));
      return inJavaScriptWords(lines.join("\n"));
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  }
}

function rowsOf(table) {
  const [head, ...rows] = cellsOf(table);
  const read = (name, cell) => (TEXTS.has(name) ? cell : cell === "" ? null : Number(cell));
  return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, read(name, row[at])])));
}

/** The cells of a CSV file, row by row (RFC 4180). */
function cellsOf(table) {
  const rows = [];
  let row = [];
  for (const [, quotedCell, plain, end] of table.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\n\r]*))(,|\r?\n|$)/g,
  )) {
    if (end === "" && quotedCell === undefined && plain === "" && row.length === 0) break;
    row.push(quotedCell === undefined ? plain : quotedCell.replaceAll('""', '"'));
    if (end !== ",") {
      rows.push(row);
      row = [];
    }
    if (end === "") break;
  }
  return rows;
}
