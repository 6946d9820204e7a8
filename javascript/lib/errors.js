/** What the caller asked for makes no sense: an unknown setting, a function that cannot be sent. */
export class UsageError extends Error {
  name = "UsageError";
}

/** A function failed, or the race could not be run. */
export class RaceFailed extends Error {
  name = "RaceFailed";
}

/** The program `deadheat` is not installed. */
export class ProgramNotFound extends Error {
  name = "ProgramNotFound";
}

/** A benchmark whose times would be misleading; the message continues after the function's name. */
export class Refused extends Error {}
