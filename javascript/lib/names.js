// Names that tell things apart, because deadheat pairs the benchmarks and contenders of two programs by
// their names.

/** Makes names differ by numbers. */
export class UniqueNames {
  #taken = new Set();

  /** Returns the name, or if it was added before, the name with a number, as "parse #2". */
  add(name) {
    let unique = name;
    for (let count = 2; this.#taken.has(unique); count++) unique = `${name} #${count}`;
    this.#taken.add(unique);
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
