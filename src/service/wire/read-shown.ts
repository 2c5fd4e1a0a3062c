import type { z } from 'zod';
import { readWire } from './read.ts';

/** An answer as its schema reads it. */
export interface Shown<T> {
  readonly value: T;
  /** Members that are only shown to people and came in a form that cannot be read; they are left out of the value. */
  readonly unread: readonly string[];
}

/**
 * Returns an answer as `readWire` does, but a member out of `shown` that cannot be read is left out and named: nothing
 * is decided by it, and a new form of it must not stop what does not need it. All members of `shown` are optional in
 * the schema.
 */
export function readShown<T extends z.ZodType>(
  schema: T, answer: unknown, options: { readonly what: string; readonly shown: ReadonlySet<string> },
): Shown<z.output<T>> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return { value: parsed.data, unread: [] };
  const unread = new Set(parsed.error.issues.map(({ path }) => String(path[0])).filter((member) =>
    options.shown.has(member)));
  if (unread.size === 0 || typeof answer !== 'object' || answer === null)
    return { value: readWire(schema, answer, options.what), unread: [] };
  const rest = Object.fromEntries(Object.entries(answer).filter(([name]) => !unread.has(name)));
  return { value: readWire(schema, rest, options.what), unread: [...unread] };
}
