import type { MarketEventBase } from './event-base.ts';

/** What another program sent as the body of a signal: a text, or an object of JSON. */
export type SignalBody = string | { readonly [name: string]: SignalValue };

/** A value within the body of a signal. */
export type SignalValue = string | number | boolean | null | readonly SignalValue[]
  | { readonly [name: string]: SignalValue };

/** What another program told the daemon under a name. */
export interface SignalEvent extends MarketEventBase {
  readonly kind: 'signal';
  readonly name: string;
  readonly body: SignalBody;
}

/** The form of a signal's name: it stands in addresses, feed keys and logs. */
export const SIGNAL_NAME = /^[a-z][a-z0-9-]{0,62}$/;

const DEPTH_MAX = 8;
const VALUES_MAX = 500;
const MEMBER_NAME_MAX = 100;
/** A longer text would be cut in a recording. */
const TEXT_MAX = 4_000;

/** Returns why a parsed JSON value cannot be the body of a signal: "expected …"; undefined where it can. */
export function signalBodyFault(value: unknown): string | undefined {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null || Array.isArray(value)))
    return 'expected a JSON object or a JSON text';
  let values = 0;
  const faultIn = (member: unknown, depth: number): string | undefined => {
    values += 1;
    if (values > VALUES_MAX) return `expected at most ${VALUES_MAX} values`;
    if (typeof member === 'number' && !Number.isFinite(member)) return 'expected numbers of 64-bit floating point';
    if (typeof member === 'string' && member.length > TEXT_MAX)
      return `expected texts of at most ${TEXT_MAX} characters`;
    if (typeof member !== 'object' || member === null) return undefined;
    if (depth === DEPTH_MAX) return `expected at most ${DEPTH_MAX} levels`;
    for (const [name, inner] of Object.entries(member)) {
      if (!Array.isArray(member) && !isMemberName(name))
        return `expected names of 1 to ${MEMBER_NAME_MAX} characters without controls, not bigint or __proto__`;
      const fault = faultIn(inner, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return faultIn(value, 0);
}

/** In a recording, an object with the one member "bigint" is a large integer. */
function isMemberName(name: string): boolean {
  return name.length <= MEMBER_NAME_MAX && /^[^\p{C}]+$/u.test(name) && name !== 'bigint' && name !== '__proto__';
}
