import type { z } from 'zod';
import { nearest } from '../core/nearest.ts';
import type { ConfigPath } from './issue.ts';
import type { ConfigNode, ScalarNode } from './node.ts';
import { nodeAt, plainValue } from './node.ts';
import type { ProblemList } from './problem.ts';
import type { SchemaHints } from './schema-hints.ts';
import { schemaHints } from './schema-hints.ts';
import { shown } from './wallet-key-shape.ts';

/** Stands for "the schema's author wrote no message of their own". */
const NO_OWN_MESSAGE = '\u0000';
const SEEN_AT_A_GLANCE = 5;
/** Keys whose values may hold a secret even where they are wrong. */
const NEVER_SHOWN = new Set(['api_key', 'key_from', 'rpc_url', 'url']);

/** What one validation looks at. */
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
  // What is left out entirely is an empty mapping: the schema says which of its keys are missing.
  const value = node === undefined ? {} : plainValue(node);
  const result = schema.safeParse(value, { error: () => NO_OWN_MESSAGE });
  if (result.success) return { value: result.data };
  const hints = schemaHints(schema, value);
  for (const issue of result.error.issues) report(issue, { ...subject, hints });
  return undefined;
}

function report(issue: z.core.$ZodIssue, subject: HintedSubject): void {
  const inner = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  const path = [...subject.base, ...inner];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      subject.problems.add([...path, key], unknownKey(key, subject.hints.keys(inner)), { at: 'key' });
    return;
  }
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? NO_OWN_MESSAGE;
    const name = `"${shown(String(inner.at(-1)), 60)}"`;
    subject.problems.add(
      path, `${expected === NO_OWN_MESSAGE ? 'expected another name' : expected}, got ${name}`, { at: 'key' },
    );
    return;
  }
  const node = nodeAt(subject.root, path);
  if (node === undefined) {
    const wanted = subject.hints.expectation(inner);
    subject.problems.add(
      path, `the key "${String(inner.at(-1))}" is missing${wanted === undefined ? '' : `: expected ${wanted}`}`,
    );
    return;
  }
  const message = issue.message === NO_OWN_MESSAGE ? builtMessage(issue, { node, inner, path, hints: subject.hints })
    : ownMessage(issue.message, node, path);
  subject.problems.add(path, message);
}

/** Returns "unknown key …" with the nearest known one, or with all of them. */
export function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known);
  const name = shown(key, 60);
  if (close !== undefined) return `unknown key "${name}" (did you mean "${close}"?)`;
  return known.length === 0 ? `unknown key "${name}"` : `unknown key "${name}"; known here are ${known.join(', ')}`;
}

function builtMessage(
  issue: z.core.$ZodIssue,
  { node, inner, path, hints }: { node: ConfigNode; inner: ConfigPath; path: ConfigPath; hints: SchemaHints },
): string {
  const wanted = hints.expectation(inner) ?? `another value (${issue.code})`;
  return `expected ${wanted}, got `
    + `${foundIn(node, path)}${advice(node, wanted, hints.example(inner))}${closeChoice(node, hints.choices(inner))}`;
}

/** Of a few words one sees oneself which was meant. */
function closeChoice(node: ConfigNode, choices: readonly string[]): string {
  if (choices.length <= SEEN_AT_A_GLANCE || node.kind !== 'scalar' || typeof node.value !== 'string'
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
  if (typeof value !== 'string') return shown(source, 60);
  return NEVER_SHOWN.has(String(path.at(-1))) ? 'another text (not shown)' : `"${shown(value, 60)}"`;
}

/** What to do about the mistakes that YAML itself invites. */
function advice(node: ConfigNode, wanted: string, example: string | undefined): string {
  if (node.kind !== 'scalar' || node.fromEnvironment) return '';
  const { value } = node;
  // Where the text is a number with something behind it, quotes alone are not what is missing.
  const quotesHelp = wanted.startsWith('text') && !/^\d.*[a-z]/i.test(example ?? '');
  if (quotesHelp && (typeof value === 'number' || typeof value === 'boolean')) {
    return `: without quotes that is a ${typeof value}, write "${shown(node.source, 60)}"`;
  }
  if (typeof value !== 'string') return '';
  if (wanted === 'true or false' && /^(?:y|yes|n|no|on|off)$/i.test(value))
    return ': YAML 1.2 knows only true and false';
  const wantsNumber = /^an? (?:integer|number)/.test(wanted);
  return wantsNumber && value.trim() !== '' && Number.isFinite(Number(value)) ? ': write it without quotes' : '';
}
