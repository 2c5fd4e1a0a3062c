import { GannetError } from '../core/errors.ts';

/** Marks a bigint in JSON, which has no other number than doubles. */
const BIGINT = '$bigint';
/** More than anybody nests on purpose; what refers to itself ends here too. */
const DEPTH_MAX = 64;

/**
 * Returns the JSON text of plain data: null, booleans, finite numbers, strings, bigints, and arrays and plain objects
 * of them. Members that are undefined are left out. Throws STRATEGY_INVALID on anything else, naming its place.
 */
export function writeState(value: unknown, place: string): string {
  return JSON.stringify(asJson(value, place, 0));
}

/**
 * Returns the data in a text that `writeState` made, frozen through and through. Throws SyntaxError on what is no JSON.
 */
export function readState(text: string): unknown {
  return fromJson(JSON.parse(text));
}

/** Returns the data in parsed JSON of `writeState`, frozen through and through. */
export function fromJson(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return Object.freeze(json.map(fromJson));
  const { [BIGINT]: digits } = json as { readonly [BIGINT]?: unknown };
  if (typeof digits === 'string') return BigInt(digits);
  return Object.freeze(Object.fromEntries(Object.entries(json).map(([key, member]) => [key, fromJson(member)])));
}

function asJson(value: unknown, place: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return { [BIGINT]: value.toString() };
    case 'number':
      if (Number.isFinite(value)) return value;
      throw refused(place, `the number ${value}`);
    case 'object':
      if (depth > DEPTH_MAX) throw refused(place.slice(0, 80), `more than ${DEPTH_MAX} levels`);
      return value === null ? null : objectAsJson(value, place, depth + 1);
    case 'undefined':
      throw refused(place, 'undefined');
    case 'function':
    case 'symbol':
      throw refused(place, `a ${typeof value}`);
  }
}

function objectAsJson(value: object, place: string, depth: number): unknown {
  if (Array.isArray(value))
    return Array.from(value as unknown[], (item, index) => asJson(item, `${place}[${index}]`, depth));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refused(place, `a ${value.constructor.name}`);
  if (Object.hasOwn(value, BIGINT)) throw refused(place, `a member "${BIGINT}", which stands for a bigint`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, asJson(member, `${place}.${key}`, depth)]));
}

function refused(place: string, found: string): GannetError {
  return new GannetError('STRATEGY_INVALID',
    `state ${place}: expected plain data (null, booleans, finite numbers, strings, bigints, arrays and objects of `
      + `them), got ${found}`);
}
