import { counted, grouped } from '../core/counted.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { PriceMark, PriceRefusal } from './pricing.ts';
import type { SimulationNotes } from './simulation-notes.ts';

/** Why a swap could not be simulated, by its code. */
export const SIMULATION_REFUSALS: Readonly<Record<PriceRefusal['code'], string>> = {
  QUOTE_UNAVAILABLE: 'the recording holds no quote of their pair, either way',
  QUOTE_STALE: 'all quotes of their pair were too old (backtest.max_quote_age)',
  SIZE_BEYOND_LADDER: 'they are larger than the largest recorded quote (backtest.extrapolate would price them)',
};

/** Where more fills than this share meet the price that they were accepted at, waiting costs nothing that a figure could show. */
const BLIND_SHARE = 0.9;

/** Returns what must be said of a simulation before its figures are believed. */
export function simulationWarnings(notes: SimulationNotes, { otherSideHaircutBps, extrapolate, setting }: Pick<SimulationModel, 'otherSideHaircutBps' | 'extrapolate' | 'setting'>): string[] {
  const beyond = 'by going on beyond the largest size that was recorded';
  const marked: Readonly<Record<PriceMark, string>> = {
    'other-side': `from quotes of the other direction, less ${otherSideHaircutBps} bps`,
    // Without the switch there are two ways to such a price, and whoever set it to false asks how that can be.
    extrapolated: extrapolate ? `${beyond} (backtest.extrapolate is on)`
      : `${beyond}, though backtest.extrapolate is off: that forbids to begin such a swap. What is held must be sold at some price where sales were not recorded, and what is under way lands even where the sizes recorded then are smaller. Record larger sizes to be sure of ${notes.marks.extrapolated === 1 ? 'it' : 'them'}`,
    'slots-apart': 'between quotes more than five slots apart',
  };
  return [
    ...(setting === 'optimistic' ? [] : blindnessWarnings(notes)),
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

/** A fill takes the last price known on arrival: where the next one comes later, that is the one it was accepted at. */
function blindnessWarnings({ arrivals: { count, unmoved } }: SimulationNotes): string[] {
  if (count === 0 || unmoved < BLIND_SHARE * count) return [];
  return [`what waiting costs cannot be seen here: ${grouped(String(unmoved))} of ${counted(count, 'fill')} landed before the next price was recorded, at the one that ${count === 1 ? 'it was' : 'they were'} accepted at; record more often`];
}
