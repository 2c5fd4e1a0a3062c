import type { Amount } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { currentValue } from './exposure.ts';
import type { SpendCap } from './limits.ts';
import type { CapSpan } from './spend-tally.ts';
import { CAP_SPANS } from './spend-tally.ts';
import type { EngineState } from './state.ts';
import { readingAge } from './valuation.ts';

/** What an exit would sell, of which token and for which. */
export interface ExitSize {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
}

/** How much of an exit one swap may sell now: nothing where a cap is used up, and when there is room again. */
export interface ExitPart {
  readonly amount: Amount;
  /** With an amount of zero: when a part that is worth its fee fits, and which cap it waits for. */
  readonly waits?: { readonly until: Millis; readonly span: CapSpan } | undefined;
}

/** A part smaller than this share of what one swap could sell is not worth a fee: it waits. */
const WORTHWHILE = 10n;
/** How old a quote may be that tells of the depth, where the configuration says nothing of the age of quotes. */
const DEPTH_AGE_MS = 300_000;
/** How long a depth that was too small for a swap is taken for the market's. */
const DEPTH_HOLDS_MS = 600_000;
/** How often the size of a part is halved for the depth: a part is never smaller than 1/64 of the first one. */
const HALVINGS_MAX = 6;
/** A part takes so long: to be quoted, signed and landed. For estimates. */
const PART_MS = 5_000;
/** More parts than any exit has that ends within a day. */
const PARTS_MAX = 20_000;

/**
 * Returns how much of an exit one swap may sell: what fits the signer's caps and what they leave of the hour and the day,
 * `max_trade`, and the depth that is known. Parts are of one size, so that no dust is left for the last.
 */
export function exitPart(state: EngineState, exit: ExitSize, at: Millis): ExitPart {
  const { limits, spends } = state;
  const { inputMint, amount } = exit;
  const cap = limits.caps?.get(inputMint);
  return partOf(amount, smallest(cap?.perTrade, cap?.perHour, cap?.perDay, tradeBound(state, exit, at), depthBound(state, exit, at)), cap, (span) => spends.counted(inputMint, span, at), at);
}

/** Remembers that a swap was too large for the market's depth; returns false where halving its size is no answer any more. */
export function learnDepth(state: EngineState, { inputMint, outputMint, amount }: ExitSize, at: Millis): boolean {
  const key = depthKey(inputMint, outputMint);
  const known = state.depths.get(key);
  const halvings = known === undefined || at - known.at > DEPTH_HOLDS_MS ? 1 : known.halvings + 1;
  if (halvings > HALVINGS_MAX || amount < 2n) return false;
  state.depths.set(key, { amount: (amount / 2n) as Amount, at, halvings });
  return true;
}

/**
 * Returns when an exit that begins now has sold everything under caps, `waiting` for each in turn; undefined where that
 * takes a day or longer. `largest` is the most that one swap sells for other reasons.
 */
export function exitEndsAt({ amount, cap, largest, at, spent = [] }: {
  readonly amount: Amount;
  readonly cap: SpendCap | undefined;
  readonly largest?: Amount | undefined;
  readonly at: Millis;
  /** What was signed away before, oldest first. */
  readonly spent?: readonly { readonly at: Millis; readonly amount: bigint }[];
}): Millis | undefined {
  const spends = [...spent];
  const bound = smallest(cap?.perTrade, cap?.perHour, cap?.perDay, largest);
  let left: bigint = amount;
  let now = at;
  for (let parts = 0; parts < PARTS_MAX && now - at < CAP_SPANS.day; parts += 1) {
    const { amount: part, waits } = partOf(left as Amount, bound, cap, (span) => spends.filter((spend) => spend.at > now - CAP_SPANS[span]), now);
    if (waits !== undefined) {
      now = waits.until;
      continue;
    }
    left -= part;
    spends.push({ at: now, amount: part });
    if (left === 0n) return now;
    now += PART_MS;
  }
  return undefined;
}

function partOf(
  amount: Amount, bound: bigint | undefined, cap: SpendCap | undefined,
  counted: (span: CapSpan) => readonly { readonly at: Millis; readonly amount: bigint }[], at: Millis,
): ExitPart {
  if (amount <= 0n) return { amount };
  const parts = bound === undefined || bound >= amount ? 1n : (amount + bound - 1n) / (bound > 0n ? bound : 1n);
  const even = (amount + parts - 1n) / parts;
  const needed = (even + WORTHWHILE - 1n) / WORTHWHILE;
  let part = even;
  let waits: ExitPart['waits'];
  for (const [span, most] of [['hour', cap?.perHour], ['day', cap?.perDay]] as const) {
    if (most === undefined) continue;
    const spends = counted(span);
    let used = spends.reduce((sum, spend) => sum + spend.amount, 0n);
    if (most - used < part) part = most > used ? most - used : 0n;
    if (most - used >= needed) continue;
    let until = at;
    for (const spend of spends) {
      if (most - used >= needed) break;
      used -= spend.amount;
      until = spend.at + CAP_SPANS[span];
    }
    if (waits === undefined || until > waits.until) waits = { until, span };
  }
  return waits === undefined ? { amount: part as Amount } : { amount: 0n as Amount, waits };
}

/** The most that is worth no more than max_trade; without a price nothing bounds an exit. */
function tradeBound(state: EngineState, { inputMint, amount }: ExitSize, at: Millis): bigint | undefined {
  const { maxTrade } = state.limits;
  if (maxTrade === undefined || amount <= 0n) return undefined;
  const value = currentValue(state, { mint: inputMint, amount }, maxTrade.mint, at);
  return value === undefined || value <= maxTrade.amount ? undefined : mulDiv(amount, maxTrade.amount, value, 'floor');
}

/** What the market is known to take at once: by a refusal of late, or by a quote whose impact is over the limit. */
function depthBound(state: EngineState, { inputMint, outputMint }: ExitSize, at: Millis): bigint | undefined {
  const known = state.depths.get(depthKey(inputMint, outputMint));
  let bound: bigint | undefined = known !== undefined && at - known.at <= DEPTH_HOLDS_MS ? known.amount : undefined;
  const most = state.limits.maxPriceImpactBps / 10_000;
  for (const slot of state.market.quoteSlots(inputMint, outputMint)) {
    const quote = state.market.latest(slot);
    if (quote?.kind !== 'quote' || quote.priceImpact === undefined) continue;
    const impact = -quote.priceImpact;
    if (!(impact > most && impact < 1) || !(readingAge(quote, at) <= (state.limits.maxQuoteAgeMs ?? DEPTH_AGE_MS))) continue;
    // As in a pool of a constant product: size / (reserve + size) is the impact.
    const share = ((1 - impact) / impact) * (most / (1 - most));
    bound = smallest(bound, BigInt(Math.floor(Number(quote.inAmount) * share)));
  }
  return bound === undefined || bound > 0n ? bound : undefined;
}

function depthKey(inputMint: Mint, outputMint: Mint): string {
  return `${inputMint} ${outputMint}`;
}

function smallest(...bounds: readonly (bigint | undefined)[]): bigint | undefined {
  return bounds.reduce((least, bound) => (bound !== undefined && (least === undefined || bound < least) ? bound : least), undefined);
}
