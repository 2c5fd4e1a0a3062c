import { counted } from '../core/counted.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { PriceMark, PriceRefusal } from './pricing.ts';
import type { SimulationNotes } from './simulation-notes.ts';

/** Why a swap could not be simulated, by its code. */
export const SIMULATION_REFUSALS: Readonly<Record<PriceRefusal['code'], string>> = {
  QUOTE_UNAVAILABLE: 'the recording holds no quote of their pair, either way',
  QUOTE_STALE: 'all quotes of their pair were too old',
  SIZE_BEYOND_LADDER: 'they are larger than the largest recorded quote (backtest.extrapolate would price them)',
};

/** Returns what must be said of a simulation before its figures are believed. */
export function simulationWarnings(notes: SimulationNotes, { otherSideHaircutBps, extrapolate }: Pick<SimulationModel, 'otherSideHaircutBps' | 'extrapolate'>): string[] {
  const beyond = 'by going on beyond the largest size that was recorded';
  const marked: Readonly<Record<PriceMark, string>> = {
    'other-side': `from quotes of the other direction, less ${otherSideHaircutBps} bps`,
    // Without the switch there are two ways to such a price, and whoever set it to false asks how that can be.
    extrapolated: extrapolate ? `${beyond} (backtest.extrapolate is on)`
      : `${beyond}, though backtest.extrapolate is off: that forbids to begin such a swap. What is held must be sold at some price where sales were not recorded, and what is under way lands even where the sizes recorded then are smaller. Record larger sizes to be sure of ${notes.marks.extrapolated === 1 ? 'it' : 'them'}`,
    'slots-apart': 'between quotes more than five slots apart',
  };
  return [
    ...Object.entries(SIMULATION_REFUSALS).flatMap(([code, why]) => {
      const count = notes.refusals[code as PriceRefusal['code']] ?? 0;
      return count === 0 ? [] : [`${counted(count, 'swap')} could not be simulated and ${count === 1 ? 'was' : 'were'} given up (${code}): ${count === 1 ? why.replace('their pair', 'its pair').replace('they are', 'it is').replace('price them', 'price it') : why}`];
    }),
    ...Object.entries(marked).flatMap(([mark, how]) => {
      const count = notes.marks[mark as PriceMark] ?? 0;
      return count === 0 ? [] : [`${counted(count, 'fill is', 'fills are')} priced ${how}`];
    }),
  ];
}
