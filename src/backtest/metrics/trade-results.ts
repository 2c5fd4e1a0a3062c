import type { RoundTrip } from './round-trips.ts';

/** What rounding leaves of a trade that gained nothing, by what went into it. */
const ROUNDING = 1e-12;

/** What trades came to, net of costs; amounts in the currency. Undefined is what has no meaning for these trades. */
export interface TradeResults {
  readonly wins: number;
  readonly losses: number;
  /** Neither won nor lost: they are in none of the figures below. */
  readonly breakeven: number;
  /** wins / (wins + losses) */
  readonly winRate: number | undefined;
  /** What was won by what was lost; undefined where nothing was lost. */
  readonly profitFactor: number | undefined;
  /** W · average win - (1 - W) · average loss */
  readonly expectancy: number | undefined;
  /** Average win by average loss; undefined unless there is one of both. */
  readonly payoffRatio: number | undefined;
  /** Expectancy by average loss, payoff · W - (1 - W): what a unit of risk brings. */
  readonly expectancyRatio: number | undefined;
}

/** Returns what trades came to. */
export function tradeResults(trips: readonly Pick<RoundTrip, 'profit' | 'entryValue'>[]): TradeResults {
  let [wins, losses, breakeven, won, lost] = [0, 0, 0, 0, 0];
  for (const { profit, entryValue } of trips) {
    if (Math.abs(profit) <= ROUNDING * Math.abs(entryValue)) {
      breakeven += 1;
    } else if (profit > 0) {
      wins += 1;
      won += profit;
    } else {
      losses += 1;
      lost -= profit;
    }
  }
  const decided = wins + losses;
  const expectancy = decided === 0 ? undefined : (won - lost) / decided;
  const averageLoss = losses === 0 ? undefined : lost / losses;
  return {
    wins, losses, breakeven, expectancy,
    winRate: decided === 0 ? undefined : wins / decided,
    profitFactor: losses === 0 ? undefined : won / lost,
    payoffRatio: averageLoss === undefined || wins === 0 ? undefined : won / wins / averageLoss,
    expectancyRatio: averageLoss === undefined || expectancy === undefined ? undefined : expectancy / averageLoss,
  };
}
