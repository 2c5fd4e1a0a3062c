/**
 * Throws AssertionError where a condition is false that only a bug can make false; the supervisor then restarts.
 * A composed message is passed as a function, which is called only on failure.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  if (!condition) throw new AssertionError(typeof message === 'string' ? message : message());
}

/** Throws for a union member that the compiler believes impossible. */
export function assertNever(value: never, what: string): never {
  throw new AssertionError(`unexpected ${what}: ${JSON.stringify(value)}`);
}

/** A bug in Gannet itself, never bad input and never a network fault. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}
