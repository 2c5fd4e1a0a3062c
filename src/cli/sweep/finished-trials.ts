import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DoneTrial } from '../../backtest/trial.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { appendWhole } from '../../recording/files/append-whole.ts';
import { stopwatch } from '../bench/measurement.ts';
import type { TrialBasis } from './trial-basis.ts';

/** What trials came to, kept over interruptions: a line of JSON each, in a file of its own for all that they depend on. */
export interface FinishedTrials {
  readonly file: string;
  /** By trial, those that are known. */
  readonly known: ReadonlyMap<string, DoneTrial>;
  /** Keeps one. Where the disk takes no more, nothing is kept any more, and the warnings say so. */
  keep(result: DoneTrial): void;
  readonly warnings: readonly string[];
  close(): void;
}

/** At most so much work is lost when the machine dies; where only the process does, none is. */
const SYNC_EVERY_MS = 1_000;

/**
 * Opens the file of a basis under the state directory. What a crash tore, or anything else changed, is left out. `fresh`
 * forgets what is there. Throws USAGE where nothing can be written.
 */
export function openFinishedTrials(stateDir: string, { key, ...basis }: TrialBasis, { fresh }: { readonly fresh: boolean }): FinishedTrials {
  const dir = join(stateDir, 'sweeps');
  const file = join(dir, `${key}.ndjson`);
  let descriptor: number | undefined;
  let text = '';
  try {
    mkdirSync(dir, { recursive: true });
    // Appended to in any case: another process may keep its trials in the same file.
    descriptor = openSync(file, 'a');
    if (fresh) ftruncateSync(descriptor);
    text = readFileSync(file, 'utf8');
    if (text === '') appendWhole(descriptor, `${stringifyJson({ format_version: 1, ...basis })}\n`);
    // A line that a crash tore ends here; another process that writes the same file loses nothing by it.
    else if (!text.endsWith('\n')) appendWhole(descriptor, '\n');
  } catch (cause) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw new GannetError('USAGE', `finished trials cannot be kept in ${dir}: ${messageOf(cause)}; give another folder with --state-dir`, { cause });
  }
  const warnings: string[] = [];
  let syncedAt = stopwatch();
  const attempt = (work: (open: number) => void): void => {
    if (descriptor === undefined) return;
    try {
      work(descriptor);
    } catch (error) {
      warnings.push(`finished trials are not kept any more: ${messageOf(error)}; after an interruption these are run again`);
      closeSync(descriptor);
      descriptor = undefined;
    }
  };
  return {
    file,
    known: new Map(text.split('\n').slice(1).flatMap((line) => resultIn(line) ?? []).map((result) => [result.id, result])),
    warnings,
    keep: (result) => {
      attempt((open) => {
        appendWhole(open, lineOf(result));
        if (stopwatch() - syncedAt < SYNC_EVERY_MS) return;
        fsyncSync(open);
        syncedAt = stopwatch();
      });
    },
    close: () => {
      attempt((open) => {
        fsyncSync(open);
        closeSync(open);
        descriptor = undefined;
      });
    },
  };
}

const CHECK_LENGTH = 9;

/** It begins with its own check, for nothing else vouches for it. */
function lineOf(result: DoneTrial): string {
  const body = stringifyJson(result);
  return `${checkOf(body)} ${body}\n`;
}

function resultIn(line: string): DoneTrial | undefined {
  const body = line.slice(CHECK_LENGTH);
  return body !== '' && line.startsWith(checkOf(body)) ? (JSON.parse(body) as DoneTrial) : undefined;
}

function checkOf(body: string): string {
  return crc32(body).toString(16).padStart(CHECK_LENGTH - 1, '0');
}
