// Prints the CPU time of the loop of server.js, in microseconds, warm.
const { work, rounds } = require("./work.js");
const CALLS = 2_000;
for (let call = 0; call < CALLS; call++) work(rounds);
const before = process.cpuUsage();
for (let call = 0; call < CALLS; call++) work(rounds);
const used = process.cpuUsage(before);
console.log((used.user + used.system) / CALLS);
