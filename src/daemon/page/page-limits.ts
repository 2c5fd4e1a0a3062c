import { formatDecimal } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { PageLimit } from '../../dashboard/page-state.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { ValueLimit } from '../../trading/limits.ts';
import { actionText } from '../../trading/protections/protection-text.ts';
import { exposureOf, positionIn } from '../../trading/risk/exposure-rules.ts';
import type { CapSpan } from '../../trading/usage-counters.ts';
import { RATE_SPANS } from '../../trading/usage-counters.ts';
import type { RunEquity } from '../control/run-equity.ts';

const SPAN_TEXT = { perMinute: 'minute', perHour: 'hour', perDay: 'day' } as const;
const NO_ENTRIES = 'entries are refused, exits go on';
const SHARE_DIGITS = 10_000n;

/** Returns the limits of risk and the signer's caps, each with how much of it is used. */
export function pageLimits(state: EngineState, now: Millis, equity: RunEquity | null): PageLimit[] {
  const { limits: { maxTrade, maxExposure, maxPosition }, strategies, tokens } = state;
  return [
    ...swapLimits(state, now),
    ...(maxTrade === undefined ? [] : [{
      group: 'trade', name: 'size of one trade', used: null, limit: showAmount(tokens, maxTrade.mint, maxTrade.amount),
      share: null, effect: NO_ENTRIES,
    } as const]),
    ...(maxExposure === undefined ? [] : [valueLimit(
      state, 'exposure', 'all positions together', maxExposure, exposureOf(state, undefined, maxExposure.mint, now),
    )]),
    ...[...strategies].flatMap(([name, { limits: { maxExposure: own } }]) => (own === undefined ? []
      : [valueLimit(state, 'exposure', `positions of ${name}`, own, exposureOf(state, name, own.mint, now))])),
    ...[...maxPosition].map(([mint, limit]) => valueLimit(
      state, 'position', `position in ${symbolOf(tokens, mint)}`, limit, positionIn(state, mint, limit.mint, now),
    )),
    ...equityLimits(state, equity),
    ...capLimits(state, now),
  ];
}

function swapLimits({ limits: { maxOpenIntents, maxSwaps }, intents, swapRate }: EngineState, now: Millis):
PageLimit[] {
  const open = intents.values().filter(({ isUnproven }) => isUnproven !== true).length;
  const { times } = swapRate;
  return [
    count('open swaps', open, maxOpenIntents),
    ...(Object.keys(RATE_SPANS) as (keyof typeof RATE_SPANS)[]).flatMap((span) => {
      const limit = maxSwaps[span];
      return limit === undefined ? []
        : [count(`swaps in the last ${SPAN_TEXT[span]}`, times.filter((at) => at > now - RATE_SPANS[span]).length,
          limit)];
    }),
  ];
}

function count(name: string, used: number, limit: number): PageLimit {
  return {
    group: 'swaps', name, used: String(used), limit: String(limit), share: limit === 0 ? 1 : used / limit,
    effect: NO_ENTRIES,
  };
}

function valueLimit(
  { tokens }: EngineState, group: PageLimit['group'], name: string, limit: ValueLimit, used: bigint | object,
): PageLimit {
  const isKnown = typeof used === 'bigint';
  return {
    group, name, limit: showAmount(tokens, limit.mint, limit.amount), effect: NO_ENTRIES,
    used: isKnown ? showAmount(tokens, limit.mint, used) : null,
    share: isKnown ? shareOf(used, limit.amount) : null,
  };
}

/** The protections that compare equity with a limit; only those over everything have one figure. */
function equityLimits({ limits: { protections = [] }, tokens }: EngineState, equity: RunEquity | null): PageLimit[] {
  return protections.flatMap(({ trigger, scope, action }): PageLimit[] => {
    if (scope !== 'global') return [];
    const effect = actionText(action);
    if (trigger.kind === 'max-drawdown') {
      const share = equity === null ? null : equity.drawdown * 100 / trigger.limitPct;
      return [{
        group: 'drawdown', name: 'under the highest equity', limit: `${trigger.limitPct} %`, share, effect,
        used: equity === null ? null : `${(equity.drawdown * 100).toFixed(2)} %`,
      }];
    }
    if (trigger.kind !== 'daily-loss') return [];
    const { mint, amount } = trigger.limit;
    const isSame = equity !== null && equity.mint === mint;
    const loss = isSame ? -BigInt(equity.day_change) : 0n;
    const used = loss > 0n ? loss : 0n;
    return [{
      group: 'day', name: 'loss today', limit: showAmount(tokens, mint, amount), effect,
      used: isSame ? showAmount(tokens, mint, used) : null, share: isSame ? shareOf(used, amount) : null,
    }];
  });
}

function capLimits({ limits: { caps }, spends, tokens }: EngineState, now: Millis): PageLimit[] {
  return [...caps ?? []].flatMap(([mint, { perHour, perDay }]) => {
    const one = (span: CapSpan, limit: bigint | undefined): PageLimit[] => {
      if (limit === undefined) return [];
      const used = spends.used(mint, span, now);
      return [{
        group: 'cap', name: `${symbolOf(tokens, mint)} signed away in the last ${span}`, used: text(mint, used),
        limit: text(mint, limit), share: shareOf(used, limit), effect: 'the signer refuses to sign',
      }];
    };
    return [...one('hour', perHour), ...one('day', perDay)];
  });

  function text(mint: Mint, amount: bigint): string {
    const token = tokens.byMint(mint);
    return token === undefined ? amount.toString() : formatDecimal(amount, token.decimals);
  }
}

function shareOf(used: bigint, limit: bigint): number {
  return limit === 0n ? 1 : Number(used * SHARE_DIGITS / limit) / Number(SHARE_DIGITS);
}
