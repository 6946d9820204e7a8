// Ten functions of 50 ns to 10 ms, with the inputs that a seed gives.

const random = (seed) => () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff;
const numbers = (count) => (seed) => {
  const next = random((seed % 0x7fffffff) | 1);
  return Array.from({ length: count }, () => Math.floor(next() * 1e6));
};
const words = (count) => (seed) => numbers(count)(seed).map((number) => `w${number % 50}`);
const records = (count) => (seed) =>
  JSON.stringify(
    numbers(count)(seed).map((id) => ({
      id,
      name: `n${id % 99}`,
      ok: id % 2 === 0,
    })),
  );

class A {
  value(x) {
    return x + 1;
  }
}
class B {
  value(x) {
    return x * 3;
  }
}
class C {
  value(x) {
    return x ^ 5;
  }
}
const kinds = [new A(), new B(), new C()];

export const tasks = {
  loop: [
    numbers(60),
    (list) => {
      let sum = 0;
      for (let i = 0; i < list.length; i++) sum += list[i] & 255;
      return sum;
    },
  ],
  json: [records(30), (text) => JSON.parse(text).length],
  map: [
    words(100),
    (list) => {
      const counts = new Map();
      for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
      return counts.size;
    },
  ],
  regexp: [
    (seed) => words(60)(seed).join(" "),
    (text) => text.replace(/w(\d)\d/g, "$1").split(/\s+/).length,
  ],
  string: [
    words(200),
    (list) => {
      let text = "";
      for (const word of list) text += word + ",";
      return text.charCodeAt(text.length >> 1);
    },
  ],
  sort: [numbers(2_000), (list) => list.slice().sort((one, other) => one - other)[7]],
  dispatch: [
    (seed) => {
      return numbers(300)(seed).map((number) => kinds[number % 3]);
    },
    (list) => {
      let sum = 0;
      for (const one of list) sum = (sum + one.value(sum)) & 0xffff;
      return sum;
    },
  ],
  async: [
    numbers(10),
    async (list) => {
      let sum = 0;
      for (const number of list) sum += await number;
      return sum;
    },
  ],
  typed: [
    (seed) => Float64Array.from(numbers(50_000)(seed)),
    (list) => {
      let sum = 0;
      for (let i = 0; i < list.length; i++) sum += Math.sqrt(list[i]);
      return sum;
    },
  ],
  closures: [
    numbers(20_000),
    (list) =>
      list
        .map((number) => number * 2)
        .filter((number) => number % 3 === 0)
        .reduce((sum, number) => sum + number, 0),
  ],
};

/** A function of its own for V8, with its own feedback. */
export const copy = (fn) => (0, eval)(`(${fn})`);
