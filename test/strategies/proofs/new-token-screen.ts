import { map, merge, mergeMap } from 'rxjs';
import { z } from 'zod';
import type { TokenRecord } from '../../../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, parseDuration, quotes, token, tokenList, when,
} from '../../../src/strategy/index.ts';

/** Alerts once at each token of a list that passes, and buys it once where the configuration names it. */
export default defineStrategy({
  name: 'new-token-screen',
  summary: 'Alerts at tokens of a discovery list that pass a filter, and buys those that the configuration names.',
  params: z.strictObject({
    list: z.enum(['recent', 'toporganicscore', 'toptraded', 'toptrending']).default('recent'),
    every: duration().default('30s'), youngest: duration().default('10m'), oldest: duration().default('7d'),
    min_liquidity: z.number().min(0).default(20_000), min_holders: z.int().min(0).default(200),
    max_top_holders: z.number().min(0).max(100).default(30), trade: z.array(token()).default([]), size: amount(),
  }),
  inputs: (p) => ({
    list: tokenList(p.list === 'recent' ? { list: p.list } : { list: p.list, interval: '1h' }, { every: p.every }),
    ...Object.fromEntries(p.trade.map((base) =>
      [base.symbol, quotes({ base, quote: p.size.token }, { amount: p.size, every: p.every })])),
  }),
  run: ({ list }, p, ctx) => {
    const isOfAge = (age: number): boolean => age >= parseDuration(p.youngest) && age <= parseDuration(p.oldest);
    const passes = ({ firstPool, values, audit }: TokenRecord, now: number): boolean =>
      isOfAge(now - (firstPool?.createdAt ?? now)) && audit.isSus !== true
        && audit.mintAuthorityDisabled === true && audit.freezeAuthorityDisabled === true
        && (values.liquidity ?? 0) >= p.min_liquidity && (values.holderCount ?? 0) >= p.min_holders
        && (audit.topHoldersPercentage ?? 100) <= p.max_top_holders;
    const seen = ctx.stateful('seen', { all: [] as string[], fresh: [] as string[] }, ({ all }, now: TokenRecord[]) => {
      const fresh = now.map(({ id }) => id).filter((id) => !all.includes(id));
      return { all: [...all, ...fresh].slice(-500), fresh };
    });
    const passing = list.pipe(map(({ tokens, receivedAt }) => tokens.filter((one) => passes(one, receivedAt))));
    return merge(passing.pipe(seen, mergeMap(({ state: { fresh }, event }) => event.filter(({ id }) =>
      fresh.includes(id)).map(({ id, symbol }) => ctx.alert('info', `${symbol} (${id}) passes`)))),
    ...p.trade.map((named) => passing.pipe(when(ctx, named.mint.toLowerCase(), (all) => all.some(({ id }) =>
      id === named.mint), () => ctx.swap(p.size.token, named, p.size, 'it passes')))));
  },
});
