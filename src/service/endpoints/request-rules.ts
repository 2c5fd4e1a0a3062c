import { U64_MAX } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import { nearest, printable } from '../../core/text.ts';
import { wireAddress } from '../wire/fields.ts';

/** The rule of one value, with the words of its refusal. */
export interface Rule {
  readonly words: string;
  readonly required: boolean;
  holds(value: unknown): boolean;
  /** Returns the value that was probably meant by one that breaks the rule. */
  readonly hint?: ((value: unknown) => string | undefined) | undefined;
}

/** A rule between the parameters of one request; its refusal names `parameter`. */
export interface JointRule<R> {
  readonly parameter: keyof R & string;
  readonly words: string;
  holds(request: R): boolean;
}

/** All rules that the reference states for the request of one endpoint. */
export interface RequestRules<R> {
  readonly endpoint: string;
  readonly parameters: { readonly [Name in keyof R]-?: Rule };
  readonly joint: readonly JointRule<R>[];
  /** Parameters of other endpoints that this one does not have, each with what to do instead. */
  readonly elsewhere?: Readonly<Record<string, string>> | undefined;
}

/** A value of the query: what is undefined is left out. */
type QueryValue = string | number | boolean | undefined;

/** Throws SERVICE_BAD_REQUEST with the words of the first rule that a request breaks; details: parameter. */
export function checkRequest<R extends object>(rules: RequestRules<R>, request: R): void {
  for (const [name, value] of Object.entries(request)) {
    if (value !== undefined && !Object.hasOwn(rules.parameters, name)) throw unknownParameterFault(rules, name);
  }
  for (const name of namesOf(rules)) {
    const rule: Rule = rules.parameters[name];
    const value = request[name];
    if (value === undefined ? rule.required : !rule.holds(value)) {
      throw fault(rules, name, `expected ${rule.words}, got ${describe(value)}${hintOf(rule, value)}`);
    }
  }
  for (const rule of rules.joint) {
    if (!rule.holds(request)) throw fault(rules, rule.parameter, rule.words);
  }
}

/** Returns a checked request as a query: lists with commas, amounts as digits, in the order of the rules. */
export function queryOf<R extends object>(rules: RequestRules<R>, request: R): Record<string, QueryValue> {
  return Object.fromEntries(namesOf(rules).map((name) => [name, queryValue(request[name])]));
}

function queryValue(value: unknown): QueryValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  // An empty list is left out.
  return Array.isArray(value) && value.length > 0 ? value.join(',') : undefined;
}

function namesOf<R>(rules: RequestRules<R>): (keyof R & string)[] {
  return Object.keys(rules.parameters) as (keyof R & string)[];
}

function unknownParameterFault<R>(rules: RequestRules<R>, name: string): GannetError {
  const elsewhere = rules.elsewhere !== undefined && Object.hasOwn(rules.elsewhere, name)
    ? rules.elsewhere[name] : undefined;
  const guess = nearest(name, Object.keys(rules.parameters));
  const advice = elsewhere ?? (guess === undefined ? undefined : `did you mean "${guess}"?`);
  return fault(rules, printable(name, 60), `there is no such parameter${advice === undefined ? '' : `: ${advice}`}`);
}

function fault<R>(rules: RequestRules<R>, parameter: string, message: string): GannetError {
  return new GannetError(
    'SERVICE_BAD_REQUEST', `${rules.endpoint}, ${parameter}: ${message}`, { details: { parameter } },
  );
}

function hintOf(rule: Rule, value: unknown): string {
  const hint = rule.hint?.(value);
  return hint === undefined ? '' : ` (did you mean "${hint}"?)`;
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return `"${printable(value.join(','), 80)}"`;
  if (typeof value === 'object') return `an object of ${printable(Object.keys(value).join(', '), 80) || 'nothing'}`;
  if (typeof value === 'string') return `"${printable(value, 80)}"`;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? `"${value}"`
    : `a ${typeof value}`;
}

/** Returns the same rule for a parameter that must be there. */
export function required(rule: Rule): Rule {
  return { ...rule, required: true };
}

/** A base58 address. */
export const anAddress: Rule = optionalRule('a base58 address', (value) => wireAddress.safeParse(value).success);

/** Smallest units above zero. */
export const anAmount: Rule = optionalRule('1 to 2^64 - 1 of the smallest units', (value) =>
  typeof value === 'bigint' && value > 0n && value <= U64_MAX);

/** An integer of 64 bits without sign. */
export const aU64: Rule = optionalRule('an integer of 0 to 2^64 - 1', (value) =>
  typeof value === 'bigint' && value >= 0n && value <= U64_MAX);

export const aFlag: Rule = optionalRule('true or false', (value) => typeof value === 'boolean');

/** Returns the rule of a whole number between two, both included. */
export function anInteger(range: { readonly min: number; readonly max: number }): Rule {
  return optionalRule(`an integer of ${range.min} to ${range.max}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= range.min && (value as number) <= range.max);
}

/** Returns the rule of a number between two, both included. */
export function aNumber(range: { readonly min: number; readonly max: number }): Rule {
  return optionalRule(`a number of ${range.min} to ${range.max}`,
    (value) => typeof value === 'number' && value >= range.min && value <= range.max);
}

/** Returns the rule of one word out of a few. */
export function oneOf(words: readonly string[]): Rule {
  return {
    ...optionalRule(words.length === 1 ? `"${words[0]}", which is all there is` : `one of ${words.join(', ')}`, (
      value,
    ) => words.includes(value as string)),
    hint: (value) => nearest(String(value), words),
  };
}

/** Returns the rule of a list whose words are all out of a few. */
export function someOf(words: readonly string[]): Rule {
  const isKnown = (word: unknown): boolean => words.includes(word as string);
  return {
    ...optionalRule(`names out of ${words.join(', ')}`, (value) => Array.isArray(value) && value.every(isKnown)),
    hint(value) {
      const stranger: unknown = Array.isArray(value) ? value.find((word) => !isKnown(word)) : value;
      return nearest(String(stranger), words);
    },
  };
}

/** Names of markets, which travel in one text with commas between them. */
export const labels: Rule = optionalRule('names of markets of 1 to 100 characters without commas',
  (value) => Array.isArray(value)
    && value.every((label) => typeof label === 'string' && /^[^,]{1,100}$/.test(label) && label.trim() !== ''));

/** Returns the rule that a predicate decides, for a parameter that may be left out. */
export function optionalRule(words: string, holds: (value: unknown) => boolean): Rule {
  return { words, required: false, holds };
}

/** Returns the rule that two parameters are not given together. */
export function notBoth<R>(first: keyof R & string, second: keyof R & string): JointRule<R> {
  return {
    parameter: second,
    words: `${first} and ${second} are mutually exclusive: expected one of them, got both`,
    holds: (request) => !isGiven(request[first]) || !isGiven(request[second]),
  };
}

/** Returns the rule that two parameters are given together or not at all. */
export function bothOrNeither<R>(first: keyof R & string, second: keyof R & string): readonly JointRule<R>[] {
  return [[first, second], [second, first]].map(([given, missing]) => ({
    parameter: missing as keyof R & string,
    words: `${given} is used together with ${missing}: expected both or neither, got ${given} alone`,
    holds: (request) => !isGiven(request[given as keyof R]) || isGiven(request[missing as keyof R]),
  }));
}

/** Returns the rule that two parameters do not say the same. */
export function mustDiffer<R>(parameter: keyof R & string, from: keyof R & string): JointRule<R> {
  return {
    parameter,
    words: `must differ from ${from}, got the same`,
    holds: (request) => request[parameter] === undefined || request[parameter] !== request[from],
  };
}

/** An empty list counts as not given. */
function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}
