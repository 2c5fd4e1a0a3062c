import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { InputSource } from '../../recording/reader.ts';
import type { Route } from '../../trading/proposal.ts';
import type {
  LandingModel, Latency, LatencyHistory, LatencyQuantiles, LatencySource, RecordedSwap, SimulationModel,
} from '../../trading/simulation-model.ts';
import { BASE_MODEL } from '../../trading/simulation-model.ts';
import { isFirm } from './landing.ts';
import { quantilesOf } from './latency.ts';

/** Fewer swaps do not tell how long one takes. */
const SWAPS_MIN = 20;
/**
 * Without a configured latency even so few are better than an assumption: they are of this service, chain and machine.
 */
const SWAPS_PREFERRED_FROM = 3;
/** The router of transactions that were composed locally. */
const BUILD_ROUTER = 'build';
/** A tenth more swaps may change a distribution; a single swap hardly does. */
const GROWTH = 1.1;

/** How long a swap took, and when that was known. */
interface KnownLatency {
  readonly at: Millis;
  readonly latencyMs: Millis;
  /** Set where the outcome names its router. */
  readonly route?: Route | undefined;
}

/** How long a run's own swaps took, in order of time. */
interface RecordedLatencies {
  /** From the decision to the signature: request, wait and signing together. */
  readonly quote: readonly KnownLatency[];
  /** From the signature to the confirmation. */
  readonly land: readonly KnownLatency[];
}

/** What the run that made a recording did itself. */
interface RecordedRun {
  /** The latencies of the first attempt of each swap. */
  readonly latencies: RecordedLatencies;
  /**
   * The swaps that it landed on a chain, without those that makers filled from their own stock. A paper run has none.
   */
  readonly swaps: readonly RecordedSwap[];
  /** How many of its transactions were signed, expired, and had an unknown outcome for a while. */
  readonly endings: { readonly signed: number; readonly expired: number; readonly unheard: number };
}

/** Returns what the run that made a recording did. */
export function recordedRun(recording: Pick<InputSource, 'kinds' | 'cursor'>): RecordedRun {
  const quote: KnownLatency[] = [];
  const land: KnownLatency[] = [];
  const swaps: RecordedSwap[] = [];
  const fates = { signed: 0, expired: 0, unheard: 0 };
  if (!recording.kinds.includes('outcome')) return { latencies: { quote, land }, swaps, endings: fates };
  const accepted = new Map<string, RecordedSwap['accepted']>();
  const unheard = new Set<string>();
  const begun = new Map<string, Millis>();
  const signed = new Map<string, Millis>();
  const cursor = recording.cursor({ kinds: ['outcome'] });
  while (cursor.next()) {
    const { at, input } = cursor;
    if (input.kind !== 'outcome') continue;
    const { intentId, state, fill, slot, router = '' } = input;
    if (state === 'signed') fates.signed += 1;
    if (state === 'expired' || input.ended === 'expired') fates.expired += 1;
    if (state === 'unknown') unheard.add(`${intentId} ${input.attempt}`);
    fates.unheard = unheard.size;
    // A further attempt replaces the quote.
    if (state === 'signed' && input.quotedOut !== undefined) accepted.set(intentId, { at, outAmount: input.quotedOut });
    if (fill !== undefined && slot !== undefined && !isFirm(router)) {
      swaps.push({
        at, inputMint: fill.inputMint, outputMint: fill.outputMint, inAmount: fill.amountIn,
        accepted: accepted.get(intentId),
      });
    }
    if (input.attempt !== 1) continue;
    const route = router === '' ? undefined : router === BUILD_ROUTER ? 'build' : 'order';
    if (state === 'building' && !begun.has(intentId)) begun.set(intentId, at);
    else if (state === 'signed') {
      signed.set(intentId, at);
      const since = begun.get(intentId);
      if (since !== undefined) quote.push({ at, latencyMs: at - since, route });
    } else if (state === 'confirmed' || state === 'failed') {
      const since = signed.get(intentId);
      if (since !== undefined) land.push({ at, latencyMs: at - since, route });
    }
  }
  return { latencies: { quote, land }, swaps, endings: fates };
}

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
