import { codeOf, columnAt, lineAt } from './source-text.ts';

/** One way in which a file names another module. */
interface Import {
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Undefined where the module's name is computed. */
  readonly specifier: string | undefined;
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
  /** The names taken, `*` for all of them; as the module exports them. */
  readonly names: readonly string[];
}

const QUOTED = /(?<quote>["'])(?<name> *)\k<quote>/.source;
const STATIC = new RegExp(
  /\bimport\s*(?<type>(?<=\s)type\s+(?!from\b))?(?:(?<clause>[\w$*\s{},]+?)\s*\bfrom\s*)?/.source + QUOTED, 'dg',
);
const EXPORT = new RegExp(
  /\bexport\s*(?<type>(?<=\s)type\b\s*)?(?<clause>\*(?:\s+as\s+[\w$]+)?|\{[^{}]*\})\s*from\s*/.source + QUOTED, 'dg',
);
const CALL =
  /(?<type>\btypeof\s+)?(?:\bimport|\brequire|\bimport\.meta\.resolve)\s*\(\s*(?<quote>["'`])(?<name> *)\k<quote>/dg;
const FILE = /\bnew\s+(?:URL|Worker)\s*\(\s*(?<quote>["'`])(?<name> *)\k<quote>/dg;
const COMPUTED = /\bimport\s*\(\s*(?!["'`\s])/g;

/** Returns every module that a source names: imports, re-exports, `import()`, `require` and files for workers. */
export function importsOf(source: string): Import[] {
  const code = codeOf(source);
  const found: Import[] = [];
  for (const pattern of [STATIC, EXPORT, CALL, FILE]) {
    for (const match of code.matchAll(pattern)) {
      const [from, to] = match.indices!.groups!['name']!;
      const specifier = source.slice(from, to);
      if (pattern === FILE && !/^\.{1,2}\/.*\.[cm]?[jt]s$/.test(specifier)) continue;
      found.push({
        line: lineAt(source, match.index), column: columnAt(source, match.index),
        specifier,
        typeOnly: match.groups!['type'] !== undefined,
        names: namesIn(match.groups!['clause'] ?? '*'),
      });
    }
  }
  for (const match of code.matchAll(COMPUTED)) {
    found.push({
      line: lineAt(source, match.index), column: columnAt(source, match.index),
      specifier: undefined, typeOnly: false, names: ['*'],
    });
  }
  return found.sort((a, b) => a.line - b.line);
}

function namesIn(clause: string): string[] {
  if (clause.includes('*')) return ['*'];
  const braces = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  const named = braces.split(',').map((part) => part.trim().replace(/^type\s+/, '').split(/\s+as\s+/)[0]!);
  const fallback = clause.replace(/\{[^}]*\}/, '').split(',').some((part) => part.trim() !== '') ? ['default'] : [];
  return [...fallback, ...named.filter((name) => name !== '')];
}
