import { map, merge, mergeMap, pairwise, startWith } from 'rxjs';
import { z } from 'zod';
import type { PredictionMarketEvent } from '../src/strategy/index.ts';
import {
  defineStrategy, duration, formatDecimal, formatDuration, parseDuration, predictionMarket, predictionPositions, unseen,
} from '../src/strategy/index.ts';

/** What is known of the market. `told` is the smallest offset from the announced close that was told. */
interface Known {
  readonly status: string | null;
  readonly result: string | null;
  readonly closeTime: number | null;
  readonly told: number | null;
}

/** Tells what happens to a prediction market on its way to its result; it never trades. */
export default defineStrategy({
  name: 'event-close-watch',
  summary: 'Alerts before a prediction market closes, at a new status, at its result, and at a claimable payout.',
  losesMoneyWhen: 'It never trades. Its alerts come too late where a market closes before its announced time, which '
    + 'markets may, or between two polls.',
  params: z.strictObject({
    event: z.string().min(1).describe('the event of the market'),
    market: z.string().min(1).describe('the market’s identifier'),
    page: z.int().min(0).default(0).describe('the page of the event’s markets, 20 each, that has the market'),
    offsets: z.array(duration()).min(1).max(20).default(['24h', '1h', '5m'])
      .describe('how long before the announced close it alerts'),
    owner: z.string().min(32).max(44).optional()
      .describe('the account whose claimable positions are told, those of other markets too'),
    every: duration().default('30s').describe('how often the market is polled'),
    positions_every: duration().default('1m').describe('how often the positions are polled'),
  }),
  inputs: (p) => ({
    market: predictionMarket({ event: p.event, market: p.market }, { every: p.every, page: p.page }),
    ...(p.owner === undefined ? {} : { positions: predictionPositions(p.owner, { every: p.positions_every }) }),
  }),
  run: ({ market, positions }, p, ctx) => {
    const offsets = p.offsets.map(parseDuration).sort((a, b) => a - b);
    const nothing: Known = { status: null, result: null, closeTime: null, told: null };
    // Kept, so that a restart repeats nothing, and tells what changed meanwhile.
    const known = ctx.stateful('known', nothing, (before, { market: latest, receivedAt }: PredictionMarketEvent) => {
      const { status = before.status, result = before.result, closeTime = before.closeTime } = latest;
      const remaining = closeTime === null ? Infinity : closeTime - receivedAt;
      const told = closeTime === before.closeTime ? before.told : null;
      const due = offsets.find((offset) => remaining <= offset) ?? Infinity;
      const isNews = (status === null || status === 'open') && remaining > 0 && due < (told ?? Infinity);
      return { status, result, closeTime, told: isNews ? due : told };
    });
    const news = market.pipe(
      known, startWith({ state: known.value, event: undefined }), pairwise(),
      mergeMap(([{ state: before }, { state: now, event }]) => newsOf(before, now, event!.receivedAt)),
      map((text) => ctx.alert('info', `${p.market} ${text}`)),
    );
    const claims = positions?.pipe(
      mergeMap((page) => page.positions.filter(({ claimable, claimed }) => claimable === true && claimed !== true)),
      unseen(ctx, 'claimable', ({ pubkey }) => pubkey),
      map(({ marketId, isYes, payoutUsd }) => ctx.alert('warning', `${isYes ? 'YES' : 'NO'} of ${marketId} can be `
        + `claimed${payoutUsd === undefined ? '' : `: $${formatDecimal(payoutUsd, 6)}`}`)),
    );
    return claims === undefined ? news : merge(news, claims);
  },
});

/** Returns what has changed, for people. The first status is no change. */
function newsOf(before: Known, now: Known, at: number): readonly string[] {
  const { status, result, closeTime, told } = now;
  const remaining = formatDuration(Math.round(((closeTime ?? at) - at) / 1_000) * 1_000);
  const isMoved = before.closeTime !== null && closeTime !== before.closeTime;
  return [
    ...(before.status !== null && status !== before.status ? [`is ${status}, and was ${before.status}`] : []),
    ...(isMoved || (told !== null && told !== before.told) ? [`closes in ${remaining}${isMoved ? ' now' : ''}`] : []),
    ...(result !== null && result !== before.result ? [`is resolved: ${result}`] : []),
  ];
}
