import type { Lamports } from '../core/amount.ts';
import { groupThousands, pluralize } from '../core/text.ts';
import type { Mint } from '../market/token.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { ImpactBasis } from './models/quote-ladder.ts';
import type { AttemptCosts } from './models/swap-costs.ts';
import type { PriceMark, PriceRefusal, SimulatedPrice, TokenFee } from './pricing.ts';

/** The costs of a simulated fill by kind, and how reliable its price is. */
export interface FillNotes extends Pick<SimulatedPrice, 'marks' | 'platformFee' | 'transferFees'> {
  readonly costs: AttemptCosts;
  readonly rentLamports: Lamports;
}

/** How prices of own swaps were found in one direction of a pair, over all fills there. */
export interface ImpactNote {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** The feeds of the quotes; those of the other direction where only that was recorded. */
  readonly feeds: readonly string[];
  /** Fills by the source of their own impact: several recorded sizes, the stated impact of one size, or none. */
  readonly fills: Readonly<Record<ImpactBasis, number>>;
  /** Fills that earlier own swaps made worse. */
  readonly displaced: number;
}

/** What a report says about a simulation beside its fills. */
export interface SimulationNotes {
  /** Swaps that could not be simulated, by code. Each of them was abandoned. */
  readonly refusals: Readonly<Partial<Record<PriceRefusal['code'], number>>>;
  /** Fills at the price on arrival, and how many of them met no newer quote than the accepted one. */
  readonly arrivals: { readonly count: number; readonly unmoved: number };
  /** Fills with a less reliable price, by reason. */
  readonly marks: Readonly<Partial<Record<PriceMark, number>>>;
  /** By direction; empty where the setting leaves own impact out. */
  readonly ownImpact: readonly ImpactNote[];
  /** Costs of all attempts, failed ones included. */
  readonly costs: AttemptCosts;
  /** The part of these fees that failed swaps paid. */
  readonly failedFeeLamports: Lamports;
  /** Fees beyond those in quotes, smallest units. */
  readonly platformFees: ReadonlyMap<Mint, bigint>;
  readonly transferFees: ReadonlyMap<Mint, bigint>;
}

/** Counts the events of a simulation. */
export interface SimulationCounters {
  refused(refusal: PriceRefusal): void;
  failed(): void;
  /** Counts a fill at the price on arrival. */
  arrived(price: { readonly isUnmoved: boolean }): void;
  /** Counts a fill at a market's price by the source of its own impact. */
  impacted(direction: Pick<ImpactNote, 'inputMint' | 'outputMint'>, impact: {
    readonly feeds: Iterable<string>; readonly basis: ImpactBasis; readonly isDisplaced: boolean;
  }): void;
  filled(notes: FillNotes): void;
  notes(): SimulationNotes;
}

/** Returns counters of attempts that cost `costs` each. */
export function createSimulationCounters(costs: AttemptCosts): SimulationCounters {
  const refusals: Partial<Record<PriceRefusal['code'], number>> = {};
  const marks: Partial<Record<PriceMark, number>> = {};
  const platformFees = new Map<Mint, bigint>();
  const transferFees = new Map<Mint, bigint>();
  const impacts = new Map<string, {
    readonly inputMint: Mint; readonly outputMint: Mint; readonly feeds: Set<string>;
    readonly fills: Record<ImpactBasis, number>; displaced: number;
  }>();
  let failures = 0;
  let landed = 0;
  let arrivals = 0;
  let unmoved = 0;

  return {
    refused({ code }) { refusals[code] = (refusals[code] ?? 0) + 1; },
    failed() { failures += 1; },
    arrived({ isUnmoved }) {
      arrivals += 1;
      if (isUnmoved) unmoved += 1;
    },
    impacted({ inputMint, outputMint }, { feeds, basis, isDisplaced }) {
      const key = `${inputMint} ${outputMint}`;
      const impact = impacts.get(key)
        ?? { inputMint, outputMint, feeds: new Set<string>(), fills: { sizes: 0, stated: 0, none: 0 }, displaced: 0 };
      impacts.set(key, impact);
      for (const feed of feeds) impact.feeds.add(feed);
      impact.fills[basis] += 1;
      if (isDisplaced) impact.displaced += 1;
    },
    filled(notes) {
      landed += 1;
      for (const mark of notes.marks) marks[mark] = (marks[mark] ?? 0) + 1;
      addFee(platformFees, notes.platformFee);
      for (const fee of notes.transferFees) addFee(transferFees, fee);
    },
    notes: () => ({
      arrivals: { count: arrivals, unmoved }, refusals: { ...refusals }, marks: { ...marks },
      costs: timesCosts(costs, BigInt(failures + landed)),
      failedFeeLamports: timesCosts(costs, BigInt(failures)).feeLamports,
      platformFees: new Map(platformFees), transferFees: new Map(transferFees),
      ownImpact: [...impacts.values()]
        .map(({ feeds, fills, ...impact }) => ({ ...impact, feeds: [...feeds], fills: { ...fills } })),
    }),
  };
}

function timesCosts(costs: AttemptCosts, attempts: bigint): AttemptCosts {
  const times = (lamports: Lamports): Lamports => (lamports * attempts) as Lamports;
  return {
    baseLamports: times(costs.baseLamports), priorityLamports: times(costs.priorityLamports),
    tipLamports: times(costs.tipLamports),
    feeLamports: times(costs.feeLamports),
  };
}

function addFee(fees: Map<Mint, bigint>, { mint, amount }: TokenFee): void {
  if (amount > 0n) fees.set(mint, (fees.get(mint) ?? 0n) + amount);
}

/** Why a swap could not be simulated, by code. */
export const SIMULATION_REFUSALS: Readonly<Record<PriceRefusal['code'], string>> = {
  QUOTE_UNAVAILABLE: 'the recording holds no quote of the pair in either direction',
  QUOTE_STALE: 'all quotes of the pair were too old (backtest.max_quote_age)',
  SIZE_BEYOND_LADDER: 'the size is above the largest recorded quote (backtest.extrapolate would price it)',
};

/** Above this share of fills at the accepted price, figures do not contain the cost of delay. */
const UNMOVED_SHARE = 0.9;

/** Returns the warnings about a simulation. */
export function simulationWarnings(notes: SimulationNotes, {
  otherSideHaircutBps, extrapolate, setting,
}: Pick<SimulationModel, 'otherSideHaircutBps' | 'extrapolate' | 'setting'>): string[] {
  const beyond = 'at an extrapolated price beyond the largest recorded size';
  const marked: Readonly<Record<PriceMark, string>> = {
    'other-side': `from quotes of the other direction, less ${otherSideHaircutBps} bps`,
    extrapolated: extrapolate ? `${beyond} (backtest.extrapolate is on)`
      : `${beyond}, though backtest.extrapolate is off: that setting only refuses new swaps of such a size. A holding `
        + 'without recorded sales, and a swap that is sent before the recorded sizes become smaller, still need a '
        + 'price. Record larger sizes',
    displaced: `${beyond}, since earlier own swaps still displace the market (backtest.own_impact). Record larger `
      + 'sizes',
    'slots-apart': 'between quotes more than five slots apart',
  };
  return [
    ...(setting === 'optimistic' ? [] : delayWarnings(notes)),
    ...Object.entries(SIMULATION_REFUSALS).flatMap(([code, why]) => {
      const count = notes.refusals[code as PriceRefusal['code']] ?? 0;
      const were = count === 1 ? 'was' : 'were';
      return count === 0 ? []
        : [`${pluralize(count, 'swap')} could not be simulated and ${were} abandoned (${code}): ${why}`];
    }),
    ...Object.entries(marked).flatMap(([mark, how]) => {
      const count = notes.marks[mark as PriceMark] ?? 0;
      return count === 0 ? [] : [`${pluralize(count, 'fill is', 'fills are')} priced ${how}`];
    }),
  ];
}

/**
 * Returns a warning for each feed on which own swaps do not move the price, since it does not tell the price of a size.
 */
export function ownImpactWarnings(
  { ownImpact }: Pick<SimulationNotes, 'ownImpact'>, describe: (feed: string) => string,
): string[] {
  return ownImpact.filter(({ fills }) => fills.none > 0).map(({ feeds, fills: { sizes, stated, none } }) => {
    const all = sizes + stated + none;
    const which = `${none === all ? '' : `${groupThousands(String(none))} of `}${pluralize(all, 'fill')}`;
    return `own impact is missing in the price of ${which} on ${feeds.map(describe).join(', ')}: the recording holds `
      + 'one size there and states no price impact for it, so own swaps move no price, whatever backtest.own_impact '
      + 'says. Record a second, larger size';
  });
}

/**
 * A fill takes the last price known on arrival, which is the accepted one where no newer price was recorded in time.
 */
function delayWarnings({ arrivals: { count, unmoved } }: SimulationNotes): string[] {
  if (count === 0 || unmoved < UNMOVED_SHARE * count) return [];
  const share = `${groupThousands(String(unmoved))} of ${pluralize(count, 'fill')}`;
  return [`the cost of delay is not visible here: ${share} landed before the next price was recorded, `
    + 'at the accepted price; record more often'];
}
