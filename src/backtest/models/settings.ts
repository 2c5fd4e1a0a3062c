import type { SimulationSetting } from '../../trading/simulated-landing.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';

/** What a setting makes of a model: factors of what was measured or configured. */
export interface SettingRow {
  /**
   * Of the time until a quote is accepted. Never 0: prices come one after the other, and at a decision the ones that it
   * did not wait for are old.
   */
  readonly quoteLatency: number;
  /** Of the time from there to the block. */
  readonly landLatency: number;
  /** Of what the market remembers of own swaps. */
  readonly ownImpact: number;
  /** Of the chances that a transaction is lost, or that nobody hears of it. */
  readonly mishaps: number;
  /** Of what is bid for priority, tips included; a whole number. */
  readonly priority: number;
  /**
   * Of how far the price may move in the taker's favour before a maker does not sign; Infinity where he always does.
   */
  readonly lastLook: number;
  /**
   * At what a swap fills: as quoted, at the price on arrival, or at the least that was accepted, as if it were
   * sandwiched.
   */
  readonly fill: 'quoted' | 'arrival' | 'threshold';
}

/** The three settings, always to be looked at side by side: what only the kindest world pays for is no result. */
export const SETTINGS: Readonly<Record<SimulationSetting, SettingRow>> = {
  optimistic: {
    quoteLatency: 1, landLatency: 0, ownImpact: 0, mishaps: 0, priority: 1, lastLook: Infinity, fill: 'quoted',
  },
  base: { quoteLatency: 1, landLatency: 1, ownImpact: 1, mishaps: 1, priority: 1, lastLook: 1, fill: 'arrival' },
  pessimistic: {
    quoteLatency: 2, landLatency: 2, ownImpact: 1, mishaps: 3, priority: 2, lastLook: 0, fill: 'threshold',
  },
};

/** Returns a model as one setting has it: its own, unless another is named. */
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
