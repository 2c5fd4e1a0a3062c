import { posix } from 'node:path';
import { importsOf } from '../../src/core/source-imports.ts';
import type { SourceFile } from './layers.ts';
import { codeOf, lineAt } from '../../src/core/source-text.ts';

const MAX_COLUMNS = 120;
const MAX_FILES_IN_A_FOLDER = 25;

/** Folders that may hold more files, each with its reason. */
const LARGE_FOLDERS: ReadonlyMap<string, string> = new Map([]);

/** Exports that only tests import, each with the reason why a test needs the name itself. */
const TEST_BOUNDARIES: ReadonlyMap<string, string> = new Map([
  ['src/cli/command-list.ts#COMMANDS', 'the table is checked against what each module adds'],
  ['src/cli/input/grid-file.ts#parseGrid', 'the grammar of a grid is checked without files'],
  ['src/cli/output/progress.ts#progressText', 'the line itself is printed on a terminal alone'],
  ['src/config/protection-config.ts#PROTECTION_KINDS', 'the defaults are compared with the catalogue'],
  ['src/execution/wallet-history.ts#historyGap', 'the proof is a pure law with a reason for each gap'],
  ['src/daemon/watch/system-clock.ts#monotonicNow', 'its law holds against a system clock that is set back'],
  ['src/daemon/watch/token-watch.ts#watchTokens', 'the watch runs in virtual time, without a daemon'],
  ['src/daemon/watch/token-watch.ts#readTokenFacts', 'the reader is checked on hostile token records'],
  ['src/research/metrics/return-statistics.ts#downsideDeviation', 'the formula is compared with published figures'],
  ['src/sandbox/prediction/order-execution.ts#fillFrom', 'the conservation law holds for any book'],
  ['src/sandbox/program/link.ts#link', 'the linked program is compared with the committed one'],
  ['src/sandbox/rpc/server.ts#rpcMethods', 'the list of methods is compared with the reference'],
  ['src/sandbox/service/routing/routing.ts#createRouter', 'the law of the best route holds for any pools'],
  ['src/signer/policy/codes.ts#POLICY_CODES', 'the mutation tests must break every rule of the table'],
]);

/** The authors' SDK, whose names strategies outside the project import, and the script of a page. */
const PUBLIC_FACES: ReadonlySet<string> = new Set([
  'src/strategy/index.ts', 'src/strategy/technical-indicators.ts', 'src/testing/index.ts', 'src/report/page-script.ts',
  'src/dashboard/browser/main.ts', 'src/dashboard/page-assets.ts', 'src/dashboard/page-state.ts',
  'src/web/data-table.ts',
]);

const EXPORT = new RegExp(
  [
    '^export\\s+(?:declare\\s+)?(?:abstract\\s+)?(?:async\\s+)?',
    '(?:function\\*?|const|let|class|interface|type|enum)\\s+(?<name>[\\w$]+)',
  ].join(''),
  'gm',
);

/** Returns the lines of a file that are wider than 120 columns. */
export function lineViolations({ path, text }: SourceFile): string[] {
  return text.split('\n').flatMap((line, index) => (line.length <= MAX_COLUMNS
    ? []
    : [`${path}:${index + 1}: the line has ${line.length} columns; wrap it at ${MAX_COLUMNS}`]));
}

/**
 * Returns the folders of `src` that hold more than 25 files and have no reason in the list, and reasons without need.
 */
export function folderViolations(
  files: readonly SourceFile[], allowed: ReadonlyMap<string, string> = LARGE_FOLDERS,
): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const folder = posix.dirname(path);
    if (folder.startsWith('src')) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const large = [...counts].filter(([folder, count]) => count > MAX_FILES_IN_A_FOLDER && !allowed.has(folder));
  const needless = [...allowed.keys()].filter((folder) => (counts.get(folder) ?? 0) <= MAX_FILES_IN_A_FOLDER);
  return [
    ...large.map(([folder, count]) => `${folder} holds ${count} files; group them into sub-folders`),
    ...needless.map((folder) => `${folder} needs no exception; remove it from the list`),
  ];
}

/**
 * Returns the exported names of `src` that no other file of `src` or `strategies` imports. The faces of the SDK are
 * public. Names in the list of test boundaries may be imported by tests alone.
 */
export function unusedExports(
  product: readonly SourceFile[], tests: readonly SourceFile[],
  boundaries: ReadonlyMap<string, string> = TEST_BOUNDARIES,
): string[] {
  const inProduct = importedNames(product);
  const inTests = importedNames(tests);
  const exported = product.filter(({ path }) => path.startsWith('src/') && !PUBLIC_FACES.has(path)).flatMap(exportsOf);
  const complaints: string[] = [];
  const needed = new Set<string>();
  for (const { path, line, name } of exported) {
    const key = `${path}#${name}`;
    if (inProduct.has(key) || inProduct.has(`${path}#*`)) continue;
    const isTested = inTests.has(key) || inTests.has(`${path}#*`);
    if (isTested && boundaries.has(key)) needed.add(key);
    else complaints.push(`${path}:${line}: no file imports "${name}"${isTested ? ' but tests' : ''}; do not export it`);
  }
  const needless = [...boundaries.keys()].filter((key) => !needed.has(key));
  return [...complaints, ...needless.map((key) => `${key} needs no exception; remove it from the list`)];
}

function exportsOf({ path, text }: SourceFile): { path: string; line: number; name: string }[] {
  const code = codeOf(text);
  return [...code.matchAll(EXPORT)]
    .map((match) => ({ path, line: lineAt(code, match.index), name: match.groups!['name']! }));
}

/** Returns `file#name` of everything that files import; `file#*` where a file takes a whole module. */
function importedNames(files: readonly SourceFile[]): Set<string> {
  const names = new Set<string>();
  for (const { path, text } of files) {
    for (const { specifier, names: taken } of importsOf(text)) {
      if (!specifier?.startsWith('.')) continue;
      const target = posix.join(posix.dirname(path), specifier);
      for (const name of taken) names.add(`${target}#${name}`);
    }
  }
  return names;
}
