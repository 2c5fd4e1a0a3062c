import type { SchedulerAction, Subscription } from 'rxjs';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Clock, Millis } from '../../../src/core/time.ts';
import { createEngineLoop } from '../../../src/daemon/run/engine-loop.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { trouble } from '../../market/events.ts';
import { TOKENS } from '../../market/tokens.ts';
import { createState, freshSnapshot } from '../../../src/trading/engine-state.ts';
import type { RiskLimits } from '../../../src/trading/limits.ts';
import type { Bps, Amount } from '../../../src/core/amount.ts';

const LIMITS: RiskLimits = {
  maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, maxTrade: undefined,
  maxPosition: new Map(), maxOpenIntents: 1,
  maxSwaps: { perMinute: 6, perHour: 60, perDay: 300 }, solReserve: 0n as Amount,
};
const START = 1_790_000_000_000;

/** A wall clock that a test sets, forward and back. */
function settableClock(): { readonly clock: Clock; readonly set: (at: Millis) => void } {
  let now = START;
  const clock: Clock = {
    now: () => now,
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: Millis, state?: T): Subscription =>
      asyncScheduler.schedule(work, delay, state),
  };
  return { clock, set: (at) => { now = at; } };
}

function stampsOf(
  times: readonly Millis[],
): { readonly at: Millis; readonly seq: number; readonly receivedAt: Millis }[] {
  const { clock, set } = settableClock();
  const stamps: { at: Millis; seq: number; receivedAt: Millis }[] = [];
  const engine = new Engine({
    state: createState({ tokens: TOKENS, limits: LIMITS, strategies: [], snapshot: freshSnapshot(new Map()) }),
    strategies: [], startAt: START, seed: 1,
    listener: { onInput: (seq, at, input) => {
      stamps.push({ seq, at, receivedAt: 'receivedAt' in input ? input.receivedAt : -1 });
    } },
  });
  const loop = createEngineLoop(engine, clock);
  for (const at of times) {
    set(at);
    loop.accept(trouble('quote:x', at));
  }
  loop.stop();
  return stamps;
}

describe('the engine loop', () => {
  it('stamps in the order of arrival when the wall clock jumps back', () => {
    const stamps = stampsOf([START + 10, START + 5, START - 3_600_000, START + 11]);
    expect(stamps.map(({ at }) => at)).toStrictEqual([START + 10, START + 10, START + 10, START + 11]);
    expect(stamps.map(({ seq }) => seq)).toStrictEqual([1, 2, 3, 4]);
  });

  it('sets the time of receipt to the stamp, at which replay shows the event', () => {
    const stamps = stampsOf([START + 10, START + 5]);
    expect(stamps.every(({ at, receivedAt }) => at === receivedAt)).toBe(true);
  });
});
