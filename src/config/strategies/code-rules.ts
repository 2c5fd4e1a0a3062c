import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import { isOwnCode } from '../../core/code-files.ts';
import { importsOf } from '../../core/source-imports.ts';
import { codeOf, columnAt, lineAt } from '../../core/source-text.ts';
import type { Ban, BanTopic } from './code-bans.ts';
import { ban, DETERMINISTIC_BANS, NO_FETCH, wallClockNames } from './code-bans.ts';
import { missingFace } from '../../core/shared-modules.ts';

// What the code of a strategy must not do. The check reads text: it finds what an author does by mistake. It is no wall
// against an author who hides it, which the box is.

const NO_IO = 'a strategy has neither network, files nor processes: declare what it watches in "inputs"';

/** What no code of a strategy may do. */
const STRATEGY_BANS: readonly Ban[] = [
  ...DETERMINISTIC_BANS, NO_FETCH,
  ban('a connection', /(?<![\w$.])(?:WebSocket|EventSource|XMLHttpRequest)\b/g, NO_IO, 'io'),
  ban('the machine', /(?<![\w$.])navigator\b/g, 'take what is needed as a parameter'),
  ban('a subscription of its own', /\.\s*subscribe\s*\(/g,
    'return the stream: the engine subscribes, and catches what it throws', 'subscription'),
  ban('code from text', /(?<![\w$.])(?:eval|Function)\s*\(/g, 'write the code out', 'hidden'),
];

/** A place where the code of a strategy does what it must not. */
interface CodeViolation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What it does, and what to write instead. */
  readonly message: string;
  /** What it would reach. */
  readonly topic: BanTopic;
}

/**
 * Returns the violations in the file of a strategy and in the local files that it imports, in order. The tests of
 * the project check its own files.
 */
export async function strategyViolations(file: string, seen: Set<string> = new Set()): Promise<CodeViolation[]> {
  if (seen.has(file) || isOwnCode(file) || file.endsWith('.json')) return [];
  seen.add(file);
  // A file that is missing keeps the strategy from loading, which says so.
  const text = await readFile(file, 'utf8').catch(() => '');
  const beside = importsOf(text).flatMap(({ specifier, typeOnly }) =>
    (specifier !== undefined && !typeOnly && /^\.{1,2}\//.test(specifier) ? [resolve(dirname(file), specifier)] : []));
  const inner = await Promise.all(beside.map((path) => strategyViolations(path, seen)));
  return [...violationsIn(file, text), ...inner.flat()];
}

function violationsIn(file: string, text: string): CodeViolation[] {
  const code = codeOf(text);
  const banned = STRATEGY_BANS.flatMap(({ what, pattern, instead, topic }) => [...code.matchAll(pattern)].map((match) =>
    ({
      file, line: lineAt(code, match.index), column: columnAt(code, match.index),
      message: `it uses ${what}; ${instead}`, topic,
    })));
  const imported = importsOf(text).flatMap(({ line, column, specifier, names, typeOnly }) =>
    (typeOnly ? [] : importFaults(specifier, names)).map((fault) => ({ file, line, column, ...fault })));
  return [...banned, ...imported].toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function importFaults(
  specifier: string | undefined, names: readonly string[],
): Pick<CodeViolation, 'message' | 'topic'>[] {
  if (specifier === undefined)
    return [{ message: 'it imports a module of a computed name; name the module', topic: 'hidden' }];
  if (isBuiltin(specifier)) return [{ message: `it imports ${specifier}; ${NO_IO}`, topic: 'io' }];
  const missing = missingFace(specifier);
  if (missing !== undefined) return [{ message: missing, topic: 'hidden' }];
  const instead = specifier === 'rxjs' ? 'take it from "gannet", bound to ctx' : 'compute it from ctx.now()';
  return wallClockNames(specifier, names).map((name) => (
    { message: `it takes "${name}" from ${specifier}, which reads the wall clock; ${instead}`, topic: 'clock' }));
}
