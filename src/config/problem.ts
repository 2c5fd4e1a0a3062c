import type { ErrorCode } from '../core/errors.ts';
import type { ConfigIssue, ConfigPath } from './issue.ts';
import { formatPath } from './issue.ts';
import type { ConfigNode, Position, ScalarNode } from './node.ts';
import { locate, nodeAt } from './node.ts';
import { shown } from './wallet-key-shape.ts';

const LONGEST_MESSAGE = 1_000;
/** Shorter texts are no secrets, and taking them out would only garble the message. */
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
  /** Returns whether anything is wrong at, above or below a path. */
  isFaulty(path: ConfigPath): boolean;
}

/**
 * Returns an empty list over `root`. What is said of a path in `silenced`, or below it, is dropped: its fault is known.
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
    path: shown(formatPath(path), LONGEST_MESSAGE),
    message: shown(message, LONGEST_MESSAGE),
  }));
  const unique = new Map(issues.map((issue) => [JSON.stringify(issue), issue]));
  return [...unique.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** What comes from the environment may be a secret: messages name the variable, whatever they would have quoted. */
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
