import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Trial, TrialResult } from '../../backtest/trial.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { TrialMessage, TrialTask } from './trial-task.ts';

/** The threads of a pool, and what went wrong with one apart from any task. */
export interface Threads {
  readonly pool: Piscina;
  readonly faults: readonly unknown[];
}

/** How a batch ended: trials that its thread did not get to are left. */
export interface BatchEnd {
  readonly left: readonly Trial[];
}

/**
 * Runs a few trials in one of the threads and hands on what each came to. The one during which the thread ends, or is ended
 * since it takes longer than `limitMs`, has failed. Throws STRATEGY_INVALID where the thread did not get as far as to begin.
 */
export async function runBatch({ pool, faults }: Threads, task: Omit<TrialTask, 'port'>, { limitMs, onResult }: {
  readonly limitMs: Millis;
  readonly onResult: (result: TrialResult) => void;
}): Promise<BatchEnd> {
  const { trials } = task;
  const { port1: here, port2: port } = new MessageChannel();
  const tooLong = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isReady = false;
  let done = 0;
  const restartTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => { tooLong.abort(); }, limitMs);
  };
  here.on('message', (message: TrialMessage) => {
    restartTimer();
    if (message.kind === 'ready') {
      isReady = true;
      return;
    }
    done += 1;
    onResult(message.result);
  });
  // It closes behind the last message, and when the thread at its other end is gone.
  const closed = new Promise((resolve) => { here.on('close', resolve); });
  try {
    await pool.run({ ...task, port } satisfies TrialTask, { transferList: moved(port), signal: tooLong.signal });
    await closed;
    return { left: [] };
  } catch (error) {
    // A task that never reached a thread takes its port with it.
    port.close();
    await closed;
    const during = trials[done];
    if (!isReady) throw new GannetError('STRATEGY_INVALID', `the thread that runs the trials cannot begin: ${printable(messageOf(faults[0] ?? error), 500)}`, { cause: error });
    if (during === undefined) return { left: [] };
    onResult({ kind: 'failed', id: during.id, reason: tooLong.signal.aborted ? `it takes longer than ${formatDuration(limitMs)}` : reasonOf(error) });
    return { left: trials.slice(done + 1) };
  } finally {
    clearTimeout(timer);
  }
}

/** A list, which the library's types take for options. */
function moved(port: MessagePort): NonNullable<Parameters<Piscina['run']>[1]>['transferList'] {
  const list: unknown = [port];
  return list as NonNullable<Parameters<Piscina['run']>[1]>['transferList'];
}

function reasonOf(error: unknown): string {
  const code = /^worker exited with code: (-?\d+)$/.exec(messageOf(error))?.[1];
  if (code !== undefined) return `a strategy ended the thread that it ran in (exit code ${code})`;
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return 'it needs more memory than a thread has';
  return printable(messageOf(error), 500);
}
