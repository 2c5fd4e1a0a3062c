import type { Clock, Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { Input } from '../trading/step.ts';

/** Joins an engine to the real time: stamps what comes, and wakes it for its timers. */
export interface Loop {
  accept(input: Input): void;
  /** Returns the stamp that something happening now gets: never before the last one. */
  stamp(): Millis;
  /** Arms the first wake-up; call after the strategies have started. */
  start(): void;
  stop(): void;
}

/** The longest span that Node's timers take; a wake-up that comes too early arms the next one. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** More than any load makes a timer late. */
const OVERDUE_MS = 5_000;

/** Returns the loop of an engine; the only place where the engine meets the wall clock. */
export function createLoop(engine: Engine, clock: Clock): Loop {
  let wake: { due: Millis; cancel: () => void } | undefined;
  let running = false;

  const stamp = (): Millis => Math.max(clock.now(), engine.clock.now());
  /** A timer that is long overdue means that the machine slept: what would have happened then must not happen now, in a row. */
  const wakeUp = (at: Millis): void => {
    const lateMs = at - Math.max(engine.clock.nextAt(), engine.clock.now());
    if (lateMs <= OVERDUE_MS) return;
    engine.accept({ kind: 'command', name: 'leap-time', from: engine.clock.now(), reason: `the process was not run for ${formatDuration(lateMs)}` }, at);
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
      wakeUp(at);
      engine.advanceTo(at);
      arm();
    }, Math.min(Math.max(0, due - clock.now()), TIMER_MAX_MS));
    wake = { due, cancel: () => { timer.unsubscribe(); } };
  };

  return {
    stamp,
    accept: (input) => {
      const at = stamp();
      wakeUp(at);
      // What replay shows at `receivedAt` must be what happened at the stamp.
      engine.accept('receivedAt' in input && input.receivedAt !== at ? { ...input, receivedAt: at } : input, at);
      arm();
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
