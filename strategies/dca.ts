import { filter, ignoreElements, map, merge, mergeMap, of, skip, switchMap, take, tap } from 'rxjs';
import { z } from 'zod';
import type { DenialCode, DeniedSwap, Outcome, SwapProposal, TokenAmount } from '../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, instant, parseDuration, quotes, slots, timer, token,
} from '../src/strategy/index.ts';

/**
 * Transient refusals: another swap is under way, too many swaps within the minute, the service is out of reach, no
 * price has arrived yet, or the token has not been checked yet.
 */
const TRANSIENT: ReadonlySet<DenialCode> = new Set([
  'INTENT_OPEN_FOR_MINT', 'INTENTS_OPEN_LIMIT', 'EXIT_UNDER_WAY', 'RATE_PER_MINUTE', 'INPUT_STALE', 'QUOTE_STALE',
  'VALUE_UNKNOWN', 'SERVICE_UNAUTHORIZED', 'SERVICE_SILENT', 'TOKEN_UNVETTED',
]);
const RETRY_SECONDS_MAX = 60;

/** Dollar-cost averaging: the same amount at every interval, whatever the price. */
export default defineStrategy({
  name: 'dca',
  summary: 'Buys a token for a fixed amount at a fixed interval.',
  losesMoneyWhen: 'The price falls and stays below the average of the purchases. Small purchases at short intervals '
    + 'also lose their fixed fees.',
  params: z.strictObject({
    buy: token().describe('what to buy'),
    spend: amount().optional().describe('what each purchase costs; left out, its part of total'),
    total: amount().optional()
      .describe('what all purchases cost together, in equal parts; the last one takes what the division leaves'),
    every: duration().describe('the interval; purchases fall on its multiples since the epoch'),
    offset: duration().optional().describe('shifts the purchases within the interval'),
    begin: z.enum(['now', 'next']).default('now').describe(
      'the first purchase after a start. now: at once, for the interval under way; next: when the next interval begins',
    ),
    purchases: z.int().min(1).optional()
      .describe('how many purchases to make in all, restarts included; left out, until the budget is spent'),
    start: instant().optional().describe('purchases due before this time are left out'),
    min_price: z.number().positive().optional()
      .describe('a purchase is left out while one token costs less, in the token that is spent'),
    max_price: z.number().positive().optional().describe('a purchase is left out while one token costs more'),
    route: z.enum(['order', 'build']).default('order')
      .describe('order: assembled and landed by the service; build: composed here, landed through the RPC'),
    watch: duration().default('30s')
      .describe('how often its price is polled; the price values holdings and fills swaps of a backtest'),
  })
    .refine((p) => (p.spend ?? p.total)?.token.mint !== p.buy.mint, {
      path: ['buy'], message: 'expected another token than the one that is spent',
    })
    .refine((p) => (p.spend === undefined) !== (p.total === undefined), {
      path: ['spend'], message: 'expected either spend, for each purchase, or total, for all of them',
    })
    .refine((p) => p.total === undefined || p.purchases !== undefined, {
      path: ['purchases'], message: 'expected the number of purchases that share the total',
    }),
  inputs: (p) => {
    // The last purchase is the largest.
    const size = sizeOf(p, (p.purchases ?? 1) - 1);
    return { price: quotes({ base: p.buy, quote: size.token }, { amount: size, every: p.watch }) };
  },
  run: ({ price }, p, ctx) => {
    let latest: number | undefined;
    let slot = 0;
    let retries = 0;
    // The count is kept, so that it continues after a restart.
    const made = ctx.stateful('purchases', 0, (count: number, { state, fill }: Outcome) => (
      state === 'confirmed' && fill?.outputMint === p.buy.mint ? count + 1 : count));
    const isLeft = (): boolean => p.purchases === undefined || made.value + ctx.openIntents() < p.purchases;
    const isInRange = (): boolean =>
      latest !== undefined && latest >= (p.min_price ?? 0) && latest <= (p.max_price ?? Infinity);
    const isLimited = p.min_price !== undefined || p.max_price !== undefined;
    const priced = price.pipe(tap((quote) => { latest = quote.price; }));
    const purchase = (number: number): SwapProposal => {
      const size = sizeOf(p, made.value + ctx.openIntents());
      return ctx.swap(size.token, p.buy, size, `purchase due at ${dueAt(number, p)}, every ${p.every}`, {
        route: p.route,
        key: keyOf(number),
      });
    };
    const due = slots(ctx, p).pipe(
      skip(p.begin === 'next' ? 1 : 0),
      filter((number) => startOf(number, p) >= (p.start ?? -Infinity)),
    );
    // A limit is compared with the latest price, at the start with the first one.
    const allowed = due.pipe(
      switchMap((number) => (latest === undefined ? price.pipe(take(1), map(() => number)) : of(number))),
      filter(isInRange),
    );
    const purchases = (isLimited ? allowed : due).pipe(
      tap((number) => {
        slot = number;
        retries = 0;
      }),
      map(purchase),
    );
    const refused = ctx.denials$.pipe(filter(({ code }: DeniedSwap) => TRANSIENT.has(code)), map(({ proposal }) =>
      proposal));
    // Every purchase has a key, and a sale by the exit rules of the configuration has none.
    const ofPurchases = ctx.outcomes$.pipe(filter(({ key }) => key !== undefined));
    // A swap that was abandoned before its signature is repeated, for example after a missing answer of the service.
    const givenUp = ofPurchases.pipe(filter(({ state }) => state === 'abandoned'), map(() => purchase(slot)));
    const secondTries = merge(refused, givenUp).pipe(
      mergeMap((proposal) => {
        const seconds = Math.min(2 ** retries++, RETRY_SECONDS_MAX);
        return timer(ctx, `${seconds}s`).pipe(map(() => proposal));
      }),
      filter(({ key }) => key === keyOf(slot)),
    );
    const done = ofPurchases.pipe(
      made,
      filter(({ state: count, event }) => event.state === 'confirmed' && count === p.purchases),
      map(({ state: count }) => ctx.alert('info', `all ${count} purchases are made`)),
    );
    return merge(priced.pipe(ignoreElements()), done, merge(purchases, secondTries).pipe(filter(isLeft)));
  },
});

/** Returns the size of a purchase; purchases are numbered from 0. */
function sizeOf({ spend, total, purchases = 1 }: {
  readonly spend?: TokenAmount | undefined; readonly total?: TokenAmount | undefined;
  readonly purchases?: number | undefined;
}, number: number): TokenAmount {
  if (spend !== undefined) return spend;
  const { token: of, amount: all } = total!;
  const each = all / BigInt(purchases);
  return { token: of, amount: number < purchases - 1 ? each : all - each * BigInt(purchases - 1) };
}

interface Grid {
  readonly every: string;
  readonly offset?: string | undefined;
}

function startOf(slot: number, { every, offset }: Grid): number {
  return slot * parseDuration(every) + (offset === undefined ? 0 : parseDuration(offset));
}

/** The time of day at which a slot begins, to the second: "07:30:00 UTC". */
function dueAt(slot: number, grid: Grid): string {
  const seconds = Math.floor(startOf(slot, grid) / 1_000);
  const parts = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')} UTC`;
}

/** The slot's number is the key: however often the bot restarts within a slot, it buys once. */
function keyOf(slot: number): string {
  return `slot-${slot}`;
}
