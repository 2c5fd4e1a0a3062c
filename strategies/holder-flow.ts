import { filter, ignoreElements, map, merge } from 'rxjs';
import { z } from 'zod';
import type { TokenRecordEvent } from '../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, pair, parseDuration, quotes, statOf, tokenRecord, whenFlat,
} from '../src/strategy/index.ts';

/** The share of net buyers among the traders of a window, and the change of the holders in percent. */
interface Sample {
  readonly at: number;
  readonly share: number;
  readonly holderChange: number;
}

/** Buys what many more traders buy than sell, measured against its own past. */
export default defineStrategy({
  name: 'holder-flow',
  summary: 'Buys while far more traders than usual are net buyers of a token and its holders grow; sells afterwards.',
  losesMoneyWhen: 'It loses where the crowd comes at the end of a move, where one person trades with many wallets, '
    + 'and in tokens that die: a list of those that lived is no test of it.',
  params: z.strictObject({
    pair: pair().describe('what is bought, and with what'),
    size: amount().describe('what a purchase costs'),
    window: z.enum(['5m', '1h', '6h']).default('5m')
      .describe('the window of the statistics; one sample is taken per window, because windows that overlap repeat '
        + 'each other'),
    lookback: z.int().min(5).max(500).default(24).describe('how many earlier samples are the usual'),
    enter: z.number().gt(0).default(2)
      .describe('buys at a share of net buyers this many standard deviations above the usual'),
    leave: z.number().default(0).describe('sells at a share this many standard deviations above the usual, or fewer'),
    min_holder_change: z.number().default(0).describe('buys only where the holders changed by more percent than this'),
    hold: duration().default('2h').describe('sells after this time, whatever the share'),
    every: duration().default('1m').describe('how often record and price are polled'),
  }).refine((p) => p.leave < p.enter, { path: ['leave'], message: 'expected less than enter' }),
  inputs: (p) => ({
    record: tokenRecord(p.pair.base, { every: p.every }), price: quotes(p.pair, { amount: p.size, every: p.every }),
  }),
  run: ({ record, price }, p, ctx) => {
    const apartMs = parseDuration(p.window) - parseDuration(p.every) / 2;
    const initial = { at: 0, shares: [] as readonly number[], z: null as number | null };
    const flow = ctx.stateful('flow', initial, ({ shares }, { at, share }: Sample) => ({
      at, shares: [...shares, share].slice(-p.lookback), z: shares.length < p.lookback ? null : zOf(shares, share),
    }));
    const bought = ctx.stateful('bought', 0, (_before, at: number) => at);
    const entries = record.pipe(
      map((event) => sampleOf(event, p.window)),
      // Windows that overlap count the same trades again, and so does a record that was not updated since.
      filter(({ at, share }) => Number.isFinite(share) && at >= flow.value.at + apartMs),
      flow,
      filter(({ state, event }) => state.z !== null && state.z >= p.enter && event.holderChange > p.min_holder_change),
      whenFlat(ctx, p.pair.base),
      map(({ state, event }) => ctx.buy(p.pair, p.size, `net buyers are ${state.z!.toFixed(1)} deviations above usual`,
        { key: `sample-${event.at}`, retry: { until: p.every, every: '5s' } })),
    );
    const purchases = ctx.fills$.pipe(
      filter(({ fill }) => fill.outputMint === p.pair.base.mint), map(() => ctx.now()), bought, ignoreElements(),
    );
    const isOver = (): boolean => (flow.value.z ?? Infinity) <= p.leave
      || ctx.now() >= bought.value + parseDuration(p.hold);
    const exits = price.pipe(
      filter(() => ctx.available(p.pair.base) > 0n && isOver()),
      map(() => ctx.sell(p.pair, 'all', 'the flow is over')),
    );
    return merge(purchases, entries, exits);
  },
});

/** Returns the sample of a record; a number that is missing makes it NaN, which is none. */
function sampleOf({ record, receivedAt }: TokenRecordEvent, window: '5m' | '1h' | '6h'): Sample {
  const traders = statOf(record, `${window}.numTraders`);
  return {
    at: record.updatedAt ?? receivedAt, holderChange: statOf(record, `${window}.holderChange`),
    share: traders > 0 ? statOf(record, `${window}.numNetBuyers`) / traders : Number.NaN,
  };
}

/** Returns how many standard deviations a value is above the mean of others; null where they are all the same. */
function zOf(others: readonly number[], value: number): number | null {
  const mean = others.reduce((sum, other) => sum + other, 0) / others.length;
  const deviation = Math.sqrt(others.reduce((sum, other) => sum + (other - mean) ** 2, 0) / others.length);
  return deviation > 0 ? (value - mean) / deviation : null;
}
