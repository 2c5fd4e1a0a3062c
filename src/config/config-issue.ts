import type { ErrorCode } from '../core/errors.ts';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { withoutKeyRuns } from '../signer/key-shape.ts';
import type { ConfigNode, ConfigPath, Position, ScalarNode } from './config-tree.ts';
import { locate, nodeAt } from './config-tree.ts';

/** One fault of a configuration, at the place where it can be corrected. Lines and columns count from 1. */
export interface ConfigIssue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Where in the configuration, "strategies[0].params.window"; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Returns a path as people write it: "strategies[0].params.window". */
export function formatPath(path: ConfigPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/**
 * Returns an issue as one line: "config/gannet.yaml:14:11 strategies[0].params.window: expected …". An option of the
 * command line has no lines.
 */
export function formatIssue({ file, line, column, path, message }: ConfigIssue): string {
  const place = file.startsWith('--') ? file : `${file}:${line}:${column}`;
  return `${place} ${path === '' ? '' : `${path}: `}${message}`;
}

/** Returns the error with which a command refuses to start, one line per issue. */
export function configError(
  failure: { readonly code: ErrorCode; readonly issues: readonly ConfigIssue[] },
): GannetError {
  return new GannetError(
    failure.code, failure.issues.map(formatIssue).join('\n'), { details: { issues: failure.issues.length } },
  );
}

const STRATEGY_PATH = /^strategies\[(\d+)\]/;

/** Returns what is wrong with strategies, by their places; undefined where something else is wrong too. */
export function strategyFaults(issues: readonly ConfigIssue[]): ReadonlyMap<number, string> | undefined {
  const byPlace = Map.groupBy(issues, ({ path }) => Number(STRATEGY_PATH.exec(path)?.[1] ?? NaN));
  return byPlace.has(NaN) ? undefined
    : new Map([...byPlace].map(([place, own]) => [place, own.map(formatIssue).join('\n')]));
}

const LONGEST_MESSAGE = 1_000;
/** Shorter texts are no secrets, and their removal would only garble the message. */
const LEAST_SECRET = 4;

/** A fault on its way to becoming an issue. */
export interface Problem {
  readonly position: Position;
  readonly path: ConfigPath;
  readonly message: string;
  /** What the command fails with where this is the only kind of fault. */
  readonly code?: ErrorCode;
}

/** Collects the faults of one tree. */
export interface ProblemList {
  readonly all: readonly Problem[];
  /** Adds a fault at the value of `path`, or at its key. */
  add(path: ConfigPath, message: string, options?: { readonly at?: 'key' | 'value'; readonly code?: ErrorCode }): void;
  /** Returns whether there is a fault at, above or below a path. */
  isFaulty(path: ConfigPath): boolean;
}

/**
 * Returns an empty list over `root`. A fault at a path in `silenced`, or below it, is dropped: that path has a known
 * fault.
 */
export function createProblemList(root: ConfigNode, silenced: readonly ConfigPath[]): ProblemList {
  const all: Problem[] = [];
  return {
    all,
    add(path, message, { at = 'value', code } = {}) {
      if (silenced.some((known) => startsWith(path, known))) return;
      const node = at === 'value' ? nodeAt(root, path) : undefined;
      const said = node?.kind === 'scalar' && node.fromEnvironment ? withoutValue(message, node) : message;
      all.push({ position: locate(root, path, at), path, message: said, ...(code === undefined ? {} : { code }) });
    },
    isFaulty: (path) => [...silenced, ...all.map((problem) => problem.path)]
      .some((known) => startsWith(known, path) || startsWith(path, known)),
  };
}

/** Returns the issues of a file in the order of its lines, each once. */
export function toIssues(file: string, problems: readonly Problem[]): ConfigIssue[] {
  const issues = problems.map(({ position, path, message }): ConfigIssue => ({
    file: position.file ?? file,
    line: position.line,
    column: position.column,
    path: safeText(formatPath(path), LONGEST_MESSAGE),
    message: safeText(message, LONGEST_MESSAGE),
  }));
  const unique = new Map(issues.map((issue) => [JSON.stringify(issue), issue]));
  return [...unique.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** A value of the environment may be a secret: messages name the variable in place of it. */
function withoutValue(message: string, { value, source }: ScalarNode): string {
  const [before = '', found] = message.split(/, got (?=.)/s, 2);
  // Messages quote long values cut off.
  const quoted = [Infinity, 60, 40].map((length) => String(value).slice(0, length))
    .filter((text) => text.length >= LEAST_SECRET);
  const head = quoted.reduce((text, part) => text.replaceAll(part, source), before);
  return found === undefined ? head : `${head}, got the value of ${source} (not shown)`;
}

function startsWith(path: ConfigPath, start: ConfigPath): boolean {
  return start.length > 0 && start.length <= path.length && start.every((step, index) => step === path[index]);
}

/**
 * Returns text from a file made safe to print: without controls and possible parts of a wallet's key, at most `limit`
 * characters.
 */
export function safeText(text: string, limit = 200): string {
  return printable(withoutKeyRuns(text, '(not shown)'), limit);
}
