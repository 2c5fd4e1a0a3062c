import { describe, expect, it } from 'vitest';
import type { SimulationNotes } from '../../src/backtest/simulation-notes.ts';
import { simulationWarnings } from '../../src/backtest/simulation-notes.ts';

const said = (notes: Partial<SimulationNotes>, extrapolate = false): string[] => simulationWarnings(
  { refusals: {}, marks: {}, arrivals: { count: 0, unmoved: 0 }, ...notes } as SimulationNotes,
  { otherSideHaircutBps: 60 as never, extrapolate, setting: 'base' },
);

describe('simulation warnings', () => {
  it('use the singular for one', () => {
    expect(said({ marks: { 'other-side': 1 } }))
      .toEqual(['1 fill is priced from quotes of the other direction, less 60 bps']);
    expect(said({ marks: { 'other-side': 1_200 } }))
      .toEqual(['1,200 fills are priced from quotes of the other direction, less 60 bps']);
    expect(said({ refusals: { SIZE_BEYOND_LADDER: 1 } })).toEqual(['1 swap could not be simulated and was abandoned '
      + '(SIZE_BEYOND_LADDER): the size is above the largest recorded quote (backtest.extrapolate would price it)']);
    expect(said({ refusals: { QUOTE_STALE: 2 } })).toEqual(['2 swaps could not be simulated and were abandoned '
      + '(QUOTE_STALE): all quotes of the pair were too old (backtest.max_quote_age)']);
  });

  it('report that the cost of delay is invisible where almost all fills have their accepted price', () => {
    expect(said({ arrivals: { count: 1_000, unmoved: 900 } })).toEqual([expect.stringMatching(
      /^the cost of delay is not visible here: 900 of 1,000 fills landed before the next price was recorded/,
    )]);
    expect(said({ arrivals: { count: 1_000, unmoved: 899 } })).toEqual([]);
    expect(said({ arrivals: { count: 1, unmoved: 1 } })).toEqual([expect.stringContaining('1 of 1 fill landed')]);
  });

  it('explain a price beyond the recorded sizes where extrapolation is switched off', () => {
    const [off] = said({ marks: { extrapolated: 3 } });
    expect(off).toMatch(
      /^3 fills are priced at an extrapolated price .* though backtest\.extrapolate is off: .*Record larger sizes$/,
    );
    expect(said({ marks: { extrapolated: 3 } }, true)).toEqual([
      '3 fills are priced at an extrapolated price beyond the largest recorded size (backtest.extrapolate is on)',
    ]);
  });
});
