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
export function simulationWarnings(notes: SimulationNotes, { otherSideHaircutBps }: Pick<SimulationModel, 'otherSideHaircutBps'>): string[] {
  const marked: Readonly<Record<PriceMark, string>> = {
    'other-side': `from quotes of the other direction, less ${otherSideHaircutBps} bps`,
    extrapolated: 'beyond the largest recorded size: extrapolated',
    'slots-apart': 'between quotes more than five slots apart',
  };
  return [
    ...Object.entries(SIMULATION_REFUSALS).flatMap(([code, why]) => {
      const count = notes.refusals[code as PriceRefusal['code']] ?? 0;
      return count === 0 ? [] : [`${count} swaps could not be simulated and were given up (${code}): ${why}`];
    }),
    ...Object.entries(marked).flatMap(([mark, how]) => {
      const count = notes.marks[mark as PriceMark] ?? 0;
      return count === 0 ? [] : [`${count} fills are priced ${how}`];
    }),
  ];
}
