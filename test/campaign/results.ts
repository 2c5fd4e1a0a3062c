import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PROJECT } from '../e2e/gannet.ts';

/** What a campaign leaves behind: one line of JSON for each thing it did. */
export type ResultLine = Readonly<Record<string, unknown>> & { readonly type: string };

const PACKED = '.gz';

/**
 * Returns where a campaign's results go when nothing else is said: into the project itself, so that anybody can go on
 * from there.
 */
export function resultsFile(name: string): string {
  return join(PROJECT, 'test', 'campaign', 'results', `${name}.ndjson${PACKED}`);
}

/**
 * Adds a line beside the packed file; what was written before stays, and a campaign that was killed has lost nothing
 * but its last line.
 */
export function addResult(file: string, line: ResultLine): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(plain(file), `${JSON.stringify(line)}\n`);
}

/**
 * Returns the lines of a results file, packed and not yet packed; a last one that was cut off is left out. Empty where
 * there is no file.
 */
export function readResults(file: string): ResultLine[] {
  return linesOf(textOf(file));
}

/** Packs what was added. A crash on the way leaves the lines where they were, in the worst case in both. */
export function packResults(file: string): void {
  if (!file.endsWith(PACKED) || !existsSync(plain(file))) return;
  const lines = new Set(readResults(file).map((line) => JSON.stringify(line)));
  writeFileSync(`${file}.new`, gzipSync([...lines].map((line) => `${line}\n`).join(''), { level: 9 }));
  renameSync(`${file}.new`, file);
  rmSync(plain(file));
}

/**
 * Packs the results of a campaign that is over, says what it found, and returns its exit code. Violations are listed,
 * except where only their number is given because they were told before. Figures are for a campaign with one result.
 */
export function endCampaign(file: string, violations: readonly string[] | number, figures?: object): number {
  packResults(file);
  const [count, list] = typeof violations === 'number' ? [violations, []] : [violations.length, violations];
  const told = list.map((violation) => `${violation}\n`).join('');
  process.stdout.write(figures === undefined ? `${count} violations; the results are in ${file}\n${told}`
    : `${JSON.stringify(figures, null, 2)}\n${told}\n${count} violations\n`);
  return count === 0 ? 0 : 1;
}

/** Ends the process at a signal: what was done stands in the results, and the next run goes on from there. */
export function endAtSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
}

/** Members of a line, by name. */
export type Figures = Readonly<Record<string, unknown>>;

/** Returns a value for a cell of a table. */
export function show(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : JSON.stringify(value) ?? 'none';
}

/** Returns the commit and the digest of the code that a line speaks of. */
export function versionOf(line: ResultLine): string {
  return `${String(line['commit'])} (${String(line['digest'])})`;
}

/** Returns a table of Markdown, and a sentence where there is nothing to put into it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['It has not run yet.', ''];
  return [
    `| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ];
}

function plain(file: string): string {
  return file.endsWith(PACKED) ? file.slice(0, -PACKED.length) : file;
}

function textOf(file: string): string {
  const packed = file.endsWith(PACKED) && existsSync(file) ? gunzipSync(readFileSync(file)).toString('utf8') : '';
  return packed + (existsSync(plain(file)) ? readFileSync(plain(file), 'utf8') : '');
}

function linesOf(text: string): ResultLine[] {
  return text.split('\n').slice(0, -1).flatMap((line) => {
    try {
      return [JSON.parse(line) as ResultLine];
    } catch {
      // Two halves of lines that a kill has joined.
      return [];
    }
  });
}
