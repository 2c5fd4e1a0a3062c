import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { costBreakdown } from '../research/metrics/cost-breakdown.ts';
import { monthlyReturns } from '../research/metrics/return-distribution.ts';
import type { HeatMap } from './charts/heat-map.ts';
import { renderBacktest } from './backtest-report.ts';
import type { NamedText } from '../web/markup.ts';
import type { ConfigRecord } from '../config/config-record.ts';
import { readLimits } from '../config/risk-limits.ts';
import type { RunConfig } from '../config/run-config.ts';
import { formatDecimal } from '../core/amount.ts';
import { groupThousands } from '../core/text.ts';
import { stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import { describeProtection } from '../trading/protections/protection-text.ts';
import { describeFeeds } from '../market/market-text.ts';
import { tokenTable } from '../market/token.ts';
import type { Recording } from '../recording/reader.ts';
import type { Token } from '../market/token.ts';
import type { Benchmarks } from '../research/metrics/run-figures.ts';
import type { MeasuredRun, MeasuredSettings } from '../research/trials/measured-run.ts';
import type { TrialCount } from '../store/trial-log.ts';
import { sampleRecording } from './price-samples.ts';

/** The results of a backtest that a report shows. */
export interface ReportedBacktest {
  readonly runId: string;
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  readonly benchmarks: Benchmarks;
  readonly currency: Token;
  /** Trials on the same data, this one included; undefined when they could not be counted. */
  readonly trials: TrialCount | undefined;
  readonly warnings: readonly string[];
  /** The conclusion, in sentences. */
  readonly verdict: readonly string[];
}

/** The sources of a report's figures. */
interface ReportSources {
  readonly config: RunConfig;
  readonly recording: Recording;
  /** The manifest of the run. */
  readonly manifest: { readonly config: ConfigRecord; readonly node: string; readonly arch: string };
  /** The result under other latencies and other costs, where it was computed. */
  readonly grid?: HeatMap | undefined;
}

const NAMES_SHOWN = 3;

/** Writes the report of a backtest atomically, and returns its path. */
export function writeBacktestReport(
  file: string, { runId, run, settings, benchmarks, currency, trials, warnings, verdict }: ReportedBacktest,
  { config, recording, manifest, grid }: ReportSources,
): string {
  const page = renderBacktest({
    runId, warnings, run, settings, benchmarks, trials, grid,
    subject: subjectOf(config.strategies.map(({ name }) => name)),
    verdict,
    months: monthlyReturns(run.series),
    costs: costBreakdown(run, config.tokens),
    ownImpact: run.result.simulation.ownImpact.map(({ feeds, fills, displaced }) =>
      ({ name: describeFeeds(config.tokens, feeds), fills, displaced })),
    ...sampleRecording(recording, { run, tokens: config.tokens, currency }),
    parameters: [
      ['recording', [`name: ${basename(recording.directory)}`, `events: ${groupThousands(String(run.result.events))}`]],
      ...parametersOf(manifest.config),
    ],
    hashes: [
      ['decisions, as configured', run.result.decisionHash],
      ...Object.entries(settings).filter(([, each]) => each !== run)
        .map(([setting, { result }]): NamedText => [`decisions, ${setting}`, result.decisionHash]),
      ['configuration', createHash('sha256').update(stringifyJson(manifest.config)).digest('hex')],
      ['recording', recording.manifest.digestsSha256 ?? 'not closed'],
      ['made by', `Node ${manifest.node}, ${manifest.arch}`],
    ],
  });
  return writePage(file, page);
}

/** Writes a page into an existing folder, atomically, and returns its path. */
export function writePage(file: string, page: string): string {
  const path = resolve(file);
  try {
    writeFileSync(`${path}.new`, page);
    renameSync(`${path}.new`, path);
  } catch (error) {
    rmSync(`${path}.new`, { force: true });
    throw error;
  }
  return path;
}

/**
 * Returns named values, one per line, nested ones by path, `params.window: 20`, and each item of a list in one line.
 */
function linesOf(value: unknown, path = ''): string[] {
  const named = (text: string): string => (path === '' ? text : `${path}: ${text}`);
  if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) return [named('none')];
  if (typeof value !== 'object') return [named(typeof value === 'string' ? value : stringifyJson(value))];
  if (Array.isArray(value)) return value.map((item) => named(linesOf(item).join(', ')));
  return Object.entries(value).filter(([, inner]) => inner !== undefined)
    .flatMap(([name, inner]) => linesOf(inner, path === '' ? name : `${path}.${name}`));
}

function subjectOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return names.length <= NAMES_SHOWN ? shown : `${shown} and ${names.length - NAMES_SHOWN} more`;
}

/**
 * Returns the parameters that figures depend on. The live endpoints and the wallet do not belong into a shared file.
 */
export function parametersOf({ file, seed, strategies, backtest, limits, tokens }: ConfigRecord): NamedText[] {
  const byMint = new Map(tokens.map((token) => [token.mint, token]));
  const { protections = [] } = readLimits(limits);
  return [
    ['configuration', basename(file)],
    ['seed', String(seed)],
    ...strategies.map(({ name, ...rest }): NamedText => [name, linesOf(inTokens(rest, byMint))]),
    ['backtest', linesOf(inTokens(backtest, byMint))],
    ['limits', linesOf(inTokens({ ...limits, protections: undefined }, byMint))],
    ['protections', protections.length === 0 ? 'none'
      : protections.map((protection) => describeProtection(protection, tokenTable(tokens)))],
    ['tokens', linesOf(tokens)],
  ];
}

const SPAN = '_ms';

/** Returns whether a value is a duration in milliseconds, which the configuration writes as `max_age: 15s`. */
function isSpan(key: string, value: unknown): value is Millis | null {
  return key.endsWith(SPAN) && (value === null || (typeof value === 'number' && value > 0));
}

/**
 * Returns values with amounts in whole tokens, durations, and the configured names of tokens. A strategy's own
 * parameters keep their names.
 */
function inTokens(
  value: unknown, byMint: ReadonlyMap<string, ConfigRecord['tokens'][number]>, areOwn = false,
): unknown {
  if (typeof value === 'string') return byMint.get(value)?.symbol ?? value;
  if (Array.isArray(value)) return value.map((item) => inTokens(item, byMint, areOwn));
  if (typeof value !== 'object' || value === null) return value;
  const amountOf = (amount: unknown, mint: unknown): string | undefined => {
    const token = typeof mint === 'string' ? byMint.get(mint) : undefined;
    return token === undefined || typeof amount !== 'string' || !/^\d+$/.test(amount) ? undefined
      : `${formatDecimal(BigInt(amount), token.decimals)} ${token.symbol}`;
  };
  if ('mint' in value && 'amount' in value && Object.keys(value).length === 2)
    return amountOf(value.amount, value.mint) ?? value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) =>
    !areOwn && isSpan(key, inner) ? [key.slice(0, -SPAN.length), inner === null ? null : formatDuration(inner)] : [
      byMint.get(key)?.symbol ?? key,
      key === 'sol_reserve' ? `${formatDecimal(BigInt(inner), 9)} SOL`
        : amountOf(inner, key) ?? inTokens(inner, byMint, areOwn || key === 'params'),
    ]));
}
