// A server whose requests compute: server.js PORT PERCENT does PERCENT percent more rounds per request.
const http = require("http");
const { work, rounds } = require("./work.js");
const [port, more] = process.argv.slice(2).map(Number);
const own = Math.round(rounds * (1 + more / 100));
http.createServer((request, reply) => reply.end(`${work(own)}\n`)).listen(port, "127.0.0.1");
