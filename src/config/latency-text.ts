import { isGannetError } from '../core/errors.ts';
import { parseDuration } from '../core/time.ts';
import type { Latency, LatencyQuantile, LatencyQuantiles, LatencySource } from '../trading/simulation-model.ts';

/** What a latency is written as, for messages. */
export const LATENCY_FORM = 'a duration such as "300ms", or quantiles such as "p5 150ms, p50 300ms, p95 900ms"';

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
