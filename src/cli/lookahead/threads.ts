import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ThreadPool } from '../../backtest/lookahead.ts';
import type { PassAnswer, PassTask, PassThread } from '../../backtest/lookahead/pass.ts';
import { GannetError } from '../../core/errors.ts';
import type { ThreadData } from './thread-data.ts';

const WORKER = new URL('./worker.ts', import.meta.url);

/**
 * Returns threads for passes. One is lent again only while nothing that all code shares is other than when it began;
 * the modules of strategies are loaded anew in any case. An interrupt ends them all; nothing of their copies is left then.
 */
export function createThreadPool(data: Omit<ThreadData, 'copiesDir'>, interrupt?: AbortSignal): ThreadPool {
  const copiesDir = mkdtempSync(join(tmpdir(), 'gannet-lookahead-'));
  const idle: PassThread[] = [];
  const alive = new Set<PassThread>();
  const closeAll = async (): Promise<void> => {
    await Promise.all([...alive].map((thread) => thread.close()));
    alive.clear();
    // Of what a thread was writing, the last may come to the disk yet.
    rmSync(copiesDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  };
  interrupt?.addEventListener('abort', () => { void closeAll(); }, { once: true });
  return {
    lend: async ({ isNew = false } = {}) => {
      if (!isNew) for (let waiting = idle.pop(); waiting !== undefined; waiting = idle.pop()) if (!waiting.isSpoiled) return waiting;
      const thread = startThread({ ...data, copiesDir }, interrupt);
      alive.add(thread);
      return thread;
    },
    takeBack: async (thread) => {
      if (!thread.isSpoiled) {
        idle.push(thread);
        return;
      }
      alive.delete(thread);
      await thread.close();
    },
    close: closeAll,
  };
}

function startThread(data: ThreadData, interrupt: AbortSignal | undefined): PassThread {
  const worker = new Worker(WORKER, { workerData: data });
  let isSpoiled = false;
  let fault: unknown;
  let running = '';
  let settle: { resolve: (answer: PassAnswer) => void; reject: (error: unknown) => void } | undefined;
  const fail = (error: unknown): void => {
    isSpoiled = true;
    fault ??= error;
    settle?.reject(fault);
  };
  worker.on('message', (answer: PassAnswer) => {
    isSpoiled ||= answer.traces.length > 0;
    settle?.resolve(answer);
  });
  worker.on('error', fail);
  worker.on('exit', (code) => {
    fail(interrupt?.aborted === true
      ? new GannetError('INTERRUPTED', 'interrupted before it was done')
      : new GannetError('STRATEGY_INVALID', `strategy ${running} ended the thread that it ran in (exit code ${code})`));
  });
  return {
    get isSpoiled() { return isSpoiled; },
    run: (task: PassTask) => new Promise((resolve, reject) => {
      running = task.strategy;
      settle = { resolve, reject };
      if (fault === undefined) worker.postMessage(task, []);
      else fail(fault);
    }),
    close: async () => { await worker.terminate(); },
  };
}
