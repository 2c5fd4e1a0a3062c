import type { ThreadPool } from '../lookahead.ts';
import type { PassAnswer, PassTask, PassThread } from '../pass.ts';
import { GannetError } from '../../../core/errors.ts';
import { stopText } from '../../box/supervise.ts';
import type { WorkerBox } from '../../box/workers.ts';
import type { ThreadData } from './lookahead-worker.ts';

/**
 * Returns a pool of boxed processes for passes. One is used again only while shared state is as at its start. The
 * modules of strategies are loaded again in any case. An interrupt ends all processes.
 */
export function createThreadPool(box: WorkerBox, data: ThreadData, interrupt?: AbortSignal): ThreadPool {
  const idle: PassThread[] = [];
  const started = new Set<PassThread>();
  const closeAll = async (): Promise<void> => {
    await Promise.all([...started].map((thread) => thread.close()));
    started.clear();
  };
  interrupt?.addEventListener('abort', () => { void closeAll(); }, { once: true });
  return {
    acquire: async ({ isNew = false } = {}) => {
      if (!isNew) {
        for (let free = idle.pop(); free !== undefined; free = idle.pop()) if (!free.isContaminated) return free;
      }
      const thread = startThread(box, data, interrupt);
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

function startThread(box: WorkerBox, data: ThreadData, interrupt: AbortSignal | undefined): PassThread {
  let isContaminated = false;
  let fault: unknown;
  let running = '';
  let settle: { resolve: (answer: PassAnswer) => void; reject: (error: unknown) => void } | undefined;
  const closed = Promise.withResolvers<void>();
  const worker = box.start('lookahead', {
    onMessage: (message) => {
      const answer = message as PassAnswer;
      isContaminated ||= answer.globalChanges.length > 0;
      settle?.resolve(answer);
    },
    onEnd: ({ code, signal, stop }) => {
      isContaminated = true;
      fault ??= interrupt?.aborted === true
        ? new GannetError('INTERRUPTED', 'interrupted before it was done')
        : stop !== undefined ? new GannetError(stop.code, stopText(stop), { details: { place: stop.place } })
        : new GannetError('STRATEGY_INVALID', `strategy ${running} ended the process that it ran in `
          + `(${signal === null ? `exit code ${code}` : signal})`);
      settle?.reject(fault);
      closed.resolve();
    },
  });
  worker.post(data);
  return {
    get isContaminated() { return isContaminated; },
    run: (task: PassTask) => new Promise((resolve, reject) => {
      running = task.strategy;
      settle = { resolve, reject };
      if (fault === undefined) worker.post(task);
      else reject(fault);
    }),
    close: async () => {
      worker.kill();
      await closed.promise;
    },
  };
}
