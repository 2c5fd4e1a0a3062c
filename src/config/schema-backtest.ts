import { z } from 'zod';
import { isGannetError } from '../core/errors.ts';
import { formatDuration, parseDuration } from '../core/time.ts';
import type { Latency, LatencyQuantile, LatencyQuantiles, LatencySource } from '../trading/simulation-model.ts';
import { BASE_MODEL } from '../trading/simulation-model.ts';
import { amount, bps, duration } from './schema-fields.ts';

/** What a latency is written as, for messages. */
const LATENCY_FORM = 'a duration such as "300ms", or quantiles such as "p5 150ms, p50 300ms, p95 900ms"';

const QUANTILE = /^p(\d{1,2}(?:\.\d{1,3})?) +(\S+)$/;

/**
 * Returns the distribution in a text: one duration is a constant. Undefined unless quantiles rise and latencies do not
 * fall.
 */
export function readLatencyQuantiles(text: string): LatencyQuantiles | undefined {
  const parts = text.split(',').map((part) => part.trim());
  const single = parts.length === 1 ? durationOf(parts[0]!) : undefined;
  if (single !== undefined) return [{ share: 0.5, latencyMs: single }];
  const quantiles: LatencyQuantile[] = [];
  for (const part of parts) {
    const [, percent, duration] = QUANTILE.exec(part) ?? [];
    const latencyMs = duration === undefined ? undefined : durationOf(duration);
    if (latencyMs === undefined) return undefined;
    const share = Number(percent) / 100;
    const before = quantiles.at(-1);
    if (!(share > 0) || (before !== undefined && (share <= before.share || latencyMs < before.latencyMs)))
      return undefined;
    quantiles.push({ share, latencyMs });
  }
  return quantiles;
}

const RECORDED_OR = /^recorded or +(.+)$/;

/**
 * Returns where a latency comes from: its text, "recorded", or "recorded or" and a text; undefined where the text is
 * none of them.
 */
export function readLatency(text: string): LatencySource | undefined {
  if (text === 'recorded') return 'recorded';
  const otherwise = RECORDED_OR.exec(text)?.[1];
  if (otherwise === undefined) return readLatencyQuantiles(text);
  const recordedOr = readLatencyQuantiles(otherwise);
  return recordedOr === undefined ? undefined : { recordedOr };
}

/** Returns the distribution that is known without a recording; undefined where there is none. */
export function knownQuantiles(source: LatencySource): LatencyQuantiles | undefined {
  if (source === 'recorded') return undefined;
  return 'recordedOr' in source ? source.recordedOr : source;
}

/** Returns the text of a latency, as a manifest keeps it. */
export function latencyText(source: Latency | LatencySource): string {
  if (source === 'recorded' || 'steps' in source) return 'recorded';
  if ('recordedOr' in source) return `recorded or ${latencyText(source.recordedOr)}`;
  if (source.length === 1) return `${source[0]!.latencyMs}ms`;
  return source.map(({ share, latencyMs }) => `p${Number((share * 100).toFixed(3))} ${latencyMs}ms`).join(', ');
}

function durationOf(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    if (isGannetError(error)) return undefined;
    throw error;
  }
}

const { latency, landing, costs, ownImpact } = BASE_MODEL;
const LATENCY_EXAMPLES = ['300ms', 'p5 150ms, p50 300ms, p95 900ms'];

const recordableLatency = () => z.string()
  .refine((text) => readLatency(text) !== undefined, {
    message: `expected ${LATENCY_FORM}, or "recorded", or "recorded or 300ms"`,
  })
  .meta({ examples: [...LATENCY_EXAMPLES, 'recorded', 'recorded or 300ms'] });
const knownLatency = () => z.string()
  .refine((text) => readLatencyQuantiles(text) !== undefined, { message: `expected ${LATENCY_FORM}` })
  .meta({ examples: LATENCY_EXAMPLES });
const ASSUMED = (share: number): string =>
  `Left out, that of the recording’s own run where it landed at least 20 swaps on a chain, and else ${share}.`;
const probability = () => z.number().min(0).max(1);

/** The section "backtest": how swaps are simulated, in a backtest and on paper. */
export const backtestSchema = z.strictObject({
  balances: z.record(z.string(), z.string().meta({ examples: ['10000'] })).optional()
    .meta({ description: 'What a backtest, and a paper run, starts with: decimal amounts by token. Left out, the '
      + 'strategies’ budgets; SOL is 1 unless it is named.' }),
  latency: z.strictObject({
    quote: recordableLatency().default(latencyText({ recordedOr: latency.quote }))
      .meta({
        description:
          'From a decision to the accepted quote; "recorded" takes what the recording’s own run took, signing '
          + 'included; "recorded or 300ms" takes that where its run landed at least 20 swaps on a chain, and else '
          + '300 ms.',
      }),
    sign: knownLatency().default(latencyText(latency.sign))
      .meta({ description: 'From the accepted quote to the signature.' }),
    land: recordableLatency().default(latencyText({ recordedOr: latency.land }))
      .meta({ description: 'From the signature to the block; or "recorded", or "recorded or 1500ms".' }),
  }).prefault({})
    .meta({ description: 'How long a swap takes: a duration, or quantiles between which each swap draws its own.' }),
  setting: z.enum(['optimistic', 'base', 'pessimistic']).default('base')
    .meta({ description: 'How favourably fills are modelled: as quoted, at the price on arrival, or at the worst '
      + 'that slippage allows.' }),
  extrapolate: z.boolean().default(BASE_MODEL.extrapolate)
    .meta({ description: 'Whether swaps larger than the largest recorded quote are priced by going on as the recorded '
      + 'ones do; they are marked. Otherwise they are given up, with two exceptions, which are marked too: a sale of '
      + 'what is held where only purchases were recorded, and a swap that is under way already when smaller sizes '
      + 'alone are known.' }),
  other_side_haircut_bps: bps().default(BASE_MODEL.otherSideHaircutBps)
    .meta({ description: 'What is taken off a price where only quotes of the other direction are recorded.' }),
  max_price_age: duration('2h').default(formatDuration(BASE_MODEL.maxPriceAgeMs)).meta({
    description: 'How old the last price of what is held may be at the end before a warning says so. Equity is marked '
      + 'at the last price in between, however old. It also bounds fills where the interval of a feed is not known.',
  }),
  max_quote_age: duration('30s').optional()
    .meta({ description: 'How old a recorded quote may be that fills a swap; otherwise the swap is given up with '
      + 'QUOTE_STALE. Left out, three times the interval at which its feed was recorded, at least risk.max_quote_age '
      + '(2s unless given).' }),
  own_impact: z.strictObject({
    share: z.number().min(0).max(1).default(ownImpact.share).meta({
      description: 'How much of an own swap stays in the recorded market, which knows nothing of it; 0 for none.',
    }),
    decay: duration('60s').default(formatDuration(ownImpact.decayMs))
      .meta({ description: 'After this long others have filled up all but 1/e of it.' }),
  }).prefault({}).meta({ description: 'What own swaps do to the price of the next.' }),
  landing: z.strictObject({
    adverse_bps: bps().default(landing.adverseBps)
      .meta({ description: 'By how much fills fall short of the price on arrival, as live ones were found to.' }),
    drop_probability: probability().optional()
      .meta({ description: 'The share of transactions that never land: no fee, the money locked until they have '
        + `expired. ${ASSUMED(landing.dropProbability)}` }),
    unknown_probability: probability().optional()
      .meta({ description: 'The share of transactions without a known outcome until they would have '
        + `expired. ${ASSUMED(landing.unknownProbability)}` }),
    expiry: duration('70s').default(formatDuration(landing.expiryMs))
      .meta({ description: 'From the signature to the proof that it cannot land any more.' }),
    last_look_bps: bps().default(landing.lastLookBps)
      .meta({ description: 'A maker does not sign once the price moved by more than this in the taker’s favour.' }),
  }).prefault({}).meta({ description: 'What becomes of a transaction.' }),
  costs: z.strictObject({
    signatures: z.int().min(1).max(12).default(costs.signatures).meta({ description: 'At 5,000 lamports each.' }),
    compute_units: z.int().min(0).max(1_400_000).default(costs.computeUnitLimit)
      .meta({ description: 'The limit, which is what is paid for.' }),
    micro_lamports_per_unit: z.int().min(0).max(1_000_000_000).default(Number(costs.microLamportsPerUnit))
      .meta({ description: 'The bid for priority.' }),
    tip: amount('0.0001 SOL').optional()
      .meta({ description: 'Paid with every attempt; left out, none.', examples: ['0.0001 SOL'] }),
    platform_fee_bps: bps().default(costs.platformFeeBps)
      .meta({ description: 'Taken beyond what was recorded: a service’s own quotes are after its fees.' }),
    platform_fee_in: z.enum(['input', 'output']).default(costs.platformFeeIn)
      .meta({ description: 'Of which side’s token it is taken.' }),
  }).prefault({}).meta({ description: 'What every attempt costs, landed or failed.' }),
  transfer_fees: z.record(z.string(), z.strictObject({
    bps: bps().meta({ description: 'The share of every transfer.' }),
    max: z.string().optional()
      .meta({ description: 'The most of one transfer, in whole tokens; left out, no bound.', examples: ['5'] }),
  })).default({}).meta({
    description: 'Tokens whose issuers keep a part of each transfer, by alias: { TAXED: { bps: 100, max: "5" } }.',
  }),
}).meta({ description: 'How swaps are simulated.' });
