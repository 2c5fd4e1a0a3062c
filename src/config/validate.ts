import type { z } from 'zod';
import { nearest } from '../core/text.ts';
import type { Finding, JsonSchema, Refused } from './check-value.ts';
import { checkValue } from './check-value.ts';
import type { ProblemList } from './config-issue.ts';
import { safeText } from './config-issue.ts';
import type { ConfigNode, ConfigPath, PlainValue, ScalarNode } from './config-tree.ts';
import { nodeAt, plainValue } from './config-tree.ts';

const FEW_CHOICES = 5;
/** Keys whose values may hold a secret even where they are wrong. */
const NEVER_SHOWN = new Set([
  'api_key', 'key_from', 'rpc_url', 'further_rpc_urls', 'ws_url', 'url', 'fail_url', 'token', 'secret', 'password',
]);

/** The value that one validation checks. */
interface Subject {
  readonly root: ConfigNode;
  /** Where in the tree the schema's value stands. */
  readonly base: ConfigPath;
  readonly problems: ProblemList;
}

/** With what the schema can say of the value. */
interface HintedSubject extends Subject {
  readonly hints: SchemaHints;
}

/**
 * Returns what the schema makes of the value at `base`, or undefined after adding each fault at its place in the file.
 */
export function validate<S extends z.ZodType>(
  schema: S, subject: Subject,
): { readonly value: z.output<S> } | undefined {
  const node = nodeAt(subject.root, subject.base);
  // A missing section is an empty mapping: the schema says which of its keys are missing.
  const checked = checkValue(schema, node === undefined ? {} : plainValue(node));
  if (checked.ok) return checked;
  reportFindings(checked, subject);
  return undefined;
}

/** Adds each finding about the value at `base` at its place in the file. */
export function reportFindings({ findings, schema }: Refused, subject: Subject): void {
  const node = nodeAt(subject.root, subject.base);
  const hints = schemaHints(schema, node === undefined ? {} : plainValue(node));
  for (const finding of findings) report(finding, { ...subject, hints });
}

function report(finding: Finding, subject: HintedSubject): void {
  const inner = finding.path;
  const path = [...subject.base, ...inner];
  if (finding.code === 'unrecognized_keys') {
    for (const key of finding.keys)
      subject.problems.add([...path, key], unknownKey(key, subject.hints.keys(inner)), { at: 'key' });
    return;
  }
  if (finding.code === 'invalid_key') {
    const name = `"${safeText(String(inner.at(-1)), 60)}"`;
    subject.problems.add(path, `${finding.message ?? 'expected another name'}, got ${name}`, { at: 'key' });
    return;
  }
  const node = nodeAt(subject.root, path);
  if (node === undefined) {
    const wanted = subject.hints.expectation(inner);
    // A section that is not written is faulty as a whole, where it is not one of its keys.
    if (inner.length === 0 && finding.message !== undefined) subject.problems.add(path, finding.message);
    else subject.problems.add(
      path, `the key "${String(inner.at(-1))}" is missing${wanted === undefined ? '' : `: expected ${wanted}`}`,
    );
    return;
  }
  const message = finding.message === undefined
    ? builtMessage(finding, { node, inner, path, hints: subject.hints }) : ownMessage(finding.message, node, path);
  subject.problems.add(path, message);
}

/** Returns "unknown key …" with the nearest known one, or with all of them. */
export function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known);
  const name = safeText(key, 60);
  if (close !== undefined) return `unknown key "${name}" (did you mean "${close}"?)`;
  return known.length === 0 ? `unknown key "${name}"` : `unknown key "${name}"; known here are ${known.join(', ')}`;
}

function builtMessage(
  { code }: Finding,
  { node, inner, path, hints }: { node: ConfigNode; inner: ConfigPath; path: ConfigPath; hints: SchemaHints },
): string {
  const wanted = hints.expectation(inner) ?? `another value (${code})`;
  return `expected ${wanted}, got `
    + `${foundIn(node, path)}${advice(node, wanted, hints.example(inner))}${closeChoice(node, hints.choices(inner))}`;
}

/** Names the closest of many choices; the message lists a few choices already. */
function closeChoice(node: ConfigNode, choices: readonly string[]): string {
  if (choices.length <= FEW_CHOICES || node.kind !== 'scalar' || typeof node.value !== 'string'
      || node.fromEnvironment) return '';
  const close = nearest(node.value, choices);
  return close === undefined ? '' : ` (did you mean "${close}"?)`;
}

/** The message of the schema's own author, with what was found where it does not say so itself. */
function ownMessage(message: string, node: ConfigNode, path: ConfigPath): string {
  if (node.kind !== 'scalar') return message;
  const saysWhatItWants = message.startsWith('expected') && !message.includes(', got ');
  return saysWhatItWants ? `${message}, got ${foundIn(node, path)}` : message;
}

function foundIn(node: ConfigNode, path: ConfigPath): string {
  switch (node.kind) {
    case 'map': return 'a mapping';
    case 'list': return node.items.length === 0 ? 'an empty list' : 'a list';
    case 'scalar': return foundScalar(node, path);
  }
}

function foundScalar({ value, source }: ScalarNode, path: ConfigPath): string {
  if (value === null) return 'nothing';
  if (typeof value !== 'string') return safeText(source, 60);
  const key = path.findLast((step) => typeof step === 'string');
  return NEVER_SHOWN.has(String(key)) ? 'another text (not shown)' : `"${safeText(value, 60)}"`;
}

/** What to do about the mistakes that YAML itself invites. */
function advice(node: ConfigNode, wanted: string, example: string | undefined): string {
  if (node.kind !== 'scalar' || node.fromEnvironment) return '';
  const { value } = node;
  // Where the text is a number with something behind it, quotes alone are not what is missing.
  const quotesHelp = wanted.startsWith('text') && !/^\d.*[a-z]/i.test(example ?? '');
  if (quotesHelp && (typeof value === 'number' || typeof value === 'boolean')) {
    return `: without quotes that is a ${typeof value}, write "${safeText(node.source, 60)}"`;
  }
  if (typeof value !== 'string') return '';
  if (wanted === 'true or false' && /^(?:y|yes|n|no|on|off)$/i.test(value))
    return ': YAML 1.2 knows only true and false';
  const wantsNumber = /^an? (?:integer|number)/.test(wanted);
  return wantsNumber && value.trim() !== '' && Number.isFinite(Number(value)) ? ': write it without quotes' : '';
}

/** Descriptions of the values that a schema wants, for messages. */
interface SchemaHints {
  /** Returns what is wanted at a path, "an integer of at least 2", or undefined where the schema cannot say. */
  expectation(path: ConfigPath): string | undefined;
  /** Returns an example of what is wanted at a path. */
  example(path: ConfigPath): string | undefined;
  /** Returns the keys a mapping at a path may have. */
  keys(path: ConfigPath): readonly string[];
  /** Returns the words that a path can have, where it can have no other value. */
  choices(path: ConfigPath): readonly string[];
}

/** Returns the hints of a schema for a value; of an empty schema, hints that say nothing. */
export function schemaHints(root: JsonSchema, value?: PlainValue): SchemaHints {
  const at = (path: ConfigPath): JsonSchema[] => schemasAt(root, path, value);
  return {
    expectation: (path) => joined(at(path).map(describe)),
    example: (path) => at(path).flatMap(({ examples = [] }) => examples).find((example) => typeof example === 'string'),
    keys: (path) => [...new Set(at(path).flatMap(({ properties = {} }) => Object.keys(properties)))],
    choices: (path) => at(path).flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]))
      .filter((choice) => typeof choice === 'string'),
  };
}

/** All that a path can mean: where there are alternatives, more than one, unless the value says which. */
function schemasAt(root: JsonSchema, path: ConfigPath, value: PlainValue | undefined): JsonSchema[] {
  let current = value;
  let schemas = alternatives(root, current);
  for (const step of path) {
    current = childOf(current, step);
    schemas = schemas.flatMap((schema) => {
      const child = typeof step === 'number' ? schema.items : memberOf(schema, step);
      return child === undefined ? [] : alternatives(child, current);
    });
  }
  return schemas;
}

function childOf(value: PlainValue | undefined, step: string | number): PlainValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  return Object.hasOwn(value, step) ? value[step] : undefined;
}

function memberOf({ properties = {}, additionalProperties }: JsonSchema, key: string): JsonSchema | undefined {
  if (Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function alternatives(schema: JsonSchema, value: PlainValue | undefined): JsonSchema[] {
  const options = schema.anyOf ?? schema.oneOf;
  if (options === undefined) return [schema];
  const meant = options.filter(({ properties = {} }) => Object.entries(properties).some(([key, member]) =>
    member.const !== undefined && member.const === childOf(value, key)));
  return (meant.length === 0 ? options : meant).flatMap((option) => alternatives(option, value));
}

function describe(schema: JsonSchema): string | undefined {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return joined(schema.enum.map((value) => JSON.stringify(value)));
  const { type = 'anything' } = schema;
  switch (type) {
    case 'integer': return withBounds('an integer', schema);
    case 'number': return withBounds('a number', schema);
    case 'boolean': return 'true or false';
    case 'string':
      return schema.examples?.[0] === undefined ? 'text' : `text such as ${JSON.stringify(schema.examples[0])}`;
    case 'array': return (schema.minItems ?? 0) > 0 ? `a list of at least ${schema.minItems}` : 'a list';
    case 'object': return 'a mapping of keys to values';
    default: return undefined;
  }
}

function withBounds(what: string, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  // Every integer of zod is bounded by what a double holds exactly: true, and no help.
  const least = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const most = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least !== undefined && most !== undefined) return `${what} of ${least} to ${most}`;
  const bounds = [
    least === undefined ? undefined : `of at least ${least}`,
    exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum}`,
    most === undefined ? undefined : `of at most ${most}`,
    exclusiveMaximum === undefined ? undefined : `below ${exclusiveMaximum}`,
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? what : `${what} ${bounds.join(' and ')}`;
}

/** Returns known parts as a choice, "a, b or c"; undefined where there are none. */
export function joined(parts: readonly (string | undefined)[]): string | undefined {
  const known = [...new Set(parts.filter((part) => part !== undefined))];
  if (known.length === 0) return undefined;
  return known.length === 1 ? known[0] : `${known.slice(0, -1).join(', ')} or ${known.at(-1)}`;
}
