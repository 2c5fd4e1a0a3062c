import type { Clock, Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Input } from '../../trading/step.ts';

/** Connects an engine with real time: stamps its inputs, and wakes it for its timers. */
export interface EngineLoop {
  accept(input: Input): void;
  /** Moves the engine to now and carries out work at that time, before anything else happens. */
  exclusively<T>(work: (at: Millis) => T): T;
  /** Returns the stamp of an event that happens now; never before the last one. */
  stamp(): Millis;
  /** Arms the first wake-up; call after the strategies have started. */
  start(): void;
  stop(): void;
}

/** The longest timer of Node; a wake-up that comes too early sets the next one. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** No load delays a timer by more than this. */
const OVERDUE_MS = 5_000;

/** Returns the loop of an engine. Only here the engine meets the wall clock. */
export function createEngineLoop(engine: Engine, clock: Clock): EngineLoop {
  let wake: { due: Millis; cancel: () => void } | undefined;
  let running = false;

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
    if (!running || due === wake?.due) return;
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

  return {
    stamp,
    accept: (input) => {
      const at = stamp();
      skipSleep(at);
      // Replay shows an event at `receivedAt`, so that must be the stamp.
      engine.accept('receivedAt' in input && input.receivedAt !== at ? { ...input, receivedAt: at } : input, at);
      arm();
    },
    exclusively: (work) => {
      const at = stamp();
      skipSleep(at);
      engine.advanceTo(at);
      try {
        return work(at);
      } finally {
        arm();
      }
    },
    start: () => {
      running = true;
      arm();
    },
    stop: () => {
      running = false;
      wake?.cancel();
    },
  };
}
