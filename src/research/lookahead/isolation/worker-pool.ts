import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ThreadPool } from '../lookahead.ts';
import type { PassAnswer, PassTask, PassThread } from '../pass.ts';
import { GannetError } from '../../../core/errors.ts';
import type { ThreadData } from './lookahead-worker.ts';

const WORKER = new URL('./lookahead-worker.ts', import.meta.url);

/**
 * Returns a pool of threads for passes. A thread is used again only while shared state is as at its start. The modules
 * of strategies are loaded again in any case. An interrupt ends all threads and removes their copies.
 */
export function createThreadPool(data: Omit<ThreadData, 'copiesDir'>, interrupt?: AbortSignal): ThreadPool {
  const copiesDir = mkdtempSync(join(tmpdir(), 'gannet-lookahead-'));
  const idle: PassThread[] = [];
  const started = new Set<PassThread>();
  const closeAll = async (): Promise<void> => {
    await Promise.all([...started].map((thread) => thread.close()));
    started.clear();
    // Retries, because the last write of an ended thread may still reach the disk.
    rmSync(copiesDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  };
  interrupt?.addEventListener('abort', () => { void closeAll(); }, { once: true });
  return {
    acquire: async ({ isNew = false } = {}) => {
      if (!isNew) {
        for (let free = idle.pop(); free !== undefined; free = idle.pop()) if (!free.isContaminated) return free;
      }
      const thread = startThread({ ...data, copiesDir }, interrupt);
      started.add(thread);
      return thread;
    },
    release: async (thread) => {
      if (!thread.isContaminated) {
        idle.push(thread);
        return;
      }
      started.delete(thread);
      await thread.close();
    },
    close: closeAll,
  };
}

function startThread(data: ThreadData, interrupt: AbortSignal | undefined): PassThread {
  const worker = new Worker(WORKER, { workerData: data });
  let isContaminated = false;
  let fault: unknown;
  let running = '';
  let settle: { resolve: (answer: PassAnswer) => void; reject: (error: unknown) => void } | undefined;
  const fail = (error: unknown): void => {
    isContaminated = true;
    fault ??= error;
    settle?.reject(fault);
  };
  worker.on('message', (answer: PassAnswer) => {
    isContaminated ||= answer.globalChanges.length > 0;
    settle?.resolve(answer);
  });
  worker.on('error', fail);
  worker.on('exit', (code) => {
    fail(interrupt?.aborted === true
      ? new GannetError('INTERRUPTED', 'interrupted before it was done')
      : new GannetError('STRATEGY_INVALID', `strategy ${running} ended the thread that it ran in (exit code ${code})`));
  });
  return {
    get isContaminated() { return isContaminated; },
    run: (task: PassTask) => new Promise((resolve, reject) => {
      running = task.strategy;
      settle = { resolve, reject };
      if (fault === undefined) worker.postMessage(task, []);
      else fail(fault);
    }),
    close: async () => { await worker.terminate(); },
  };
}
