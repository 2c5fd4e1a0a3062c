import { filter, map, merge, mergeMap, share } from 'rxjs';
import { z } from 'zod';
import type { HoldSignal, QuoteLadder } from '../src/strategy/index.ts';
import {
  amount, chainedOutput, defineStrategy, duration, followSignal, parseDuration, quoteRound, roundSpan, whenFlat,
} from '../src/strategy/index.ts';

/** Watches a cycle of swaps that ends at its first token, and alerts when its executable prices bring a profit. */
export default defineStrategy({
  name: 'cyclic-arbitrage',
  summary: 'Alerts when a cycle of swaps brings more than it costs; on request it also trades the cycle.',
  losesMoneyWhen: 'Nearly every profit that it sees is an old price. It trades one leg after the other, so the price '
    + 'of a later leg can change, or that leg can fail, while a token of the cycle is held.',
  params: z.strictObject({
    legs: z.array(amount()).min(2).max(5).describe('what each swap spends, in order; the last one buys the first '
      + 'token. A round is ignored where a leg brings more than the next one spends: let each spend a little more'),
    every: duration().default('5s').describe('how often each leg is quoted'),
    min_profit_bps: z.number().default(20).describe('from which profit on it alerts, in basis points of the first '
      + 'amount after costs; above 0 to trade'),
    rearm_bps: z.number().default(0).describe('how far the profit must fall before it can alert again'),
    confirm: z.int().min(1).max(100).default(2).describe('how many rounds in a row must agree'),
    leg_cost_bps: z.number().min(0).default(0)
      .describe('what a leg costs beyond its quote in basis points, such as slippage'),
    network_fee: amount().optional().describe('the network’s fee for a leg, in the first token'),
    max_apart: duration().default('2s').describe('a round whose quotes lie further apart is ignored'),
    max_slots: z.int().min(0).default(5).describe('the same in slots of the market, as far as quotes state theirs'),
    act: z.enum(['alert', 'trade']).default('alert').describe('trade: swap leg by leg at an alert'),
  })
    .refine((p) => new Set(p.legs.map(({ token }) => token.mint)).size === p.legs.length, {
      path: ['legs'], message: 'expected a different token in each leg',
    })
    .refine((p) => p.network_fee === undefined || p.network_fee.token.mint === p.legs[0]?.token.mint, {
      path: ['network_fee'], message: 'expected an amount of the first token',
    })
    .refine((p) => p.act === 'alert' || p.min_profit_bps > 0, {
      path: ['min_profit_bps'], message: 'expected more than 0 to trade',
    })
    .refine((p) => p.rearm_bps < p.min_profit_bps, {
      path: ['rearm_bps'], message: 'expected less than min_profit_bps',
    }),
  inputs: (p) => ({
    round: quoteRound(p.legs.map((leg, index) => ({
      pair: { base: p.legs[(index + 1) % p.legs.length]!.token, quote: leg.token }, amount: leg,
    })), { every: p.every }),
  }),
  run: ({ round }, p, ctx) => {
    const tokens = p.legs.map(({ token }) => token);
    const others = tokens.slice(1);
    const spent = p.legs[0]!.amount;
    const fees = (p.network_fee?.amount ?? 0n) * BigInt(p.legs.length);
    /** In basis points after costs; undefined where the quotes are not of one moment, or of too small sizes. */
    const profitOf = (quoted: QuoteLadder): number | undefined => {
      const { ms, slots } = roundSpan(quoted);
      if (ms > parseDuration(p.max_apart) || slots > p.max_slots) return undefined;
      const back = chainedOutput(quoted, spent);
      return back === undefined ? undefined
        : (Number(back - spent - fees) / Number(spent)) * 10_000 - p.leg_cost_bps * p.legs.length;
    };
    // How many rounds in a row agree; beyond `confirm` the alert is out.
    const agreeing = ctx.stateful('agreeing', 0, (known, profit: number) => {
      if (profit >= p.min_profit_bps) return Math.min(known, p.confirm) + 1;
      return known < p.confirm || profit <= p.rearm_bps ? 0 : p.confirm + 1;
    });
    const found = round.pipe(
      map(profitOf), filter((profit) => profit !== undefined), agreeing,
      filter(({ state }) => state === p.confirm),
      map(({ event }) => `${tokens.map(({ symbol }) => symbol).join(', ')} and back brings ${event.toFixed(1)} basis `
        + 'points after costs'),
      share(),
    );
    const alerts = found.pipe(map((text) => ctx.alert('info', text)));
    if (p.act === 'alert') return alerts;
    const starts = found.pipe(whenFlat(ctx, ...others), mergeMap((reason): HoldSignal[] => [
      { hold: 'cash', reason }, { hold: others[0]!, reason },
    ]));
    const steps = ctx.fills$.pipe(
      map(({ fill }) => others.findIndex(({ mint }) => mint === fill.outputMint)),
      filter((leg) => leg >= 0),
      map((leg): HoldSignal => ({ hold: others[leg + 1] ?? 'cash', reason: `leg ${leg + 2} of the cycle` })),
    );
    return merge(alerts, merge(starts, steps).pipe(
      followSignal(ctx, { key: 'cycle', tokens: others, size: p.legs[0]!, initially: 'cash' }),
    ));
  },
});
