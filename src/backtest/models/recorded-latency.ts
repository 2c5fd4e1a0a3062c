import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { InputSource } from '../../recording/reader.ts';
import type { Latency, LatencyHistory, LatencyQuantiles, LatencySource, SimulationModel } from '../../trading/simulation-model.ts';
import { BASE_MODEL } from '../../trading/simulation-model.ts';
import { quantilesOf } from './latency.ts';

/** Fewer swaps say nothing of how long one takes. */
const SWAPS_MIN = 20;
/** Another tenth of swaps may make a distribution another one; each single swap hardly does. */
const GROWTH = 1.1;

/** How long a swap took, and when that was known. */
export interface KnownLatency {
  readonly at: Millis;
  readonly latencyMs: Millis;
}

/** How long a run's own swaps took, in order of time. */
export interface RecordedLatencies {
  /** From the decision to the signature: asking, waiting and signing together. */
  readonly quote: readonly KnownLatency[];
  /** From the signature to the news of the block. */
  readonly land: readonly KnownLatency[];
}

/** Returns how long the swaps of the run took that made a recording; the first attempt of each. */
export function recordedLatencies(recording: Pick<InputSource, 'kinds' | 'cursor'>): RecordedLatencies {
  const quote: KnownLatency[] = [];
  const land: KnownLatency[] = [];
  if (!recording.kinds.includes('outcome')) return { quote, land };
  const begun = new Map<string, Millis>();
  const signed = new Map<string, Millis>();
  const cursor = recording.cursor({ kinds: ['outcome'] });
  while (cursor.next()) {
    const { at, input } = cursor;
    if (input.kind !== 'outcome' || input.attempt !== 1) continue;
    const { intentId, state } = input;
    if (state === 'building' && !begun.has(intentId)) begun.set(intentId, at);
    else if (state === 'signed') {
      signed.set(intentId, at);
      const since = begun.get(intentId);
      if (since !== undefined) quote.push({ at, latencyMs: at - since });
    } else if (state === 'confirmed' || state === 'failed') {
      const since = signed.get(intentId);
      if (since !== undefined) land.push({ at, latencyMs: at - since });
    }
  }
  return { quote, land };
}

/**
 * Returns a model with every latency known: what is to come from the recording is taken from there, signing included, at
 * each instant from what was known before it. Until that is 20 swaps, it is what is assumed where nobody says otherwise.
 * Throws RECORDING_INCOMPLETE where the run made fewer in all.
 */
export function withRecordedLatency(model: SimulationModel<LatencySource>, recording: Pick<InputSource, 'kinds' | 'cursor'>, name: string): SimulationModel {
  const { quote, sign, land } = model.latency;
  if (quote !== 'recorded' && land !== 'recorded') return { ...model, latency: { quote, sign, land } };
  const found = recordedLatencies(recording);
  const from = (source: LatencySource, key: keyof RecordedLatencies): Latency => {
    if (source !== 'recorded') return source;
    if (found[key].length >= SWAPS_MIN) return historyOf(found[key], BASE_MODEL.latency[key]);
    throw new GannetError('RECORDING_INCOMPLETE',
      `backtest.latency.${key} is to come from ${name}, whose run made ${found[key].length} swaps; at least ${SWAPS_MIN} are needed: write a duration or quantiles instead`);
  };
  return {
    ...model,
    latency: { quote: from(quote, 'quote'), sign: quote === 'recorded' ? [{ share: 0.5, latencyMs: 0 }] : sign, land: from(land, 'land') },
  };
}

function historyOf(known: readonly KnownLatency[], before: LatencyQuantiles): LatencyHistory {
  const steps: { since: Millis; quantiles: LatencyQuantiles }[] = [];
  for (let count = SWAPS_MIN; count <= known.length; count = Math.ceil(count * GROWTH)) {
    steps.push({ since: known[count - 1]!.at, quantiles: quantilesOf(known.slice(0, count).map(({ latencyMs }) => latencyMs)) });
  }
  return { before, steps };
}

/** Returns the instant until which a model assumes a latency that is to come from the recording; undefined where it never does after `startAt`. */
export function assumedUntil({ latency: { quote, land } }: SimulationModel, startAt: Millis): Millis | undefined {
  const firsts = [quote, land].flatMap((latency) => ('steps' in latency ? [latency.steps[0]!.since] : []));
  const last = Math.max(-Infinity, ...firsts);
  return last > startAt ? last : undefined;
}
