import { tap, ignoreElements } from 'rxjs';
import { expect, it } from 'vitest';
import { backtestInChunks } from '../../src/backtest/backtest.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { strategy } from '../engine/runs.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { cursorOver, pricePath } from './recordings.ts';

const EVENTS = 1_000;
const ROWS = pricePath(Array.from({ length: EVENTS }, () => 150)).map((input) => ({ at: input.receivedAt, input }));

/**
 * Runs a backtest with a strategy that takes a given time for each event, by a stopwatch of its own. Returns the number
 * of events at the end of each chunk.
 */
function stepsOf(
  eventMs: (event: number) => number, isHeard = true,
): { readonly heard: readonly number[]; readonly steps: number; readonly events: number } {
  let now = 0;
  let event = 0;
  const heard: number[] = [];
  const strategies = [strategy('slow', ({ price }) =>
    price!.pipe(tap(() => { now += eventMs(++event); }), ignoreElements()))];
  const steps = backtestInChunks({
    state: stateWith({ strategies: [strategySetup('slow')] }), strategies, seed: 7, startAt: 0,
    cursor: cursorOver(ROWS), model: BASE_MODEL,
    stopwatch: () => now, ...isHeard ? { onEvents: (events: number) => { heard.push(events); } } : {},
  });
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done === true) return { heard, steps: count, events: step.value.events };
  }
}

it('a backtest of a slow strategy yields often', () => {
  const { heard, events } = stepsOf((event) => (event <= 200 ? 0 : 10));
  expect(events).toBe(EVENTS);
  expect(heard.slice(0, 2)).toStrictEqual([64, 192]);
  const lengths = heard.slice(4).map((count, index) => count - heard[index + 3]!);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(10);
  expect(Math.min(...lengths)).toBeGreaterThanOrEqual(4);
});

it('a backtest yields rarely if it is fast, and in fixed chunks without a listener', () => {
  expect(stepsOf(() => 0).heard).toStrictEqual([64, 192, 448, 960]);
  expect(stepsOf(() => 10, false)).toStrictEqual({ heard: [], steps: 1, events: EVENTS });
});
