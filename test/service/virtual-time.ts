import type { Millis } from '../../src/core/time.ts';
import type { VirtualClock } from '../../src/engine/virtual-clock.ts';

/** Moves virtual time on, timer by timer, letting promises settle in between. */
export async function advance(clock: VirtualClock, byMs: Millis): Promise<void> {
  const end = clock.now() + byMs;
  await settled();
  while (clock.nextAt() <= end) {
    clock.advanceTo(clock.nextAt());
    await settled();
  }
  clock.advanceTo(end);
}

/** Lets every promise settle, however long its chain, where no real io is going on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Resolves after a span of virtual time. */
export function after(clock: VirtualClock, delayMs: Millis): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(() => resolve(), delayMs);
  });
}
