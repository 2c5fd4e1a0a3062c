import { EMPTY, concat, map, mergeMap, take } from 'rxjs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readRecordedChecks } from '../../src/backtest/recorded-checks.ts';
import type { InputCursor } from '../../src/backtest/driver.ts';
import { assert } from '../../src/core/assert.ts';
import { runToEnd } from '../../src/core/chunked-work.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { RowSource } from '../../src/recording/shared/shared-source.ts';
import { runTrialInChunks } from '../../src/research/trials/run-trial.ts';
import { trialOf } from '../../src/research/trials/trial.ts';
import { measureInChunks } from '../../src/research/trials/measured-run.ts';
import {
  PricedQuote, defineStrategy, quotes, slots, smaCrossover, tokenStats,
} from '../../src/strategy/index.ts';
import type { TokenAmount } from '../../src/strategy/index.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import smaStrategy from '../../strategies/sma-crossover.ts';
import { buyingSol, PURCHASE, sellingSol, stats } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { appendAll, openWriter, temporaryFolder } from '../recording/temporary.ts';
import { threadStrategy, trialSetup } from '../research/trials/trial-setup.ts';
import { configured } from '../strategies/instances.ts';
import { stateWith, strategySetup } from '../trading/states.ts';

const AT = 1_750_000_000_000;
const SPENT: TokenAmount = { token: USDC, amount: PURCHASE };
const TOO_MUCH: TokenAmount = { token: USDC, amount: 1_000_000_000_000_000n };
const NO_PARAMS = z.strictObject({});

type Row = readonly [after: number, input: (at: number) => MarketEvent];

async function recorded(rows: readonly Row[]): Promise<string> {
  const writer = openWriter(temporaryFolder());
  appendAll(writer, rows.map(([after, make], index) => {
    const at = AT + after;
    return { seq: index + 1, at, input: make(at) };
  }), 64);
  await writer.close();
  return writer.directory;
}

/** Returns the cursor with quotes that must all be made. */
function made<C extends InputCursor>(cursor: C): C {
  cursor.quotes = () => undefined;
  return cursor;
}

function backtest(cursor: InputCursor, { strategies, protections = [] }: {
  readonly strategies: readonly StrategyInstance[]; readonly protections?: readonly Protection[];
}) {
  const state = stateWith({
    strategies: strategies.map(({ name }) => strategySetup(name)), limits: { protections },
  });
  const decisions: unknown[] = [];
  const { result, record, warnings } = runToEnd(measureInChunks({
    state, strategies, seed: 7, startAt: AT, cursor, model: BASE_MODEL, stopwatch: () => 0, currency: USDC,
    onDecision: (decision) => { decisions.push(decision); },
    instruments: [SOL], everyMs: 60_000, interval: false,
  }));
  return { decisions, result, record, warnings, state: snapshotState(state) };
}

it('a period leaves out the rows before it where the clock was set back within it', async () => {
  const rows = Array.from({ length: 1_000 }, (_, n): Row =>
    // From the 500th row on, the clock is 20 s behind.
    [n * 200 - (n >= 500 ? 20_000 : 0), (at) => buyingSol(Math.round(150_000 + 6_000 * Math.sin(n / 15)), at)]);
  const directory = await recorded(rows);
  const recording = openRecording(directory);
  const { name, rawParams, budget, limits, warmupMs } = threadStrategy('sma-crossover', { fast: 20, slow: 60 });
  const [passing, making] = [<C>(one: C) => one, made].map((change) => {
    const source: RowSource = {
      kinds: recording.kinds, feeds: recording.feeds, since: () => source,
      cursor: (choice) => change(recording.cursor(choice)),
    };
    return runToEnd(runTrialInChunks(trialOf({ params: {}, period: { from: AT + 95_000, to: AT + 180_000 } }), {
      setup: { ...trialSetup(directory, []), firstAt: AT, lastAt: AT + 199_000 },
      strategies: [{ name, rawParams, budget, limits, warmupMs, strategy: smaStrategy }],
      rows: source, checks: readRecordedChecks(source), stopwatch: () => 0,
    }));
  });
  expect(passing).toStrictEqual(making);
});

/** Holds SOL, then tries a swap that is denied, and at the same instant (by a timer) another one. */
const twice = defineStrategy({
  name: 'twice', summary: 'A test.', params: NO_PARAMS,
  inputs: () => ({ word: tokenStats(SOL, { every: '1s' }) }),
  run: ({ word }, _, ctx) => word.pipe(mergeMap((_value, n) => (n === 0 ? [ctx.buy(SOL_USDC, SPENT, 'first')]
    : n > 1 ? EMPTY : concat(
      [ctx.buy(SOL_USDC, TOO_MUCH, 'far too much')],
      slots(ctx, { every: '1m' }).pipe(take(1), map(() => ctx.buy(SOL_USDC, SPENT, 'at the timer'))),
    )))),
});

it('an entry is checked at the price of a passed quote, also where the clock was set back', async () => {
  const protections: readonly Protection[] = [
    { trigger: { kind: 'max-drawdown', limitPct: 1 }, scope: 'strategy', action: 'deny',
      release: { kind: 'elapsed', afterMs: 300_000 } },
  ];
  const directory = await recorded([
    [0, (at) => buyingSol(150_000, at)],
    [0, (at) => sellingSol(149_990, at)],
    [1_000, (at) => stats(SOL, 150, at)],
    [30_000, (at) => buyingSol(150_000, at)],
    [30_000, (at) => sellingSol(149_990, at)],
    [30_500, (at) => stats(SOL, 150, at)],
    // The clock was set back by 400 ms, and the price has halved.
    [30_100, (at) => sellingSol(70_000, at)],
    [30_100, (at) => buyingSol(70_010, at)],
    [31_000, (at) => stats(SOL, 70, at)],
    [60_000, (at) => stats(SOL, 70, at)],
  ]);
  const setting = { strategies: [configured(twice, {})], protections };
  expect(backtest(openRecording(directory).cursor(), setting))
    .toEqual(backtest(made(openRecording(directory).cursor()), setting));
});

/** Trades the price turned round, of an input of its own. */
const inverse = defineStrategy({
  name: 'inverse', summary: 'A test.', params: NO_PARAMS,
  inputs: () => {
    const price = quotes(SOL_USDC, { amount: SPENT, every: '1s' });
    const inverted = (event: MarketEvent): PricedQuote => {
      assert(event.kind === 'quote', 'a quote feed emits quotes');
      return new PricedQuote(event, 1 / price.adapt(event).price);
    };
    return { price: { ...price, adapt: inverted } };
  },
  run: ({ price }, _, ctx) => price.pipe(smaCrossover(2, 5), map(({ trend }) => ctx.alert('info', trend))),
});

it('an input with an adapt of its own is seen as adapted', async () => {
  const directory = await recorded(Array.from({ length: 100 }, (_, n): Row =>
    [n * 1_000, (at) => buyingSol(Math.round(150_000 + 6_000 * Math.sin(n / 4)), at)]));
  const setting = { strategies: [configured(inverse, {})] };
  expect(backtest(openRecording(directory).cursor(), setting))
    .toEqual(backtest(made(openRecording(directory).cursor()), setting));
});
