import type { SimulationModel, SimulationSetting } from '../../trading/simulation-model.ts';

/** The factors by which a setting changes a model. */
export interface SettingRow {
  /**
   * Of the time until a quote is accepted. It is never 0: at a decision the known prices are old, and the next ones are
   * not there yet.
   */
  readonly quoteLatency: number;
  /** Of the time from the quote to the block. */
  readonly landLatency: number;
  /** Of the impact of own swaps. */
  readonly ownImpact: number;
  /** Of the probabilities that a transaction is lost, or that its landing is not seen. */
  readonly mishaps: number;
  /** Of the priority fee and tip; a whole number. */
  readonly priority: number;
  /**
   * Of how far the price may move in the taker's favour before a maker declines to sign; Infinity where makers always
   * sign.
   */
  readonly makerTolerance: number;
  /** The fill price: as quoted, the price on arrival, or the accepted minimum as in a sandwich attack. */
  readonly fill: 'quoted' | 'arrival' | 'threshold';
}

/** The three settings, to be compared side by side: a gain that only the optimistic one shows is no result. */
export const SETTINGS: Readonly<Record<SimulationSetting, SettingRow>> = {
  optimistic: {
    quoteLatency: 1, landLatency: 0, ownImpact: 0, mishaps: 0, priority: 1, makerTolerance: Infinity, fill: 'quoted',
  },
  base: { quoteLatency: 1, landLatency: 1, ownImpact: 1, mishaps: 1, priority: 1, makerTolerance: 1, fill: 'arrival' },
  pessimistic: {
    quoteLatency: 2, landLatency: 2, ownImpact: 1, mishaps: 3, priority: 2, makerTolerance: 0, fill: 'threshold',
  },
};

/** Returns a model under a setting, its own by default. */
export function underSetting(
  model: SimulationModel, setting: SimulationSetting = model.setting,
): SimulationModel & { readonly row: SettingRow } {
  const row = SETTINGS[setting];
  const { ownImpact, landing } = model;
  return {
    ...model,
    setting,
    row,
    ownImpact: { ...ownImpact, share: ownImpact.share * row.ownImpact },
    landing: {
      ...landing,
      dropProbability: Math.min(1, landing.dropProbability * row.mishaps),
      unknownProbability: Math.min(1, landing.unknownProbability * row.mishaps),
    },
  };
}
