import { badRequest } from './request-error.ts';

/**
 * Returns the members of a control request's body. Throws a RequestError (400) unless it is an object with none but
 * these.
 */
export function fieldsOf<Name extends string>(body: unknown, names: readonly Name[]): Partial<Record<Name, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest(`expected an object with ${names.join(', ')}`);
  const unknown = Object.keys(body).find((key) => !names.some((name) => name === key));
  if (unknown !== undefined) throw badRequest(`unknown key "${unknown.slice(0, 40)}", expected ${names.join(', ')}`);
  return body;
}
