// Names that tell things apart, because deadheat pairs the benchmarks and contenders of two programs by
// their names.

/** Makes names differ by numbers. */
export class UniqueNames {
  // Each name with its highest number so far. Without them, thousands of equal names would take
  // quadratic time.
  #numbers = new Map();

  /** Returns the name, or if it was added before, the name with a number, as "parse #2". */
  add(name) {
    let unique = name;
    while (this.#numbers.has(unique)) {
      const number = this.#numbers.get(name) + 1;
      this.#numbers.set(name, number);
      unique = `${name} #${number}`;
    }
    this.#numbers.set(unique, 1);
    return unique;
  }
}

/** The note that deadheat may pair different functions of two programs, because it numbered a name. */
export function pairedByOrder(what, name) {
  return (
    `several ${what} have the name '${name}', so deadheat pairs them by their order. If one side has ` +
    "more of them, different functions may race: give each its own name."
  );
}
