/**
 * Throws when something only a bug can make false is false; the supervisor restarts through recovery.
 * A message that has to be put together is given as a function: where things are well, it is never called.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  if (!condition) throw new AssertionError(typeof message === 'string' ? message : message());
}

/** Throws for a union member that the compiler believes impossible. */
export function assertNever(value: never, what: string): never {
  throw new AssertionError(`unexpected ${what}: ${JSON.stringify(value)}`);
}

/** A bug in Gannet itself, never bad input and never trouble of the network. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}
