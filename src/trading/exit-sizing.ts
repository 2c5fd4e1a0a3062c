import type { Amount } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { SpendCap } from './limits.ts';
import type { EngineState } from './engine-state.ts';
import type { CapSpan } from './usage-counters.ts';
import { CAP_SPANS } from './usage-counters.ts';
import { currentValue, readingAge } from './valuation.ts';

/** An exit that is to be sized. */
interface ExitSize {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  /** The smallest part that the depth may lead to; 1/64 of the amount where absent. */
  readonly least?: Amount | undefined;
}

/** A signed amount with its instant. */
interface Spent {
  readonly at: Millis;
  readonly amount: bigint;
}

/** The amount that one swap may sell now; zero where a cap is used up. */
export interface ExitPart {
  readonly amount: Amount;
  /** With an amount of zero: the cap, and when it has room for a part that is worth its fee. */
  readonly waits?: { readonly until: Millis; readonly span: CapSpan } | undefined;
}

/** A part waits where it is smaller than one tenth of a full part: it would not be worth its fee. */
const WORTHWHILE = 10n;
/** How old a quote may be that indicates the depth, where the configuration sets no age of quotes. */
const DEPTH_AGE_MS = 300_000;
/** How long an estimate of the depth is valid. */
const DEPTH_HOLDS_MS = 600_000;
/** The most halvings of a part for the depth: a part is never smaller than 1/64 of the first one. */
const HALVINGS_MAX = 6;
const PARTS_OF_DEPTH_MAX = 64n;
/** The estimated time to quote, sign and land one part. */
const PART_MS = 5_000;
/** The most parts and waits that an estimate simulates; the rest is extrapolated. */
const PARTS_MAX = 1_000;

/**
 * Returns how much of an exit one swap may sell within the signer's caps, `max_trade` and the known depth. Parts are of
 * equal size, so that the last one is not dust.
 */
export function exitPart(state: EngineState, exit: ExitSize, at: Millis): ExitPart {
  const { limits, spends } = state;
  const { inputMint, amount } = exit;
  const cap = limits.caps?.get(inputMint);
  const bound = smallest(
    cap?.perTrade, cap?.perHour, cap?.perDay, tradeBound(state, exit, at), depthBound(state, exit, at),
  );
  return partOf(amount, bound, cap, (span) => windowOf(spends.counted(inputMint, span, at)), at);
}

/** Returns the smallest part that the depth may lead to. The bound keeps a false quote from causing endless fees. */
export function leastPart(whole: Amount): Amount {
  return ((whole + PARTS_OF_DEPTH_MAX - 1n) / PARTS_OF_DEPTH_MAX) as Amount;
}

/** Halves the known depth after a swap was too large for it. Returns false where it cannot be halved further. */
export function learnDepth(state: EngineState, { inputMint, outputMint, amount }: ExitSize, at: Millis): boolean {
  const key = depthKey(inputMint, outputMint);
  const known = state.depths.get(key);
  const halvings = known === undefined || at - known.at > DEPTH_HOLDS_MS ? 1 : known.halvings + 1;
  if (halvings > HALVINGS_MAX || amount < 2n) return false;
  state.depths.set(key, { amount: (amount / 2n) as Amount, at, halvings });
  return true;
}

/**
 * Returns the estimated end of an exit under caps that begins now; undefined where it takes a day or longer. `largest`
 * is the most that one swap may sell for other reasons.
 */
export function exitEndsAt({ amount, cap, largest, at, spent = [] }: {
  readonly amount: Amount;
  readonly cap: SpendCap | undefined;
  readonly largest?: Amount | undefined;
  readonly at: Millis;
  /** Earlier signed amounts, oldest first. */
  readonly spent?: readonly Spent[];
}): Millis | undefined {
  const spends = [...spent];
  const bound = smallest(cap?.perTrade, cap?.perHour, cap?.perDay, largest);
  const windows = { hour: windowOf(spends), day: windowOf(spends) };
  let left: bigint = amount;
  let now = at;
  for (let steps = 0; steps < PARTS_MAX && now - at < CAP_SPANS.day; steps += 1) {
    const { amount: part, waits } = partOf(left as Amount, bound, cap, (span) => slide(windows[span], span, now), now);
    if (waits !== undefined) {
      now = waits.until;
      continue;
    }
    left -= part;
    spends.push({ at: now, amount: part });
    windows.hour.used += part;
    windows.day.used += part;
    if (left === 0n) return now;
    now += PART_MS;
  }
  const sold = amount - left;
  const takesMs = sold === 0n ? Infinity : (now - at) * (Number(amount) / Number(sold));
  return takesMs < CAP_SPANS.day ? at + Math.ceil(takesMs) : undefined;
}

/** The entries that count for a span, oldest first from an index on, and their sum. */
interface Window {
  used: bigint;
  readonly counted: readonly Spent[];
  from: number;
}

function windowOf(counted: readonly Spent[]): Window {
  return { used: counted.reduce((sum, spend) => sum + spend.amount, 0n), counted, from: 0 };
}

/** Drops the entries that no longer count. Time never goes back, so each entry is dropped once. */
function slide(window: Window, span: CapSpan, now: Millis): Window {
  for (let oldest = window.counted[window.from]; oldest !== undefined; oldest = window.counted[window.from]) {
    if (oldest.at > now - CAP_SPANS[span]) break;
    window.used -= oldest.amount;
    window.from += 1;
  }
  return window;
}

function partOf(
  amount: Amount, bound: bigint | undefined, cap: SpendCap | undefined,
  windowAt: (span: CapSpan) => Window, at: Millis,
): ExitPart {
  if (amount <= 0n) return { amount };
  const parts = bound === undefined || bound >= amount ? 1n : (amount + bound - 1n) / (bound > 0n ? bound : 1n);
  const even = (amount + parts - 1n) / parts;
  const needed = (even + WORTHWHILE - 1n) / WORTHWHILE;
  let part = even;
  let waits: ExitPart['waits'];
  for (const [span, most] of [['hour', cap?.perHour], ['day', cap?.perDay]] as const) {
    if (most === undefined) continue;
    const { counted, from, used: before } = windowAt(span);
    let used = before;
    if (most - used < part) part = most > used ? most - used : 0n;
    if (most - used >= needed) continue;
    let until = at;
    for (let index = from; index < counted.length && most - used < needed; index += 1) {
      used -= counted[index]!.amount;
      until = counted[index]!.at + CAP_SPANS[span];
    }
    if (waits === undefined || until > waits.until) waits = { until, span };
  }
  return waits === undefined ? { amount: part as Amount } : { amount: 0n as Amount, waits };
}

/** Returns the amount that is worth `max_trade`; undefined without a price, which does not bound an exit. */
function tradeBound(state: EngineState, { inputMint, amount }: ExitSize, at: Millis): bigint | undefined {
  const { maxTrade } = state.limits;
  if (maxTrade === undefined || amount <= 0n) return undefined;
  const value = currentValue(state, { mint: inputMint, amount }, maxTrade.mint, at);
  return value === undefined || value <= maxTrade.amount ? undefined : mulDiv(amount, maxTrade.amount, value, 'floor');
}

/** Returns the known depth: by a recent refusal, or by a quote whose impact exceeds the limit. */
function depthBound(state: EngineState, exit: ExitSize, at: Millis): bigint | undefined {
  const { inputMint, outputMint, amount, least = leastPart(amount) } = exit;
  const known = state.depths.get(depthKey(inputMint, outputMint));
  let bound: bigint | undefined = known !== undefined && at - known.at <= DEPTH_HOLDS_MS ? known.amount : undefined;
  const most = state.limits.maxPriceImpactBps / 10_000;
  for (const slot of state.market.quoteSlots(inputMint, outputMint)) {
    const quote = state.market.latest(slot);
    if (quote?.kind !== 'quote' || quote.priceImpact === undefined) continue;
    const impact = -quote.priceImpact;
    const isFresh = readingAge(quote, at) <= (state.limits.maxQuoteAgeMs ?? DEPTH_AGE_MS);
    if (!isFresh || !(impact > most && impact < 1)) continue;
    // As in a pool of a constant product: size / (reserve + size) is the impact.
    const share = ((1 - impact) / impact) * (most / (1 - most));
    bound = smallest(bound, BigInt(Math.floor(Number(quote.inAmount) * share)));
  }
  // A part below the bound is not tried: the larger one is refused before it is signed, and tried again.
  return bound !== undefined && bound < least ? least : bound;
}

function depthKey(inputMint: Mint, outputMint: Mint): string {
  return `${inputMint} ${outputMint}`;
}

function smallest(...bounds: readonly (bigint | undefined)[]): bigint | undefined {
  let least: bigint | undefined;
  for (const bound of bounds) if (bound !== undefined && (least === undefined || bound < least)) least = bound;
  return least;
}
