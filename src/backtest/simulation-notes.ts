import type { Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { AttemptCosts } from './models/swap-costs.ts';
import type { ImpactBasis } from './models/quote-ladder.ts';
import type { PriceMark, PriceRefusal, SimulatedPrice, TokenFee } from './pricing.ts';
import { counted, grouped } from '../core/counted.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';

/** Why a swap could not be simulated, by its code. */
export const SIMULATION_REFUSALS: Readonly<Record<PriceRefusal['code'], string>> = {
  QUOTE_UNAVAILABLE: 'the recording holds no quote of their pair, either way',
  QUOTE_STALE: 'all quotes of their pair were too old (backtest.max_quote_age)',
  SIZE_BEYOND_LADDER: 'they are larger than the largest recorded quote (backtest.extrapolate would price them)',
};

/**
 * Where more fills than this share meet the price that they were accepted at, waiting costs nothing that a figure could
 * show.
 */
const BLIND_SHARE = 0.9;

/** Returns what must be said of a simulation before its figures are believed. */
export function simulationWarnings(notes: SimulationNotes, {
  otherSideHaircutBps, extrapolate, setting,
}: Pick<SimulationModel, 'otherSideHaircutBps' | 'extrapolate' | 'setting'>): string[] {
  const beyond = 'by going on beyond the largest size that was recorded';
  const marked: Readonly<Record<PriceMark, string>> = {
    'other-side': `from quotes of the other direction, less ${otherSideHaircutBps} bps`,
    // Without the switch there are two ways to such a price, and whoever set it to false asks how that can be.
    extrapolated: extrapolate ? `${beyond} (backtest.extrapolate is on)`
      : `${beyond}, though backtest.extrapolate is off: that forbids to begin such a swap. What is held must be sold `
        + 'at some price where sales were not recorded, and what is under way lands even where the sizes recorded then '
        + `are smaller. Record larger sizes to be sure of ${notes.marks.extrapolated === 1 ? 'it' : 'them'}`,
    displaced: `${beyond}: they fit it alone, and do not together with what own swaps just before them still displace `
      + '(backtest.own_impact). Record larger sizes',
    'slots-apart': 'between quotes more than five slots apart',
  };
  return [
    ...(setting === 'optimistic' ? [] : blindnessWarnings(notes)),
    ...Object.entries(SIMULATION_REFUSALS).flatMap(([code, why]) => {
      const count = notes.refusals[code as PriceRefusal['code']] ?? 0;
      return count === 0 ? []
        : [`${counted(count, 'swap')} could not be simulated and ${count === 1 ? 'was' : 'were'} given up (${code}): ${count === 1 ? why.replace('their pair', 'its pair').replace('they are', 'it is').replace('price them', 'price it') : why}`];
    }),
    ...Object.entries(marked).flatMap(([mark, how]) => {
      const count = notes.marks[mark as PriceMark] ?? 0;
      return count === 0 ? [] : [`${counted(count, 'fill is', 'fills are')} priced ${how}`];
    }),
  ];
}

/**
 * Returns on which feeds own swaps leave the next price as it was recorded, since nothing there tells how it moves with
 * size.
 */
export function ownImpactWarnings(
  { ownImpact }: Pick<SimulationNotes, 'ownImpact'>, describe: (feed: string) => string,
): string[] {
  return ownImpact.filter(({ fills }) => fills.none > 0).map(({ feeds, fills: { sizes, stated, none } }) => {
    const all = sizes + stated + none;
    const which = none === all ? counted(all, 'fill') : `${grouped(String(none))} of ${counted(all, 'fill')}`;
    return `own impact is not in the price of ${which} on ${feeds.map(describe).join(', ')}: the recording holds one `
      + 'size there and states no price impact for it, so that own swaps '
      + 'move no price, whatever backtest.own_impact says. Record a second, larger size';
  });
}

/** A fill takes the last price known on arrival: where the next one comes later, that is the one it was accepted at. */
function blindnessWarnings({ arrivals: { count, unmoved } }: SimulationNotes): string[] {
  if (count === 0 || unmoved < BLIND_SHARE * count) return [];
  return [`what waiting costs cannot be seen here: ${grouped(String(unmoved))} of ${counted(count, 'fill')} landed `
    + `before the next price was recorded, at the one that ${count === 1 ? 'it was' : 'they were'} accepted at; record `
    + 'more often'];
}

/** What a simulated fill cost, by what it was for, and how sure its price is. */
export interface FillNotes extends Pick<SimulatedPrice, 'marks' | 'platformFee' | 'transferFees'> {
  readonly costs: AttemptCosts;
  readonly rentLamports: Lamports;
}

/** Where the impact of own swaps comes from in one direction of a pair, over the fills there. */
export interface ImpactNote {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** The quotes' feeds; of the other direction where only that was recorded. */
  readonly feeds: readonly string[];
  /** Fills by what told how the price moves with size: several recorded sizes, the impact stated of one, or nothing. */
  readonly fills: Readonly<Record<ImpactBasis, number>>;
  /** Fills that earlier own swaps made worse. */
  readonly displaced: number;
}

/** What a report must say of a simulation beside its fills. */
export interface SimulationNotes {
  /** Swaps that could not be simulated, by code: each was given up, none was dropped. */
  readonly refusals: Readonly<Partial<Record<PriceRefusal['code'], number>>>;
  /** Fills at a price that arrivals decide, and of these those that no newer quote came for on their way. */
  readonly arrivals: { readonly count: number; readonly unmoved: number };
  /** Fills whose price is less sure, by why. */
  readonly marks: Readonly<Partial<Record<PriceMark, number>>>;
  /** By direction; empty where the setting leaves own impact out. */
  readonly ownImpact: readonly ImpactNote[];
  /** Of all attempts, failed ones too. */
  readonly costs: AttemptCosts;
  /** Of the fees above, what went for swaps that failed. */
  readonly failedFeeLamports: Lamports;
  /** Taken beyond what quotes say, smallest units. */
  readonly platformFees: ReadonlyMap<Mint, bigint>;
  readonly transferFees: ReadonlyMap<Mint, bigint>;
}

/** Adds up what happens in a simulation. */
export interface SimulationCounters {
  refused(refusal: PriceRefusal): void;
  failed(): void;
  /** A price on arrival counted. */
  arrived(price: { readonly isUnmoved: boolean }): void;
  /** A fill at a market's price, by what told its impact. */
  impacted(direction: Pick<ImpactNote, 'inputMint' | 'outputMint'>, impact: {
    readonly feeds: Iterable<string>; readonly basis: ImpactBasis; readonly isDisplaced: boolean;
  }): void;
  filled(notes: FillNotes): void;
  notes(): SimulationNotes;
}

/** Returns an empty tally of attempts that cost so much each. */
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
