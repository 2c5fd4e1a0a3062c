import type { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

/**
 * Returns an answer as its schema reads it; members it does not name are left out. Throws SERVICE_MALFORMED naming the
 * member.
 */
export function readWire<T extends z.ZodType>(schema: T, answer: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const member = path.join('.');
  throw malformed(`${member === '' ? what : `${what}, ${member}`}: ${message}`, memberAt(answer, path));
}

/** Returns the fault of an answer that cannot be true. */
export function malformed(expected: string, found: unknown): GannetError {
  return new GannetError('SERVICE_MALFORMED', `${expected}, got ${describe(found)}`);
}

function memberAt(answer: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      (typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined),
    answer,
  );
}

function describe(found: unknown): string {
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  if (Array.isArray(found)) return `a list of ${found.length}`;
  if (typeof found === 'object') return 'an object';
  if (typeof found === 'string') return `"${printable(found, 60)}"`;
  return typeof found === 'bigint' || typeof found === 'number' ? `${found}` : `a ${typeof found}`;
}
