import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { InputSource } from '../../recording/reader.ts';
import type { Route } from '../../trading/proposal.ts';
import type {
  LandingModel, Latency, LatencyHistory, LatencyQuantiles, LatencySource, SimulationModel,
} from '../../trading/simulation-model.ts';
import { BASE_MODEL } from '../../trading/simulation-model.ts';
import { quantilesOf } from './latency.ts';
import type { KnownLatency, RecordedLatencies, RecordedRun } from './recorded-run.ts';
import { recordedRun } from './recorded-run.ts';

/** Fewer swaps do not tell how long one takes. */
const SWAPS_MIN = 20;
/**
 * Without a configured latency even so few are better than an assumption: they are of this service, chain and machine.
 */
const SWAPS_PREFERRED_FROM = 3;
/** A tenth more swaps may change a distribution; a single swap hardly does. */
const GROWTH = 1.1;

/**
 * Returns a model with what the recorded run did: its swaps, whose impact is in the recorded quotes, and its latencies.
 *
 * Recorded latencies, signing included, hold at each instant for the swaps known before it. Until there are 20, the
 * default applies. "recorded or", where the run landed 20 swaps on a chain, separates the routes, and uses the first
 * three swaps of each route for the time before them, since latencies do not tell future prices. The shares of
 * transactions that expire, or have an unknown outcome, are then those of the run, unless they are configured. Throws
 * RECORDING_INCOMPLETE where "recorded" finds fewer than 20.
 */
export function withRecordedRun(
  model: SimulationModel<LatencySource>, recording: Pick<InputSource, 'kinds' | 'cursor'>, name: string,
): SimulationModel {
  const { quote, sign, land } = model.latency;
  const { latencies: found, swaps, endings: fates } = recordedRun(recording);
  const isOfChain = swaps.length >= SWAPS_MIN;
  const from = (source: LatencySource, key: keyof RecordedLatencies): Latency => {
    if (source === 'recorded') {
      if (found[key].length >= SWAPS_MIN)
        return { before: BASE_MODEL.latency[key], steps: stepsOf(found[key], SWAPS_MIN) };
      throw new GannetError('RECORDING_INCOMPLETE',
        `backtest.latency.${key} is to come from ${name}, whose run made ${found[key].length} swaps; at least `
          + `${SWAPS_MIN} are needed: write a duration or quantiles instead`);
    }
    if (!('recordedOr' in source)) return source;
    if (!isOfChain || found[key].length < SWAPS_MIN) return source.recordedOr;
    const ofRoute = (route: Route): Partial<Record<Route, LatencyHistory>> => {
      const own = found[key].filter((known) => known.route === route);
      return own.length < SWAPS_PREFERRED_FROM ? {} : { [route]: preferred(own) };
    };
    return { ...preferred(found[key]), routes: { ...ofRoute('order'), ...ofRoute('build') } };
  };
  const quoteLatency = from(quote, 'quote');
  return {
    ...model,
    latency: {
      quote: quoteLatency, sign: 'steps' in quoteLatency ? [{ share: 0.5, latencyMs: 0 }] : sign,
      land: from(land, 'land'),
    },
    landing: isOfChain ? withFates(model.landing, fates) : model.landing,
    ...(swaps.length === 0 ? {} : { recordedSwaps: swaps }),
  };
}

function withFates(landing: LandingModel, { signed, expired, unheard }: RecordedRun['endings']): LandingModel {
  const { assumed, dropProbability, unknownProbability } = landing;
  if (assumed === undefined || signed === 0) return landing;
  return {
    ...landing,
    dropProbability: assumed.drop ? Math.min(1, expired / signed) : dropProbability,
    unknownProbability: assumed.unknown ? Math.min(1, unheard / signed) : unknownProbability,
  };
}

/** Returns the distributions of the first `from` swaps, of a tenth more, and so on, each valid since its last swap. */
function stepsOf(known: readonly KnownLatency[], from: number): LatencyHistory['steps'] {
  const steps: { since: Millis; quantiles: LatencyQuantiles }[] = [];
  for (let count = from; count <= known.length; count = Math.ceil(count * GROWTH)) {
    steps.push({
      since: known[count - 1]!.at, quantiles: quantilesOf(known.slice(0, count).map(({ latencyMs }) => latencyMs)),
    });
  }
  return steps;
}

function preferred(known: readonly KnownLatency[]): LatencyHistory {
  const steps = stepsOf(known, SWAPS_PREFERRED_FROM);
  const { quantiles } = steps[0]!;
  return { before: quantiles, steps: [{ since: 0, quantiles }, ...steps.slice(1)] };
}

/**
 * Returns the instant until which a model assumes a latency of the recording; undefined where it never does after
 * `startAt`.
 */
export function assumedUntil({ latency: { quote, land } }: SimulationModel, startAt: Millis): Millis | undefined {
  const firsts = [quote, land].flatMap((latency) => ('steps' in latency ? [latency.steps[0]!.since] : []));
  const last = Math.max(-Infinity, ...firsts);
  return last > startAt ? last : undefined;
}
