import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PROJECT_DIR } from '../../../core/code-files.ts';
import { GannetError } from '../../../core/errors.ts';
import { parseJson } from '../../../core/json.ts';
import { printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { runDirOf } from '../../../daemon/files/find-run.ts';
import { readDecisions } from '../../../daemon/files/run-files.ts';
import type { TimeRange } from '../../../recording/reader.ts';
import type { BacktestDecisions } from '../../../research/lookahead/lookahead.ts';
import type { Decision } from '../../../trading/step.ts';

/** The members of an answer of `gannet backtest --json` that are read here. */
interface BacktestDocument {
  readonly run_id?: string;
  readonly decision_hash?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Runs `gannet backtest` as a user does, in a process of its own, and returns its decisions. Its run is no trial, and
 * its files are removed. Throws STRATEGY_INVALID where it fails, and INTERRUPTED.
 */
export async function backtestDecisions({ file, recordingDir, timerange, until, interrupt }: {
  readonly file: string;
  /** Absolute. */
  readonly recordingDir: string;
  readonly timerange?: TimeRange | undefined;
  readonly until: Millis | undefined;
  readonly interrupt: AbortSignal;
}): Promise<BacktestDecisions> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gannet-lookahead-backtest-'));
  try {
    const args = ['--json', '--state-dir', stateDir, 'backtest', file, '--recording', recordingDir, '--no-grid'];
    if (timerange !== undefined) args.push('--timerange', rangeText(timerange));
    const { run_id: runId, decision_hash: decisionHash } = await answerOf(args, interrupt);
    const lines = readDecisions(runDirOf(stateDir, runId!)).map(({ line }) => line);
    return {
      decisionHash: decisionHash!, until,
      decisions: () => lines.map((line) => parseJson(line) as unknown as Decision),
    };
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

function rangeText({ from, to }: TimeRange): string {
  return [from, to].map((at) => (at === undefined ? '' : new Date(at).toISOString())).join('..');
}

async function answerOf(args: readonly string[], interrupt: AbortSignal): Promise<BacktestDocument> {
  const child = spawn(join(PROJECT_DIR, 'bin', 'gannet'), args, {
    // A strategy may never return, so that no other signal ends it.
    stdio: ['ignore', 'pipe', 'pipe'], signal: interrupt, killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    // An interrupted process is an error too; its files are removed after its end.
    child.on('error', (error) => { if (!interrupt.aborted) reject(error); }).on('close', resolve);
  });
  const [code, out, told] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (interrupt.aborted) throw new GannetError('INTERRUPTED', 'interrupted before it was done');
  const document = out.trim() === '' ? {} : parseJson(out) as BacktestDocument;
  if (code === 0) return document;
  const reason = document.error?.message ?? told.trim();
  throw new GannetError('STRATEGY_INVALID', 'gannet backtest, with which this check is compared, failed with exit '
    + `code ${code}: ${printable(reason, 1_000)}`);
}
