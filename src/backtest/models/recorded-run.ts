import type { Millis } from '../../core/time.ts';
import type { InputSource } from '../../recording/reader.ts';
import type { Route } from '../../trading/proposal.ts';
import type { RecordedSwap } from '../../trading/simulation-model.ts';
import { isFirm } from './landing.ts';

/** The router of transactions that were composed locally. */
const BUILD_ROUTER = 'build';

/** How long a swap took, and when that was known. */
export interface KnownLatency {
  readonly at: Millis;
  readonly latencyMs: Millis;
  /** Set where the outcome names its router. */
  readonly route?: Route | undefined;
}

/** How long a run's own swaps took, in order of time. */
export interface RecordedLatencies {
  /** From the decision to the signature: request, wait and signing together. */
  readonly quote: readonly KnownLatency[];
  /** From the signature to the confirmation. */
  readonly land: readonly KnownLatency[];
}

/** What the run that made a recording did itself. */
export interface RecordedRun {
  /** The latencies of the first attempt of each swap. */
  readonly latencies: RecordedLatencies;
  /**
   * The swaps that it landed on a chain, without those that makers filled from their own stock. A paper run has none.
   */
  readonly swaps: readonly RecordedSwap[];
  /** How many of its transactions were signed, expired, and had an unknown outcome for a while. */
  readonly endings: { readonly signed: number; readonly expired: number; readonly unheard: number };
}

/** Returns what the run that made a recording did. */
export function recordedRun(recording: Pick<InputSource, 'kinds' | 'cursor'>): RecordedRun {
  const quote: KnownLatency[] = [];
  const land: KnownLatency[] = [];
  const swaps: RecordedSwap[] = [];
  const fates = { signed: 0, expired: 0, unheard: 0 };
  if (!recording.kinds.includes('outcome')) return { latencies: { quote, land }, swaps, endings: fates };
  const accepted = new Map<string, RecordedSwap['accepted']>();
  const unheard = new Set<string>();
  const begun = new Map<string, Millis>();
  const signed = new Map<string, Millis>();
  const cursor = recording.cursor({ kinds: ['outcome'] });
  while (cursor.next()) {
    const { at, input } = cursor;
    if (input.kind !== 'outcome') continue;
    const { intentId, state, fill, slot, router = '' } = input;
    if (state === 'signed') fates.signed += 1;
    if (state === 'expired' || input.ended === 'expired') fates.expired += 1;
    if (state === 'unknown') unheard.add(`${intentId} ${input.attempt}`);
    fates.unheard = unheard.size;
    // A further attempt replaces the quote.
    if (state === 'signed' && input.quotedOut !== undefined) accepted.set(intentId, { at, outAmount: input.quotedOut });
    if (fill !== undefined && slot !== undefined && !isFirm(router)) {
      swaps.push({
        at, inputMint: fill.inputMint, outputMint: fill.outputMint, inAmount: fill.amountIn,
        accepted: accepted.get(intentId),
      });
    }
    if (input.attempt !== 1) continue;
    const route = router === '' ? undefined : router === BUILD_ROUTER ? 'build' : 'order';
    if (state === 'building' && !begun.has(intentId)) begun.set(intentId, at);
    else if (state === 'signed') {
      signed.set(intentId, at);
      const since = begun.get(intentId);
      if (since !== undefined) quote.push({ at, latencyMs: at - since, route });
    } else if (state === 'confirmed' || state === 'failed') {
      const since = signed.get(intentId);
      if (since !== undefined) land.push({ at, latencyMs: at - since, route });
    }
  }
  return { latencies: { quote, land }, swaps, endings: fates };
}
