import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { costBreakdown } from '../backtest/cost-breakdown.ts';
import { monthlyReturns } from '../backtest/metrics/monthly.ts';
import type { HeatMap } from '../backtest/page/heat-map.ts';
import { renderReport } from '../backtest/report/report.ts';
import type { NamedText, Silences } from '../backtest/report/report-input.ts';
import type { ConfigRecord } from '../config/config-record.ts';
import type { RunConfig } from '../config/run-config.ts';
import { formatDecimal } from '../core/amount.ts';
import { stringifyJson } from '../core/json.ts';
import type { RunManifest } from '../daemon/manifest.ts';
import type { Token } from '../market/token.ts';
import type { Recording } from '../recording/reader.ts';
import { MARKET_KINDS } from '../recording/window.ts';
import type { BacktestAnswer } from './backtest-answer.ts';
import type { SilenceWatch } from './recording/silence.ts';
import { watchSilence } from './recording/silence.ts';

/** What a report says of where its figures come from. */
export interface ReportSources {
  readonly config: RunConfig;
  readonly recording: Recording;
  readonly manifest: RunManifest;
  /** What comes of other latencies and other costs, where it was computed. */
  readonly grid?: HeatMap | undefined;
}

const NAMES_SHOWN = 3;

/** Writes the report of a backtest, whole or not at all, and returns its path. */
export function writeReport(file: string, { runId, run, settings, benchmarks, trials, warnings, verdict }: BacktestAnswer, { config, recording, manifest, grid }: ReportSources): string {
  const page = renderReport({
    runId, warnings, run, settings, benchmarks, trials, grid,
    subject: subjectOf(config.strategies.map(({ name }) => name)),
    verdict,
    months: monthlyReturns(run.series),
    costs: costBreakdown(run, config.tokens),
    silences: silencesOf(recording, config.tokens.all),
    parameters: [['recording', [`name: ${basename(recording.directory)}`, `events: ${run.result.events}`]], ...parametersOf(manifest.config)],
    hashes: [
      ['decisions, as configured', run.result.decisionHash],
      ...Object.entries(settings).filter(([, each]) => each !== run).map(([setting, { result }]): NamedText => [`decisions, ${setting}`, result.decisionHash]),
      ['configuration', createHash('sha256').update(stringifyJson(manifest.config)).digest('hex')],
      ['recording', recording.manifest.digestsSha256 ?? 'was never closed'],
      ['made by', `Node ${manifest.node}, ${manifest.arch}`],
    ],
  });
  return writeWhole(file, page);
}

/** Writes a page, whole or not at all, into a folder that is made where there is none, and returns its path. */
export function writeWhole(file: string, page: string): string {
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(`${path}.new`, page);
    renameSync(`${path}.new`, path);
  } catch (error) {
    rmSync(`${path}.new`, { force: true });
    throw error;
  }
  return path;
}

/** Returns values by their names, one a line, nested ones by their paths, `params.window: 20`, and each item of a list in one line. */
function linesOf(value: unknown, path = ''): string[] {
  const named = (text: string): string => (path === '' ? text : `${path}: ${text}`);
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [named(value === null ? 'none' : typeof value === 'string' ? value : stringifyJson(value))];
  if (Array.isArray(value)) return value.map((item) => named(linesOf(item).join(', ')));
  return Object.entries(value).filter(([, inner]) => inner !== undefined).flatMap(([name, inner]) => linesOf(inner, path === '' ? name : `${path}.${name}`));
}

function subjectOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return names.length <= NAMES_SHOWN ? shown : `${shown} and ${names.length - NAMES_SHOWN} more`;
}

/** Quotes tell prices where there are any: a token's statistics, or an order book, fill no gap in them. */
function silencesOf(recording: Recording, tokens: readonly Token[]): Silences {
  const hasQuotes = recording.kinds.includes('quote');
  const watches = new Map<string, SilenceWatch>();
  const hear = (name: string, at: number): void => {
    const watch = watches.get(name);
    if (watch === undefined) watches.set(name, watchSilence(at));
    else watch.hear(at);
  };
  const cursor = recording.cursor({ kinds: hasQuotes ? ['quote'] : MARKET_KINDS });
  while (cursor.next()) {
    const { input, at } = cursor;
    hear('', at);
    if (input.kind === 'quote') {
      hear(input.inputMint, at);
      hear(input.outputMint, at);
    } else if (input.kind === 'token-stats') {
      hear(input.mint, at);
    }
  }
  const of = (name: string): Silences['all'] => watches.get(name)?.silences() ?? [];
  return { all: of(''), bySymbol: new Map(tokens.map(({ mint, symbol }) => [symbol, of(mint)])) };
}

/** Returns what figures depend on: where it would trade live, and whose wallet that is, do not belong into a file that is handed on. */
export function parametersOf({ file, seed, strategies, backtest, limits, tokens }: ConfigRecord): NamedText[] {
  const byMint = new Map(tokens.map((token) => [token.mint, token]));
  return [
    ['configuration', basename(file)],
    ['seed', String(seed)],
    ...strategies.map(({ name, ...rest }): NamedText => [name, linesOf(inTokens(rest, byMint))]),
    ...Object.entries({ backtest, limits }).map(([name, value]): NamedText => [name, linesOf(inTokens(value, byMint))]),
    ['tokens', linesOf(tokens)],
  ];
}

/** Returns values with amounts in whole tokens, and tokens by the names that the configuration gives them. */
function inTokens(value: unknown, byMint: ReadonlyMap<string, ConfigRecord['tokens'][number]>): unknown {
  if (typeof value === 'string') return byMint.get(value)?.symbol ?? value;
  if (Array.isArray(value)) return value.map((item) => inTokens(item, byMint));
  if (typeof value !== 'object' || value === null) return value;
  const amountOf = (amount: unknown, mint: unknown): string | undefined => {
    const token = typeof mint === 'string' ? byMint.get(mint) : undefined;
    return token === undefined || typeof amount !== 'string' || !/^\d+$/.test(amount) ? undefined : `${formatDecimal(BigInt(amount), token.decimals)} ${token.symbol}`;
  };
  if ('mint' in value && 'amount' in value && Object.keys(value).length === 2) return amountOf(value.amount, value.mint) ?? value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [
    byMint.get(key)?.symbol ?? key,
    key === 'sol_reserve' ? `${formatDecimal(BigInt(inner), 9)} SOL` : amountOf(inner, key) ?? inTokens(inner, byMint),
  ]));
}
