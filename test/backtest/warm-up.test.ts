import { map, merge } from 'rxjs';
import { expect, it } from 'vitest';
import { longestWarmup, runBacktest } from '../../src/backtest/backtest.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { interval } from '../../src/strategy/index.ts';
import { prepare, strategy } from '../engine/runs.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { cursorOver, pricePath } from './recordings.ts';

const counting = (name: string, warmupMs?: number): StrategyInstance => ({
  warmupMs,
  ...strategy(name, ({ price }, context) => merge(
    price!.pipe(context.stateful('after-start', 0, (n: number) => n + 1), map(({ state }, n) =>
      context.alert('info', `price ${n}, counted ${state}`))),
    interval(context, '12s').pipe(map((n) => context.alert('info', `timer ${n}`))),
  )),
});

/** Ten prices, five seconds apart from 5 s on. */
const ROWS = pricePath(Array.from({ length: 10 }, () => 150)).map((input) => ({ at: input.receivedAt, input }));

it('a backtest begins after the longest warm-up, and each strategy sees its own part of it', () => {
  const decisions: LoggedDecision[] = [];
  const strategies = [counting('long', 20_000), counting('short', 10_000), counting('none')];
  const result = runBacktest({
    state: stateWith({ strategies: strategies.map(({ name }) => strategySetup(name)) }),
    strategies, seed: 7, startAt: 5_000, cursor: cursorOver(ROWS), model: BASE_MODEL, stopwatch: () => 0,
    onDecision: (decision) => { decisions.push(decision); },
  });
  expect(longestWarmup(strategies)).toBe(20_000);
  expect(result).toMatchObject({ startAt: 25_000, endAt: 50_000, events: 6 });
  const said = (name: string) => decisions.filter((decision) => decision.strategy === name)
    .map(({ at, proposal }) => `${at} ${proposal.kind === 'alert' ? proposal.message : ''}`);
  expect(said('long')[0]).toBe('25000 price 4, counted 1');
  expect(said('short')[0]).toBe('25000 price 2, counted 1');
  expect(said('none')[0]).toBe('25000 price 0, counted 1');
  expect(said('long').filter((text) => text.includes('timer'))).toEqual(['29000 timer 1', '41000 timer 2']);

  // It equals a run that starts then, warmed up with the rows before.
  const live = prepare(strategies, { startAt: 25_000 });
  live.engine.warmUp(cursorOver(ROWS.filter(({ at }) => at >= 5_000 && at < 25_000)));
  live.engine.start();
  for (const { at, input } of ROWS.filter((row) => row.at >= 25_000)) live.engine.accept(input, at);
  expect(live.engine.decisionHash).toBe(result.decisionHash);
});

it('a backtest without a warm-up begins with the recording', () => {
  const strategies = [counting('none')];
  const result = runBacktest({
    state: stateWith({ strategies: [strategySetup('none')] }), strategies, seed: 7, startAt: 5_000,
    cursor: cursorOver(ROWS), model: BASE_MODEL, stopwatch: () => 0,
  });
  expect(result).toMatchObject({ startAt: 5_000, events: 10 });
});
