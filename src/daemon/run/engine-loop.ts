import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Input } from '../../trading/step.ts';
import { elapsedMs } from '../hosts/host-channel.ts';

/** Connects an engine with real time: stamps its inputs, and wakes it for its timers. */
export interface EngineLoop {
  accept(input: Input): void;
  /**
   * Moves the engine to now and carries out work at that time, in slices. Other things happen between these, but events
   * and outcomes wait until the work is done. A command does not wait: it ends the work before, which returns
   * "interrupted" then.
   */
  exclusively<T>(work: (at: Millis) => ChunkedWork<T>): Promise<T | 'interrupted'>;
  /** Returns the stamp of an event that happens now; never before the last one. */
  stamp(): Millis;
  /** Arms the first wake-up; call after the strategies have started. */
  start(): void;
  stop(): void;
}

/** The longest timer of Node; a wake-up that comes too early sets the next one. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** The longest slice of work at one time, but for a single step of it. */
const SLICE_MS = 20;

/** No load delays a timer by more than this. */
const OVERDUE_MS = 5_000;

/** Returns the loop of an engine. Only here the engine meets the wall clock. */
export function createEngineLoop(engine: Engine, clock: Clock): EngineLoop {
  let wake: { due: Millis; cancel: () => void } | undefined;
  let running = false;
  /** What waits for work at one time. */
  let waiting: Input[] | undefined;

  const stamp = (): Millis => Math.max(clock.now(), engine.clock.now());
  /**
   * A timer long overdue means that the machine slept. The engine skips the missed timers instead of firing them all.
   */
  const skipSleep = (at: Millis): void => {
    const lateMs = at - Math.max(engine.clock.nextAt(), engine.clock.now());
    if (lateMs <= OVERDUE_MS) return;
    engine.accept({
      kind: 'command', name: 'leap-time', from: engine.clock.now(),
      reason: `the process did not run for ${formatDuration(lateMs)}`,
    }, at);
  };
  const arm = (): void => {
    const due = engine.clock.nextAt();
    if (!running || waiting !== undefined || due === wake?.due) return;
    wake?.cancel();
    wake = undefined;
    if (due === Infinity) return;
    const timer = clock.schedule(() => {
      wake = undefined;
      const at = stamp();
      skipSleep(at);
      engine.advanceTo(at);
      arm();
    }, Math.min(Math.max(0, due - clock.now()), TIMER_MAX_MS));
    wake = { due, cancel: () => { timer.unsubscribe(); } };
  };

  const accept = (input: Input): void => {
    const at = stamp();
    skipSleep(at);
    // Replay shows an event at `receivedAt`, so that must be the stamp.
    engine.accept('receivedAt' in input && input.receivedAt !== at ? { ...input, receivedAt: at } : input, at);
  };
  const stopWaiting = (): void => {
    const inputs = waiting ?? [];
    waiting = undefined;
    for (const input of inputs) accept(input);
    arm();
  };

  return {
    stamp,
    accept: (input) => {
      if (waiting !== undefined && input.kind !== 'command') {
        waiting.push(input);
        return;
      }
      if (waiting !== undefined) stopWaiting();
      accept(input);
      arm();
    },
    exclusively: async (work) => {
      assert(waiting === undefined, 'work at one time follows other such work');
      const at = stamp();
      skipSleep(at);
      engine.advanceTo(at);
      wake?.cancel();
      wake = undefined;
      const own: Input[] = [];
      waiting = own;
      try {
        for (const chunks = work(at); ;) {
          for (const endsAt = elapsedMs() + SLICE_MS; elapsedMs() < endsAt;) {
            const chunk = chunks.next();
            if (chunk.done === true) return chunk.value;
          }
          await nextTurn();
          if (waiting !== own) return 'interrupted';
        }
      } finally {
        if (waiting === own) stopWaiting();
      }
    },
    start: () => {
      running = true;
      arm();
    },
    stop: () => {
      if (waiting !== undefined) stopWaiting();
      running = false;
      wake?.cancel();
    },
  };
}
