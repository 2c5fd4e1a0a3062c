import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError, messageOf } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import { DecisionLog } from '../../engine/decision-log.ts';
import { runDirOf } from './find-run.ts';
import type { CodeCopy } from './kept-code.ts';
import { writeCodeCopy } from './kept-code.ts';
import { openRolledFile, partsOf, readPart } from './rolled-file.ts';
import type { RunManifest } from './run-manifest.ts';
import { writeManifest } from './run-manifest.ts';

/** The file of a backtest's answer, as `--json` prints it. */
export const RESULT_FILE = 'result.json';

/** The files of a run while it writes them. */
export interface RunFiles {
  readonly dir: string;
  decision(logged: LoggedDecision): void;
  /** Replaces the manifest, whole or not at all. */
  manifest(manifest: RunManifest): void;
  /** Keeps a copy of a strategy's code. */
  code(copy: CodeCopy): void;
  close(): void;
}

/** The decisions of a run; `decisions.1.ndjson.zst` and so on hold the earlier ones of a long run. */
export const DECISIONS_FILE = 'decisions.ndjson';
/** A day of a decision every five seconds. */
const PART_BYTES = 8_000_000;

/** Opens `state/runs/<run_id>/` for writing. */
export function createRunFiles(stateDir: string, runId: string): RunFiles {
  const dir = runDirOf(stateDir, runId);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const decisions = openRolledFile({ path: join(dir, DECISIONS_FILE), partBytes: PART_BYTES });
  return {
    dir,
    decision: (logged) => { decisions.append(`${stringifyJson(logged)}\n`); },
    manifest: (manifest) => { writeManifest(dir, manifest); },
    code: (copy) => { writeCodeCopy(dir, copy); },
    close: () => { decisions.close(); },
  };
}

/** The files of a run on a disk that may be full. */
export interface WriteBehindRunFiles extends RunFiles {
  /** Writes again what the disk did not take. */
  retry(): void;
}

/** A gap would break the chain of hashes. Beyond this many waiting decisions the file ends where it is. */
const WAITING_MAX = 20_000;

/**
 * Returns a run's files that keep in memory what the disk does not take, and write it as soon as the disk has room. The
 * first write creates the files. No decision is left out until too many wait. Of the manifest only the newest is kept.
 */
export function writeBehindRunFiles({ dir, open }: { readonly dir: string; readonly open: () => RunFiles }, on: {
  /** Called for each write that failed. Returns whether room was made, so that a second try makes sense. */
  readonly onFault: (error: Error) => boolean;
  /** Called when nothing waits any more. */
  readonly onWritten: () => void;
}): WriteBehindRunFiles {
  const decisions: LoggedDecision[] = [];
  const copies: CodeCopy[] = [];
  let manifest: RunManifest | undefined;
  let hasEnded = false;
  let isBehind = false;
  let files: RunFiles | undefined;

  function write(): void {
    files ??= open();
    while (decisions.length > 0) {
      files.decision(decisions[0]!);
      decisions.shift();
    }
    for (; copies.length > 0; copies.shift()) files.code(copies[0]!);
    if (manifest !== undefined) files.manifest(manifest);
    manifest = undefined;
  }

  function retry(): void {
    for (let tries = 1; tries <= 2; tries++) {
      try {
        write();
        if (isBehind) on.onWritten();
        isBehind = false;
        return;
      } catch (error) {
        if (!isDiskFault(error)) throw error;
        isBehind = true;
        if (!on.onFault(error)) return;
      }
    }
  }

  return {
    dir,
    retry,
    decision(logged) {
      if (hasEnded) return;
      decisions.push(logged);
      retry();
      if (decisions.length <= WAITING_MAX) return;
      hasEnded = true;
      decisions.length = 0;
    },
    code(copy) {
      copies.push(copy);
      retry();
    },
    manifest(newest) {
      manifest = newest;
      retry();
    },
    close() {
      retry();
      files?.close();
    },
  };
}

/** Errors of the operating system name a system call; bugs do not. */
function isDiskFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/** One line of a run's `decisions.ndjson`. */
export interface RecordedDecision {
  readonly seq: number;
  readonly at: Millis;
  readonly strategy: string;
  readonly h: string;
  readonly line: string;
}

/**
 * Reads a run's decisions without a last line that a crash cut off. Throws RUN_NOT_FOUND without a readable file, and
 * RECORDING_CORRUPT where a line does not match its hash.
 */
export function readDecisions(runDir: string): RecordedDecision[] {
  const path = join(runDir, DECISIONS_FILE);
  const parts = partsOf(path);
  if (parts.length === 0) throw new GannetError('RUN_NOT_FOUND', `${path} is missing: the run cannot be compared`);
  const chain = new DecisionLog();
  return parts.flatMap((part) => {
    const lines = readPart(part).split('\n');
    lines.pop();
    return lines.map((line, index) => {
      const place = `${part.path}:${index + 1}`;
      const { h, ...decision } = readDecision(line, place);
      if (chain.append(decision).h !== h) {
        throw new GannetError('RECORDING_CORRUPT',
          `${place}: the decision is not the one that its hash was made of; restore the file from a copy`);
      }
      return { seq: decision.seq, at: decision.at, strategy: decision.strategy, h, line };
    });
  });
}

function readDecision(line: string, place: string): LoggedDecision {
  try {
    return parseJson(line) as unknown as LoggedDecision;
  } catch (cause) {
    throw new GannetError('RUN_NOT_FOUND', `${place} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
