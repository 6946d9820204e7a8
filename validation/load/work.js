// What a request to server.js computes.
exports.rounds = 60_000;
exports.work = function work(rounds) {
  let sum = 0;
  for (let i = 0; i < rounds; i++) sum += Math.sqrt(i);
  return sum;
};
