#!/usr/bin/env node
// `npx deadheat …`: the program, with this process in front.

import { spawn } from "node:child_process";
import process from "node:process";

import { findProgram } from "../lib/program.js";

let program;
try {
  program = findProgram();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends these to both processes; other senders only to this one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: ${program} cannot be started: ${error.message}`);
  process.exitCode = 6;
});
child.on("close", (code, signal) => {
  if (signal === null) process.exitCode = code;
  else {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
