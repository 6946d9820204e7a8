export { suite } from "./suite.js";
export { race } from "./race.js";
export { Result } from "./result.js";
export { ProgramNotFound, RaceFailed, UsageError } from "./errors.js";
