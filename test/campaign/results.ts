import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT } from '../e2e/gannet.ts';

/** What a campaign leaves behind: one line of JSON for each thing it did. */
export type ResultLine = Readonly<Record<string, unknown>> & { readonly type: string };

/** Returns where a campaign's results go when nothing else is said. */
export function resultsFile(name: string): string {
  return join(PROJECT, 'state', 'campaigns', `${name}.ndjson`);
}

/** Adds a line; what was written before stays, and a campaign that was killed has lost nothing but its last line. */
export function addResult(file: string, line: ResultLine): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** Returns the lines of a results file; a last one that was cut off is left out. Empty where there is no file. */
export function readResults(file: string): ResultLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1).flatMap((line) => {
    try {
      return [JSON.parse(line) as ResultLine];
    } catch {
      // Two halves of lines that a kill has joined.
      return [];
    }
  });
}

/** What runs when a campaign runs: results of one code say nothing of another. */
const TESTED = ['bin', 'config/dialects', 'src', 'strategies'];

/** Returns what names the code that is tested: the commit for people, and a digest of the files as they are. */
export function codeVersion(): { readonly commit: string; readonly digest: string } {
  const digest = createHash('sha256');
  for (const folder of TESTED) {
    const files = readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
      digest.update(`${path.slice(PROJECT.length)}\0`).update(readFileSync(path)).update('\0');
    }
  }
  return { commit: commitOf(PROJECT), digest: digest.digest('hex').slice(0, 12) };
}

function commitOf(folder: string): string {
  try {
    return execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    // A copy without its history.
    return 'none';
  }
}
