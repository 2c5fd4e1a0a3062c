import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint, TransferFee } from '../market/token.ts';
import type { Intent, Outcome } from './intent.ts';
import { outcomeOf } from './intent.ts';
import { QUOTE_MAX_AGE_MS } from './limits.ts';
import type { Route } from './proposal.ts';
import type { SwapTerms } from './swap-terms.ts';
import { minimumOut } from './swap-terms.ts';
import { VALUE_MAX_AGE_MS } from './valuation.ts';

/**
 * The fill assumption. optimistic: the price at the decision, at once. base: the price known on arrival. pessimistic:
 * always the least that the slippage allows, as if every swap were sandwiched.
 */
export type SimulationSetting = 'optimistic' | 'base' | 'pessimistic';

/** One signature costs 5,000 lamports, landed or failed. */
export const BASE_FEE = 5_000n as Lamports;

/** A latency and the share of all cases, 0 to 1, that stays below it. */
export interface LatencyQuantile {
  readonly share: number;
  readonly latencyMs: Millis;
}

/**
 * A distribution of latencies: at least one quantile, shares rising, latencies not falling. One alone is a constant.
 */
export type LatencyQuantiles = readonly LatencyQuantile[];

/** The distribution of a latency as known over time, so that no draw uses a later measurement. */
export interface LatencyHistory {
  /** The distribution before the first measurement. */
  readonly before: LatencyQuantiles;
  /** In order of time; each applies after its instant. */
  readonly steps: readonly { readonly since: Millis; readonly quantiles: LatencyQuantiles }[];
  /** The same for the swaps of one route; absent where routes are not distinguished. */
  readonly routes?: Readonly<Partial<Record<Route, LatencyHistory>>> | undefined;
}

/** The source of a drawn latency. */
export type Latency = LatencyQuantiles | LatencyHistory;

/**
 * The configured source of a latency: a distribution; the latencies of the recording's own run; or these where that run
 * landed enough swaps on a chain, and a distribution otherwise.
 */
export type LatencySource = LatencyQuantiles | 'recorded' | { readonly recordedOr: LatencyQuantiles };

/** A swap that the recorded run landed on a chain: the quotes recorded after it contain its impact. */
export interface RecordedSwap {
  /** When the run learned that it had landed. */
  readonly at: Millis;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: bigint;
  /** The accepted quote and the time of the signature: a recorded price of this size. */
  readonly accepted?: { readonly at: Millis; readonly outAmount: bigint } | undefined;
}

/** The costs of every attempt, landed or failed, and the platform fee that quotes do not include. */
export interface AttemptCostModel {
  readonly signatures: number;
  readonly computeUnitLimit: number;
  readonly microLamportsPerUnit: bigint;
  readonly tipLamports: Lamports;
  /** Beyond the recorded quotes, which are after the service's own fees. */
  readonly platformFeeBps: Bps;
  readonly platformFeeIn: 'input' | 'output';
}

/** The probabilities of a transaction's ends, and its fill. */
export interface LandingModel {
  /** How much a fill falls short of the price on arrival, as measured in live fills. */
  readonly adverseBps: Bps;
  /** The share of transactions that never land: no swap and no fee; the input is locked until they have expired. */
  readonly dropProbability: number;
  /** The shares that are not configured: they come from the recorded run where it landed enough swaps on a chain. */
  readonly assumed?: { readonly drop: boolean; readonly unknown: boolean } | undefined;
  /** The share of transactions whose outcome is unknown until they would have expired. */
  readonly unknownProbability: number;
  /** From the signature to the proof that it cannot land any more. */
  readonly expiryMs: Millis;
  /** The price move in the taker's favour beyond which a maker does not sign. */
  readonly lastLookBps: Bps;
}

/** The allowed age of a recorded quote that fills a swap. */
export interface FillQuoteAge {
  /**
   * The configured age. Where absent, `TIMES_INTERVAL` times the recorded interval of the quote's feed, at least
   * `leastMs`.
   */
  readonly maxMs?: Millis | undefined;
  /** The age that a live run allows. */
  readonly leastMs: Millis;
}

/** Two polls of a feed may fail before its last quote can fill no more swaps. */
export const TIMES_INTERVAL = 3;

/** The model of simulated swaps: plain data, the same in every mode without real trades. */
export interface SimulationModel<Source extends Latency | LatencySource = Latency> {
  readonly setting: SimulationSetting;
  readonly latency: {
    /** From the decision to the accepted quote. */
    readonly quote: Source;
    /** From the accepted quote to the signature. */
    readonly sign: LatencyQuantiles;
    /** From the signature to the block. */
    readonly land: Source;
  };
  /** Whether sizes above the largest recorded one are priced, and marked. */
  readonly extrapolate: boolean;
  /**
   * The haircut where only quotes of the other direction are recorded: their inverse contains neither the spread nor
   * the pool fees of both directions.
   */
  readonly otherSideHaircutBps: Bps;
  /** The age beyond which a quote does not value a holding. */
  readonly maxPriceAgeMs: Millis;
  readonly fillQuoteAge: FillQuoteAge;
  /** The remaining impact of an own swap: `share` of it at first, less by a factor e after each `decayMs`. */
  readonly ownImpact: { readonly share: number; readonly decayMs: Millis };
  /** The swaps that the recorded run landed itself, in order of time; absent without any. */
  readonly recordedSwaps?: readonly RecordedSwap[] | undefined;
  readonly landing: LandingModel;
  readonly costs: AttemptCostModel;
  /** The fees of tokens whose issuers keep a part of each transfer; quotes are assumed not to include them. */
  readonly transferFees: ReadonlyMap<Mint, TransferFee>;
  /** How much less a swap brings than recorded, more where negative: models dearer and cheaper markets. */
  readonly dearerBps?: number | undefined;
}

/** The default model. Latencies, probabilities and priority fees are assumptions, to be calibrated by live runs. */
export const BASE_MODEL: SimulationModel<LatencyQuantiles> = {
  setting: 'base',
  latency: {
    quote: [{ share: 0.5, latencyMs: 300 }],
    sign: [{ share: 0.5, latencyMs: 5 }],
    land: [{ share: 0.5, latencyMs: 1_500 }],
  },
  extrapolate: false,
  otherSideHaircutBps: 60 as Bps,
  maxPriceAgeMs: VALUE_MAX_AGE_MS,
  fillQuoteAge: { leastMs: QUOTE_MAX_AGE_MS },
  ownImpact: { share: 1, decayMs: 60_000 },
  landing: {
    adverseBps: 0 as Bps, dropProbability: 0.01, unknownProbability: 0.002, expiryMs: 70_000, lastLookBps: 10 as Bps,
  },
  costs: {
    signatures: 1, computeUnitLimit: 200_000, microLamportsPerUnit: 20_000n, tipLamports: 0n as Lamports,
    platformFeeBps: 0 as Bps, platformFeeIn: 'output',
  },
  transferFees: new Map(),
};

/** The arrival of a swap, at a price that may have moved since the quote was accepted. */
interface SimulatedArrival {
  readonly intent: Intent;
  readonly accepted: SwapTerms;
  /** The output at the price on arrival; 0 without a buyer. */
  readonly outAmount: Amount;
  readonly setting: SimulationSetting;
  readonly feeLamports: Lamports;
  /** The deposits for opened accounts, where it lands; 0 where absent. */
  readonly rentLamports?: Lamports | undefined;
}

/** Returns the outcome that the chain would report: a fill, or the slippage failure 6001, which costs its fee too. */
export function landSimulated(
  { intent, accepted, outAmount, setting, feeLamports, rentLamports = 0n as Lamports }: SimulatedArrival,
): Outcome {
  const { router, outAmount: quotedOut } = accepted;
  const least = minimumOut(intent, accepted.outAmount);
  if (outAmount < least) {
    return outcomeOf(intent.id, 'failed', {
      router, quotedOut, code: '6001', reason: 'slippage tolerance exceeded', feeLamports,
    });
  }
  return outcomeOf(intent.id, 'confirmed', {
    router,
    quotedOut,
    fill: {
      inputMint: intent.inputMint,
      outputMint: intent.outputMint,
      amountIn: intent.amountIn,
      amountOut: setting === 'pessimistic' ? least : outAmount,
      feeLamports,
      rentLamports,
    },
  });
}
