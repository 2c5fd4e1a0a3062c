import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { BoxedCall, BoxedCommand } from '../command.ts';
import type { BoxedContext, PreparedCall } from './boxed-context.ts';
import type { ExitCode } from '../exit-codes.ts';
import { ensureWritable } from '../input/files.ts';
import { BACKTEST_RUN, findRecording, findRun } from '../../daemon/files/find-run.ts';
import { isBeingWritten } from '../../recording/recording-files.ts';

/** The work of a command that runs strategy code. */
type BoxedAction = (context: BoxedContext, call: PreparedCall) => Promise<ExitCode>;

/** The variables of a terminal that a boxed command prints by. */
export const TERMINAL_VARIABLES = ['COLUMNS', 'NO_COLOR'] as const;

/** The actions by command. Running one loads no other. */
export const BOXED_ACTIONS: Readonly<Record<BoxedCommand, () => Promise<BoxedAction>>> = {
  'backtest': async () => (await import('../commands/research/backtest.ts')).backtest,
  'sweep': async () => (await import('../commands/research/sweep.ts')).sweep,
  'walk-forward': async () => (await import('../commands/research/walk-forward.ts')).walkForwardAction,
  'lookahead': async () => (await import('../commands/research/lookahead.ts')).lookaheadAction,
  'replay': async () => (await import('../commands/research/replay.ts')).replay,
  'strategy-check': async () => (await import('../commands/strategy/check-action.ts')).checkStrategies,
};

/**
 * Finds the places of a call. Throws RECORDING_NOT_FOUND, RUN_NOT_FOUND, and USAGE for an output that no file can
 * be.
 */
export function prepareCall({ stateDir }: { readonly stateDir: string }, call: BoxedCall): PreparedCall {
  if (call.report !== undefined) ensureWritable(call.report, '--report');
  if (call.trades !== undefined) ensureWritable(call.trades, '--trades');
  const recordingDir = call.recording === undefined ? undefined : resolve(findRecording(stateDir, call.recording));
  return {
    ...call, recordingDir, runId: `${BACKTEST_RUN}${randomBytes(4).toString('hex')}`,
    isBeingWritten: recordingDir !== undefined && isBeingWritten(recordingDir),
    runDir: call.run === undefined ? undefined : resolve(findRun(stateDir, call.run)),
  };
}
