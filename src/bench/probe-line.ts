import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { entryFile } from '../core/code-files.ts';

/** The environment variable that names the output file of a measured command. */
export const PROBE_FILE = 'GANNET_BENCH_PROBE';
export const PROBE_WINDOW_MS = 5_000;

/** A line that a measured command writes: at the end of each window, and at its end for its whole run. */
export type ProbeLine =
  | { readonly kind: 'window'; readonly loopDelayP99Ms: number }
  | { readonly kind: 'exit'; readonly peakRssBytes: number };

/** Returns the environment in which a command writes its measurements to a file. */
export function probedEnvironment(file: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const probe = pathToFileURL(entryFile('bench-probe')).href;
  return { ...process.env, ...more, [PROBE_FILE]: file, NODE_OPTIONS: [process.env['NODE_OPTIONS'], `--import=${probe}`]
    .filter(Boolean).join(' ') };
}

/** Returns the complete lines that a measured command has written so far. */
export function readProbe(file: string): ProbeLine[] {
  const lines = readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as ProbeLine);
}
