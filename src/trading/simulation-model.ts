import type { Bps, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { TransferFee } from '../market/mint-account.ts';
import type { Mint } from '../market/token.ts';
import type { Route } from './proposal.ts';
import type { SimulationSetting } from './simulated-landing.ts';
import { QUOTE_MAX_AGE_MS } from './limits.ts';
import { VALUE_MAX_AGE_MS } from './valuation.ts';

/** A latency that a share of all cases, 0 to 1, stays below. */
export interface LatencyQuantile {
  readonly share: number;
  readonly latencyMs: Millis;
}

/**
 * A distribution of latencies: at least one quantile, shares rising, latencies not falling. One alone is a constant.
 */
export type LatencyQuantiles = readonly LatencyQuantile[];

/** What was known of a latency when, so that nobody draws from what was measured later. */
export interface LatencyHistory {
  /** Where nothing is known yet. */
  readonly before: LatencyQuantiles;
  /** In order of time; each is known after its instant. */
  readonly steps: readonly { readonly since: Millis; readonly quantiles: LatencyQuantiles }[];
  /** The same of the swaps of one route alone; left out where they are not told apart. */
  readonly routes?: Readonly<Partial<Record<Route, LatencyHistory>>> | undefined;
}

/** What a latency is drawn from. */
export type Latency = LatencyQuantiles | LatencyHistory;

/**
 * Where a latency comes from, as a configuration says it: a distribution; what the recording's own run took; or the
 * latter where that run landed enough swaps on a chain, and else a distribution.
 */
export type LatencySource = LatencyQuantiles | 'recorded' | { readonly recordedOr: LatencyQuantiles };

/**
 * A swap that the run which made a recording landed on a chain: the quotes recorded after it have its impact in them.
 */
export interface RecordedSwap {
  /** When the run knew that it had landed. */
  readonly at: Millis;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: bigint;
  /** The quote that it accepted, and when it was signed: a price of this size that was recorded as well. */
  readonly accepted?: { readonly at: Millis; readonly outAmount: bigint } | undefined;
}

/** What every attempt costs, landed or failed, and what the platform takes beyond what quotes say. */
export interface AttemptCostModel {
  readonly signatures: number;
  readonly computeUnitLimit: number;
  readonly microLamportsPerUnit: bigint;
  readonly tipLamports: Lamports;
  /** On top of what was recorded: a service's own quotes are after its fees. */
  readonly platformFeeBps: Bps;
  readonly platformFeeIn: 'input' | 'output';
}

/** How likely what becomes of a transaction is, and how it fills. */
export interface LandingModel {
  /** By how much a fill falls short of the price on arrival, as live fills were found to. */
  readonly adverseBps: Bps;
  /** The share of transactions that never land: no swap, no fee, the money locked until they have expired. */
  readonly dropProbability: number;
  /**
   * Which of both shares nobody wrote down: they come from the recording's own run, where it landed enough swaps on a
   * chain.
   */
  readonly assumed?: { readonly drop: boolean; readonly unknown: boolean } | undefined;
  /** The share of transactions of which nobody knows what became until they would have expired. */
  readonly unknownProbability: number;
  /** From the signature to the proof that it cannot land any more. */
  readonly expiryMs: Millis;
  /** A maker does not sign once the price moved by more than this in the taker's favour. */
  readonly lastLookBps: Bps;
}

/** How old a recorded quote may be that fills a swap. */
export interface FillQuoteAge {
  /**
   * As configured. Left out, `TIMES_INTERVAL` times the interval at which the quote's feed was recorded, at least
   * `leastMs`.
   */
  readonly maxMs?: Millis | undefined;
  /** The age that a live run allows. */
  readonly leastMs: Millis;
}

/** Two polls of a feed may fail before its last quote fills nothing any more. */
export const TIMES_INTERVAL = 3;

/** How swaps are simulated: plain data, the same in every mode that only pretends to trade. */
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
  /** Whether sizes above the largest recorded one are priced at all, and marked. */
  readonly extrapolate: boolean;
  /**
   * What is taken off where only quotes of the other direction are recorded: their inverse leaves out the spread and
   * both directions' pool fees.
   */
  readonly otherSideHaircutBps: Bps;
  /** By an older quote nothing that is held has a price. */
  readonly maxPriceAgeMs: Millis;
  readonly fillQuoteAge: FillQuoteAge;
  /** What the market still remembers of an own swap: `share` of it at once, less by a factor e after each `decayMs`. */
  readonly ownImpact: { readonly share: number; readonly decayMs: Millis };
  /** What the run that made the recording landed itself, in order of time; left out where that is nothing. */
  readonly recordedSwaps?: readonly RecordedSwap[] | undefined;
  readonly landing: LandingModel;
  readonly costs: AttemptCostModel;
  /** Of tokens whose issuers keep a part of each transfer; quotes are taken to leave it out. */
  readonly transferFees: ReadonlyMap<Mint, TransferFee>;
  /**
   * By how much less a swap brings than was recorded, more where it is negative: to see what dearer and cheaper markets
   * would do.
   */
  readonly dearerBps?: number | undefined;
}

/**
 * What is assumed where nobody says otherwise. Latencies, chances and priority are assumptions, to be calibrated by
 * live runs.
 */
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
