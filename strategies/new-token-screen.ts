import { defer, filter, from, map, merge, mergeMap, share, takeWhile } from 'rxjs';
import { z } from 'zod';
import type { Token, TokenRecord, TokenStatName } from '../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, parseDuration, quotes, screen, statOf, tokenList, unseen,
} from '../src/strategy/index.ts';

/** A purchase, and what is to be known of its token after a restart. */
type Entry = Readonly<{ token: Token; at: number }>;
/** How long a purchase may be under way; it is not repeated. */
const ENTRY_MS = 300_000;
/** The wait for the check of a token. */
const RETRY = { until: '2m', every: '5s' };

const PARAMS = z.strictObject({
  list: z.enum(['recent', 'toporganicscore', 'toptraded', 'toptrending']).default('recent').describe('the list'),
  interval: z.enum(['5m', '1h', '6h', '24h']).default('1h').describe('the time over which tokens lead'),
  every: duration().default('30s').describe('how often the list, and the price of a candidate, are polled'),
  min_age: duration().default('1h').describe('the age of the first pool. The last hour of a younger token is no whole '
    + 'hour, so that any volume counts as a surge'),
  max_age: duration().default('7d').describe('the age above which it is no news'),
  min_liquidity: z.number().min(0).default(20_000).describe('what its pools hold, in US dollars'),
  min_holders: z.int().min(0).default(200).describe('how many hold it'),
  min_organic: z.number().min(0).max(100).default(50).describe('its organic score'),
  min_organic_share: z.number().min(0).max(1).default(0.1)
    .describe('the organic part of the purchases of an hour: wash trades are not organic'),
  surge: z.number().min(0).max(12).default(3)
    .describe('the volume of 5 minutes over a twelfth of that of the hour they are part of; 12 is the most'),
  max_top_holders: z.number().min(0).max(100).default(30).describe('percent of the supply; 100 does not ask'),
  max_dev: z.number().min(0).max(100).default(5).describe('percent of the supply its developer has; 100 does not ask'),
  spend: amount().optional().describe('what a purchase costs. Left out, it alerts alone; risk.discovered_tokens must '
    + 'allow purchases'),
  max_positions: z.int().min(1).max(10).default(3).describe('how many tokens it holds at once'),
  stop: z.number().gt(0).max(1).default(0.1).describe('sells at this loss, a fraction of the cost'),
  hold: duration().default('1h').describe('sells after this time'),
});

/** Tells which tokens of a discovery list pass every filter, and buys them, though no configuration names them. */
export default defineStrategy({
  name: 'new-token-screen',
  summary: 'Alerts once at each token of a discovery list that passes every filter, and buys it where that is allowed.',
  losesMoneyWhen: 'It loses in most tokens: a surge is often the end of a move, liquidity can be withdrawn between two '
    + 'polls, and no filter proves that a token can be sold. A few gains must pay for many losses.',
  params: PARAMS,
  inputs: (p) => ({
    list: tokenList(p.list === 'recent' ? { list: p.list } : { list: p.list, interval: p.interval },
      { every: p.every }),
  }),
  run: ({ list }, p, ctx) => {
    const entered = ctx.stateful('entered', [] as readonly Entry[], (known, one: Entry) => [...known, one].slice(-200));
    const told = list.pipe(
      mergeMap(({ tokens, receivedAt }) => tokens.filter((record) => passes(record, receivedAt, p))),
      unseen(ctx, 'told', ({ id }) => id),
      map(({ id, symbol }) => ctx.alert('info', `${symbol} (${id}) passes`, { mint: id })),
    );
    const { spend } = p;
    if (spend === undefined) return told;
    const priceOf = (base: Token) => quotes({ base, quote: spend.token }, { amount: spend, every: p.every });
    const isOpen = ({ token, at }: Entry): boolean => ctx.position(token).amount > 0n || ctx.openIntents() > 0
      || ctx.now() < at + ENTRY_MS;
    const hasRoom = (mint: string): boolean => entered.value.filter(isOpen).length < p.max_positions
      && !entered.value.some(({ token }) => token.mint === mint);
    const entries = list.pipe(
      screen(ctx, {
        max: p.max_positions, where: (record) => passes(record, ctx.now(), p) && hasRoom(record.id), watch: priceOf,
      }),
      filter(({ kind, token }) => kind === 'event' && hasRoom(token.mint)),
      map(({ token }) => ({ token, at: ctx.now() })), entered, map(({ event }) => event), share(),
    );
    const purchases = entries.pipe(map(({ token }) => ctx.swap(spend.token, token, spend, `${token.symbol} passes`,
      { key: `entry-${token.mint}`, retry: RETRY })));
    const isDue = ({ token, at }: Entry): boolean => ctx.position(token).available > 0n
      && (ctx.now() >= at + parseDuration(p.hold) || (ctx.position(token).gain ?? 0) <= -p.stop);
    const exits = merge(defer(() => from(entered.value)), entries).pipe(
      filter(isOpen),
      mergeMap((entry) => ctx.watch(priceOf(entry.token)).pipe(
        takeWhile(() => isOpen(entry)), filter(() => isDue(entry)),
        map(() => ctx.swap(entry.token, spend.token, 'all', 'its time is over, or its loss too large')),
      )),
    );
    return merge(told, exits, purchases);
  },
});

/** Returns whether a record passes every filter. What the service does not say is not safe, so it fails. */
function passes(record: TokenRecord, at: number, p: z.output<typeof PARAMS>): boolean {
  const { firstPool, audit } = record;
  const of = (name: TokenStatName): number => statOf(record, name);
  const age = at - (firstPool?.createdAt ?? Number.NaN);
  const volume = (window: '5m' | '1h'): number => of(`${window}.buyVolume`) + of(`${window}.sellVolume`);
  return age >= parseDuration(p.min_age) && age <= parseDuration(p.max_age)
    && of('liquidity') >= p.min_liquidity && of('holderCount') >= p.min_holders && of('organicScore') >= p.min_organic
    && of('1h.buyOrganicVolume') >= p.min_organic_share * of('1h.buyVolume')
    && volume('5m') * 12 >= p.surge * volume('1h')
    && audit.isSus !== true && audit.mintAuthorityDisabled === true && audit.freezeAuthorityDisabled === true
    && (p.max_top_holders === 100 || (audit.topHoldersPercentage ?? Infinity) <= p.max_top_holders)
    && (p.max_dev === 100 || (audit.devBalancePercentage ?? Infinity) <= p.max_dev);
}
