import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';

/** What a module declares at its top level. */
export interface Declaration {
  readonly name: string;
  /** The docstring without its stars; empty where there is none. */
  readonly doc: string;
  /** The text of the declaration, as TypeScript declares it; overloads follow one another. */
  readonly text: string;
}

/** A public name with its declaration, and with the declarations that only it names. */
export interface Exported extends Declaration {
  /** The module, relative to `src`, without ending. */
  readonly module: string;
  readonly support: readonly Declaration[];
}

/** The strictness of the project, without which optional members would be declared in another way. */
const OPTIONS = [
  '--ignoreConfig', '--emitDeclarationOnly', '--declaration', '--rootDir', 'src', '--target', 'es2024', '--module',
  'nodenext', '--moduleDetection', 'force', '--allowImportingTsExtensions', '--rewriteRelativeImportExtensions',
  '--erasableSyntaxOnly', '--verbatimModuleSyntax', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck',
  '--types', 'node',
];

/** Returns the public names of modules of `src`, in their order, by the declarations that the compiler emits. */
export function exportedNames(...faces: readonly string[]): Exported[][] {
  const out = mkdtempSync(join(tmpdir(), 'gannet-reference-'));
  try {
    const compiler = join(PROJECT_DIR, 'node_modules', '.bin', 'tsc');
    execFileSync(compiler, [...OPTIONS, '--outDir', out, ...faces.map((face) => join('src', `${face}.ts`))],
      { cwd: PROJECT_DIR, stdio: ['ignore', 'inherit', 'inherit'] });
    return faces.map((face) => namesOf(out, join(out, `${face}.d.ts`)));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function namesOf(out: string, face: string): Exported[] {
  const lists = readFileSync(face, 'utf8').matchAll(/^export (?:type )?\{([^}]*)\} from '([^']*)';$/gm);
  return [...lists].flatMap(([, names = '', from = '']) => {
    const file = join(dirname(face), from.replace(/\.ts$/, '.d.ts'));
    const all = declarationsIn(readFileSync(file, 'utf8'));
    return names.split(',').map((name) => name.trim()).filter((name) => name !== '').map((name) => {
      const found = all.get(name);
      if (found === undefined) throw new Error(`${relative(out, file)} does not declare ${name}`);
      const module = relative(out, file).replace(/\.d\.ts$/, '');
      return { ...found.declaration, module, support: supportOf(found, all) };
    });
  });
}

/** A declaration, and whether other modules see it. */
interface Found {
  readonly declaration: Declaration;
  readonly isPublic: boolean;
}

/** Returns the private declarations of a module that a declaration names, and those that these name. */
function supportOf({ declaration }: Found, all: ReadonlyMap<string, Found>): Declaration[] {
  const support = new Map<string, Declaration>();
  const add = (text: string): void => {
    for (const [word] of text.matchAll(/\b[A-Z]\w*\b/g)) {
      const named = all.get(word);
      if (named === undefined || named.isPublic || support.has(word)) continue;
      support.set(word, named.declaration);
      add(named.declaration.text);
    }
  };
  add(declaration.text);
  return [...support.values()];
}

const STATEMENT = new RegExp(
  String.raw`(?:^/\*\*(?<doc>(?:(?!\*/)[\s\S])*)\*/\n)?^(?<open>export )?(?:declare )?(?:abstract )?`
    + String.raw`(?<kind>function|const|class|interface|type|enum) (?<name>\w+)`
    + String.raw`(?<rest>[\s\S]*?(?:;|^\}))$(?=\n[^\s}]|\n*(?![\s\S]))`,
  'gm',
);

/** Returns the top level of a file of declarations. The compiler begins and ends each of them in the first column. */
function declarationsIn(text: string): Map<string, Found> {
  const all = new Map<string, Found>();
  for (const { groups } of text.matchAll(STATEMENT)) {
    const { doc = '', open, kind = '', name = '', rest = '' } = groups!;
    const own = `${kind} ${name}${rest}`.replace(/^ {4}#private;\n/m, '')
      .replace(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
    const before = all.get(name)?.declaration;
    all.set(name, {
      isPublic: open !== undefined,
      declaration: {
        name, doc: before === undefined || before.doc === '' ? plainDoc(doc) : before.doc,
        text: before === undefined ? own : `${before.text}\n${own}`,
      },
    });
  }
  return all;
}

/** Returns the text of a docstring, whose paragraphs are one line each. */
function plainDoc(doc: string): string {
  return doc.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim()).join('\n').trim()
    .split(/\n{2,}/).map((paragraph) => paragraph.replaceAll('\n', ' ')).join('\n\n');
}
