import { formatDuration } from '../core/time.ts';
import type { FillQuoteAge, Latency, LatencySource, SimulationModel } from '../trading/simulation-model.ts';
import { TIMES_INTERVAL } from '../trading/simulation-model.ts';
import { latencyText } from './latency-text.ts';
import type { PlainValue } from './node.ts';

/**
 * Returns how swaps are simulated as plain data for a manifest; amounts as text, latencies as they are written in a
 * file.
 */
export function recordSimulation(
  model: SimulationModel<Latency | LatencySource>,
): Readonly<Record<string, PlainValue>> {
  const { latency, ownImpact, landing, costs } = model;
  return {
    setting: model.setting,
    latency: { quote: latencyText(latency.quote), sign: latencyText(latency.sign), land: latencyText(latency.land) },
    extrapolate: model.extrapolate,
    other_side_haircut_bps: model.otherSideHaircutBps,
    max_price_age_ms: model.maxPriceAgeMs,
    max_quote_age: fillAgeText(model.fillQuoteAge),
    own_impact: { share: ownImpact.share, decay_ms: ownImpact.decayMs },
    landing: {
      adverse_bps: landing.adverseBps, drop_probability: landing.dropProbability,
      unknown_probability: landing.unknownProbability, expiry_ms: landing.expiryMs, last_look_bps: landing.lastLookBps,
    },
    costs: {
      signatures: costs.signatures, compute_units: costs.computeUnitLimit,
      micro_lamports_per_unit: costs.microLamportsPerUnit.toString(), tip_lamports: costs.tipLamports.toString(),
      platform_fee_bps: costs.platformFeeBps, platform_fee_in: costs.platformFeeIn,
    },
    transfer_fees: Object.fromEntries([...model.transferFees].map(([mint, { bps, maximum }]) =>
      [mint, { bps, maximum: maximum.toString() }])),
  };
}

/** Returns how old a quote may be that fills a swap, in words. */
export function fillAgeText({ maxMs, leastMs }: FillQuoteAge): string {
  return maxMs === undefined ? `${TIMES_INTERVAL} times the recorded interval (at least ${formatDuration(leastMs)})`
    : formatDuration(maxMs);
}
