// A server whose requests compute: server.js PORT PERCENT [COPY] does PERCENT percent more work per request.
const http = require("http");
const [port, more] = process.argv.slice(2).map(Number);
function work(rounds) {
  let sum = 0;
  for (let i = 0; i < rounds; i++) sum += Math.sqrt(i);
  return sum;
}
const rounds = Math.round(60_000 * (1 + more / 100));
http.createServer((request, reply) => reply.end(`${work(rounds)}\n`)).listen(port, "127.0.0.1");
