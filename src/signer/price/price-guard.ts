import { mulDiv } from '../../core/amount.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { shortDuration } from '../../core/time.ts';
import type { SignerCode } from '../policy/codes.ts';
import type { QuoteClient, QuotedSwap } from './quote-client.ts';

/** The limits of the price guard. */
export interface PriceGuardLimits {
  /** How far the minimum output of a swap may be below the signer's own quote. */
  readonly maxDeviationBps: number;
  /** How old a quote may be that a swap is compared with. */
  readonly quoteTtlMs: Millis;
  /** The most quotes of any 60 seconds. */
  readonly maxQuotesPerMinute: number;
}

/** A swap with the least output that its bytes, or their simulation, guarantee. */
interface GuardedSwap extends QuotedSwap {
  readonly minimumOut: bigint;
}

/** A refusal by the price guard. */
interface PriceRefusal {
  readonly code: Extract<SignerCode, 'PRICE_BELOW_GUARD' | 'PRICE_GUARD_UNAVAILABLE'>;
  readonly message: string;
}

/** Compares swaps with quotes that the signer asks for itself. */
export interface PriceGuard {
  /**
   * Asks for the quote of a swap that will probably come, unless there is one. It decides nothing, and is ignored where
   * too much is under way.
   */
  expect(swap: QuotedSwap): void;
  /** Returns why a swap is refused, undefined where it is fine. Never rejects. */
  judge(swap: GuardedSwap): Promise<PriceRefusal | undefined>;
  close(): void;
}

interface Quote {
  readonly output: bigint;
  /** When its request was sent: a late answer is not young. */
  readonly askedAt: Millis;
}

interface PendingQuote {
  readonly askedAt: Millis;
  readonly quote: Promise<Quote>;
}

/** For one request. */
const REQUEST_TIMEOUT_MS: Millis = 2_000;
/** For a decision, with a second request. */
const DECISION_TIMEOUT_MS: Millis = 3_000;
const WINDOW_MS: Millis = 60_000;
const MAX_CACHED = 256;
const MAX_UNDER_WAY = 8;
/** Of both bounds, the part that announced swaps may use; the rest is kept for signatures. */
const ANNOUNCED_SHARE = 0.5;
/** The pause after a refusal for the rate, where the service names none. */
const PAUSE_MS: Millis = 500;
const BPS = 10_000n;

/**
 * Returns a guard over one service; without a client it refuses every swap. A quote counts only for exactly its own
 * tokens and input, and only while it is young: a quote of a small swap says nothing about a large one. A swap is
 * refused only on a quote that was asked for after the request for its signature: an older one is replaced first.
 */
export function createPriceGuard(
  { client, clock, limits }: {
    /** Undefined where no service is known. */
    readonly client: QuoteClient | undefined; readonly clock: Pick<Clock, 'now'>; readonly limits: PriceGuardLimits;
  },
): PriceGuard {
  const { maxDeviationBps, quoteTtlMs, maxQuotesPerMinute } = limits;
  const quotes = new Map<string, Quote>();
  const pending = new Map<string, PendingQuote>();
  /** When the requests of the last minute were sent, oldest first. */
  const sent: Millis[] = [];
  let pausedUntil: Millis = -Infinity;

  /** A clock that was set back makes an age unknown. */
  function youngQuote(key: string): Quote | undefined {
    const quote = quotes.get(key);
    const age = quote === undefined ? -1 : clock.now() - quote.askedAt;
    if (age >= 0 && age <= quoteTtlMs) return quote;
    quotes.delete(key);
    return undefined;
  }

  /** Throws SERVICE_RATE_LIMITED where no further request may be sent now. */
  function takeTurn(share: number): Millis {
    const now = clock.now();
    // After a clock was set back, the requests of its future count as sent now.
    for (let at = sent.length - 1; at >= 0 && sent[at]! > now; at--) sent[at] = now;
    while (sent.length > 0 && now - sent[0]! >= WINDOW_MS) sent.shift();
    if (now < pausedUntil && pausedUntil - now <= WINDOW_MS)
      throw limited('the service has just refused more requests');
    if (pending.size >= MAX_UNDER_WAY * share) throw limited(`${pending.size} quotes are under way`);
    if (sent.length >= maxQuotesPerMinute * share) throw limited(`${sent.length} quotes were asked for in a minute, at `
      + `most ${maxQuotesPerMinute} are allowed (signer.price_guard.max_quotes_per_minute)`);
    sent.push(now);
    return now;
  }

  async function load(key: string, swap: QuotedSwap, askedAt: Millis, timeoutMs: Millis): Promise<Quote> {
    try {
      const quote = { output: await client!.outputOf(swap, timeoutMs), askedAt };
      if (quotes.size >= MAX_CACHED && !quotes.has(key)) quotes.delete(quotes.keys().next().value!);
      // The newest stands last, so that the oldest is dropped first.
      quotes.delete(key);
      quotes.set(key, quote);
      return quote;
    } catch (error) {
      if (isGannetError(error) && error.code === 'SERVICE_RATE_LIMITED')
        pausedUntil = clock.now() + Number(error.details['retryAfterMs'] ?? PAUSE_MS);
      throw error;
    } finally {
      pending.delete(key);
    }
  }

  /** Sends a request. Throws where none may be sent. */
  function ask(key: string, swap: QuotedSwap, { share, timeoutMs }: {
    readonly share: number; readonly timeoutMs: Millis;
  }): PendingQuote {
    if (client === undefined)
      throw new GannetError('SERVICE_UNREACHABLE', 'the signer does not know the address of the swap service');
    const askedAt = takeTurn(share);
    const asked = { askedAt, quote: load(key, swap, askedAt, timeoutMs) };
    pending.set(key, asked);
    return asked;
  }

  /** Returns a quote asked for now; one that is under way already is taken where it answers. */
  async function freshQuote(key: string, swap: QuotedSwap, until: Millis): Promise<Quote> {
    const underWay = await pending.get(key)?.quote.catch(() => undefined);
    if (underWay !== undefined) return underWay;
    const timeoutMs = Math.min(REQUEST_TIMEOUT_MS, until - clock.now());
    if (!(timeoutMs > 0)) throw new GannetError('SERVICE_TIMEOUT', 'no complete answer of the service in time');
    return await (pending.get(key) ?? ask(key, swap, { share: 1, timeoutMs })).quote;
  }

  function isFine({ minimumOut }: GuardedSwap, { output }: Quote): boolean {
    return minimumOut * BPS >= output * (BPS - BigInt(maxDeviationBps));
  }

  return {
    expect(swap) {
      const key = keyOf(swap);
      if (client === undefined || pending.has(key) || youngQuote(key) !== undefined) return;
      try {
        // The request for the signature asks again, and reports what fails then.
        ask(key, swap, { share: ANNOUNCED_SHARE, timeoutMs: REQUEST_TIMEOUT_MS }).quote.catch(() => undefined);
      } catch (error) {
        if (!isGannetError(error)) throw error;
      }
    },

    async judge(swap) {
      const key = keyOf(swap);
      const known = youngQuote(key);
      if (known !== undefined && isFine(swap, known)) return undefined;
      const begun = clock.now();
      try {
        let quote = await freshQuote(key, swap, begun + DECISION_TIMEOUT_MS);
        if (!isFine(swap, quote) && quote.askedAt < begun)
          quote = await freshQuote(key, swap, begun + DECISION_TIMEOUT_MS);
        return isFine(swap, quote) ? undefined
          : { code: 'PRICE_BELOW_GUARD', message: belowGuard(swap, quote, limits) };
      } catch (error) {
        if (!isGannetError(error)) throw error;
        return {
          code: 'PRICE_GUARD_UNAVAILABLE',
          message: `the signer got no price of its own to compare the swap with: ${error.message}; nothing is signed `
            + 'without one',
        };
      }
    },

    close() {
      client?.close();
    },
  };
}

function keyOf({ inputMint, outputMint, amountIn }: QuotedSwap): string {
  return `${inputMint} ${outputMint} ${amountIn}`;
}

function belowGuard(
  { inputMint, outputMint, amountIn, minimumOut }: GuardedSwap, { output }: Quote,
  { maxDeviationBps }: PriceGuardLimits,
): string {
  const least = mulDiv(output, BPS - BigInt(maxDeviationBps), BPS, 'ceil');
  return `${amountIn} of ${inputMint} would bring at least ${minimumOut} of ${outputMint}; the signer's own quote is `
    + `${output}, so it wants at least ${least}, ${maxDeviationBps} bps less (signer.price_guard.max_deviation_bps)`;
}

function limited(reason: string): GannetError {
  return new GannetError('SERVICE_RATE_LIMITED', `no quote was asked for: ${reason}`);
}

/** Returns the guard in words, for people. */
export function describePriceGuard({ maxDeviationBps, quoteTtlMs }: PriceGuardLimits): string {
  return `no swap for more than ${maxDeviationBps} bps less than a quote of its own, at most `
    + `${shortDuration(quoteTtlMs)} old`;
}
