import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The variable that names the file which a measured command writes into. */
export const PROBE_FILE = 'GANNET_BENCH_PROBE';
export const PROBE_WINDOW_MS = 5_000;

/** What a measured command tells of itself: at the end of each window, and of its whole life at its end. */
export type ProbeLine =
  | { readonly kind: 'window'; readonly loopDelayP99Ms: number; readonly rssBytes: number }
  | { readonly kind: 'exit'; readonly peakRssBytes: number };

/** Returns the environment in which a command tells of itself into a file. */
export function probedEnvironment(file: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const probe = pathToFileURL(join(import.meta.dirname, `probe${extname(import.meta.filename)}`)).href;
  return { ...process.env, ...more, [PROBE_FILE]: file, NODE_OPTIONS: [process.env['NODE_OPTIONS'], `--import=${probe}`]
    .filter(Boolean).join(' ') };
}

/** Returns what a measured command has told so far; a line that is being written is left for the next time. */
export function readProbe(file: string): ProbeLine[] {
  const lines = readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as ProbeLine);
}
