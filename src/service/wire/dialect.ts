import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import type { Vocabulary } from './vocabulary.ts';
import { createVocabularies } from './vocabulary.ts';

/** Where the dialects that come with the project lie. */
export const DIALECTS_DIRECTORY = fileURLToPath(new URL('../../../config/dialects/', import.meta.url));

/**
 * The words of one host, and how they translate to the neutral ones that Gannet uses everywhere.
 * A word that it does not list passes unchanged, both ways.
 */
export interface Dialect {
  readonly name: string;
  /** Hosts that are known to speak it, without a port: `host.example`. */
  readonly hosts: readonly string[];
  /** The neutral names of all routers. */
  readonly routers: readonly string[];
  /** The neutral names of all providers of prediction markets. */
  readonly providers: readonly string[];
  /** From neutral words to the host's. */
  readonly toWire: Vocabulary;
  /** From the host's words to neutral ones. */
  readonly fromWire: Vocabulary;
  /** The same as the host itself hears it: a neutral word that it does not use means nothing to it. */
  readonly heard: Vocabulary;
}

const word = z.string().min(1).max(64);
const path = z.string().regex(/^(?:\/[\w.-]+)+$/, { error: 'expected a path such as "/tokens/v2"' });
const DialectFile = z.strictObject({
  dialect: z.string().regex(/^[a-z0-9-]+$/),
  hosts: z.array(z.string().regex(/^[a-z0-9.-]+$/)).default([]),
  routers: z.record(word, z.union([word, z.array(word).min(1)])).default({}),
  providers: z.record(word, word).default({}),
  query: z.record(word, word).default({}),
  fields: z.record(word, word).default({}),
  paths: z.record(path, path).default({}),
  /**
   * The host's swap programs and how their instructions are laid out: for the signer alone, which reads them itself.
   */
  swap_programs: z.array(z.unknown()).default([]),
});

/** Returns the names of all dialects in a directory. */
export function dialectNames(directory = DIALECTS_DIRECTORY): string[] {
  return readdirSync(directory).filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length)).sort();
}

/**
 * Returns the dialect of a name. Throws CONFIG_NOT_FOUND where there is no such file, CONFIG_INVALID where it says
 * nonsense.
 */
export function loadDialect(name: string, directory = DIALECTS_DIRECTORY): Dialect {
  if (!/^[a-z0-9-]{1,64}$/.test(name)) {
    throw new GannetError(
      'CONFIG_INVALID',
      `service.dialect: expected a name of small letters, digits and dashes, got "${name.slice(0, 60)}"`,
    );
  }
  const file = join(directory, `${name}.yaml`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new GannetError(
      'CONFIG_NOT_FOUND', `service.dialect: expected the dialect "${name}" in ${file}; "neutral" always exists`,
      { cause },
    );
  }
  return parseDialect(text, file);
}

/** Returns the dialect a YAML text describes. Throws CONFIG_INVALID with file, line and column. */
export function parseDialect(text: string, file: string): Dialect {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [fault] = document.errors;
  if (fault !== undefined) throw invalid(file, lines.linePos(fault.pos[0]), fault.message);
  const parsed = DialectFile.safeParse(document.toJS());
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw invalid(file, lines.linePos(offsetOf(document.getIn(issue.path, true))), describe(issue));
  }
  const words = parsed.data;
  for (const section of ['routers', 'providers', 'query', 'fields', 'paths'] as const) {
    const twice = saidTwice(words[section]);
    if (twice !== undefined) {
      throw invalid(file, lines.linePos(offsetOf(document.getIn([section, twice.neutral], true))),
        `${section}.${twice.neutral}: "${twice.wire}" already stands for ${twice.other}, so an answer could not be `
          + 'translated back');
    }
  }
  return {
    name: words.dialect, hosts: words.hosts, routers: Object.keys(words.routers),
    providers: Object.keys(words.providers), ...createVocabularies(words),
  };
}

/** Returns the first wire word that two neutral ones share. */
function saidTwice(
  section: Readonly<Record<string, string | readonly string[]>>,
): { neutral: string; wire: string; other: string } | undefined {
  const taken = new Map<string, string>();
  for (const [neutral, said] of Object.entries(section)) {
    for (const wire of [said].flat()) {
      const other = taken.get(wire);
      if (other !== undefined) return { neutral, wire, other };
      taken.set(wire, neutral);
    }
  }
  return undefined;
}

function describe(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return `${place}: ${issue.message}`;
  const [key = ''] = issue.keys;
  const guess = nearest(key, Object.keys(DialectFile.shape));
  return `${place}: unknown key "${key}"${guess === undefined ? '' : `; did you mean "${guess}"?`}`;
}

function offsetOf(node: unknown): number {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
    ? Number(node.range[0]) : 0;
}

function invalid(
  file: string, { line, col }: { readonly line: number; readonly col: number }, message: string,
): GannetError {
  return new GannetError(
    'CONFIG_INVALID', `${file}:${line}:${col} ${message.replace(/^: /, '')}`, { details: { file, line, column: col } },
  );
}
