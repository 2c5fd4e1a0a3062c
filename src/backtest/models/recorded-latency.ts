import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { InputSource } from '../../recording/reader.ts';
import type { LatencyQuantiles, LatencySource, SimulationModel } from '../../trading/simulation-model.ts';
import { quantilesOf } from './latency.ts';

/** Fewer swaps say nothing of how long one takes. */
const SWAPS_MIN = 20;

/** How long a run's own swaps took, each in milliseconds. */
export interface RecordedLatencies {
  /** From the decision to the signature: asking, waiting and signing together. */
  readonly quote: readonly Millis[];
  /** From the signature to the news of the block. */
  readonly land: readonly Millis[];
}

/** Returns how long the swaps of the run took that made a recording, as far as it was known before `until`; the first attempt of each. */
export function recordedLatencies(recording: Pick<InputSource, 'kinds' | 'cursor'>, until: Millis = Infinity): RecordedLatencies {
  const quote: Millis[] = [];
  const land: Millis[] = [];
  if (!recording.kinds.includes('outcome')) return { quote, land };
  const begun = new Map<string, Millis>();
  const signed = new Map<string, Millis>();
  const cursor = recording.cursor({ kinds: ['outcome'] });
  while (cursor.next()) {
    const { at, input } = cursor;
    if (at >= until) break;
    if (input.kind !== 'outcome' || input.attempt !== 1) continue;
    const { intentId, state } = input;
    if (state === 'building' && !begun.has(intentId)) begun.set(intentId, at);
    else if (state === 'signed') {
      signed.set(intentId, at);
      const since = begun.get(intentId);
      if (since !== undefined) quote.push(at - since);
    } else if (state === 'confirmed' || state === 'failed') {
      const since = signed.get(intentId);
      if (since !== undefined) land.push(at - since);
    }
  }
  return { quote, land };
}

/**
 * Returns a model with every latency known: what is to come from the recording is taken from there, signing included, as
 * far as it was known before `until`. Throws RECORDING_INCOMPLETE where its run made too few swaps to say.
 */
export function withRecordedLatency(model: SimulationModel<LatencySource>, recording: Pick<InputSource, 'kinds' | 'cursor'>, name: string, until: Millis = Infinity): SimulationModel {
  const { quote, sign, land } = model.latency;
  if (quote !== 'recorded' && land !== 'recorded') return { ...model, latency: { quote, sign, land } };
  const found = recordedLatencies(recording, until);
  const from = (source: LatencySource, key: keyof RecordedLatencies): LatencyQuantiles => {
    if (source !== 'recorded') return source;
    if (found[key].length >= SWAPS_MIN) return quantilesOf(found[key]);
    throw new GannetError('RECORDING_INCOMPLETE',
      `backtest.latency.${key} is to come from ${name}, whose run made ${found[key].length} swaps${until === Infinity ? '' : ` before ${new Date(until).toISOString()}`}; at least ${SWAPS_MIN} are needed: write a duration or quantiles instead`);
  };
  return {
    ...model,
    latency: { quote: from(quote, 'quote'), sign: quote === 'recorded' ? [{ share: 0.5, latencyMs: 0 }] : sign, land: from(land, 'land') },
  };
}
