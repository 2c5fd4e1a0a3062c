import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import type { BacktestResult } from '../backtest/backtest.ts';
import { longestWarmup, runBacktest } from '../backtest/backtest.ts';
import type { RecordedLooks } from '../backtest/recorded-looks.ts';
import { backtestCursor, recordedLooks, withoutUnseen } from '../backtest/recorded-looks.ts';
import { withRecordedLatency } from '../backtest/models/recorded-latency.ts';
import { simulationWarnings } from '../backtest/simulation-warnings.ts';
import { configError } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import type { RunConfig } from '../config/run-config.ts';
import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { formatDuration } from '../core/time.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import { createManifest } from '../daemon/manifest.ts';
import { describeFeedKey } from '../daemon/market-text.ts';
import { createRunFiles } from '../daemon/run-files.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { findRecording } from '../daemon/find-recording.ts';
import { Engine } from '../engine/engine.ts';
import type { FeedKey } from '../market/event-base.ts';
import { feedKey } from '../market/feed.ts';
import type { Token } from '../market/token.ts';
import { USDC_MINT } from '../market/token.ts';
import type { Recording } from '../recording/reader.ts';
import { openRecording } from '../recording/reader.ts';
import type { StateSnapshot } from '../trading/state.ts';
import { createState, freshSnapshot } from '../trading/state.ts';
import { NO_LEGACY } from '../trading/strategy-state.ts';
import { stopwatch } from './bench/measurement.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './table.ts';

interface BacktestFlags {
  readonly recording: string;
  readonly report?: string;
}

export const backtestCommand: CommandModule = (program, run) => {
  program.command('backtest <config>')
    .description('runs the strategies of a configuration over a recording, with simulated fills')
    .requiredOption('--recording <dir>', 'a recording: its folder, or the id of the run that made it')
    .option('--report <file>', 'the report as one HTML file (not in this version)')
    .action(run(async (context: CommandContext, file: string, flags: BacktestFlags) => {
      if (flags.report !== undefined) throw new GannetError('FEATURE_UNAVAILABLE', '--report is not carried out by this version; the result is printed');
      const { terminal, options } = context;
      const recording = openRecording(findRecording(options.stateDir, flags.recording));
      const config = await configFor(context, file, recording);
      refuseMissingInputs(config, recording);
      refuseNothingLeft(config, recording);
      const currency = currencyOf(config);
      const runId = `backtest-${randomBytes(4).toString('hex')}`;
      const files = createRunFiles(options.stateDir, runId);
      const snapshot = freshSnapshot(config.backtest.balances);
      const manifest = createManifest({
        config, mode: 'backtest', runId, startAt: recording.firstAt ?? 0, snapshot, open: [], legacy: NO_LEGACY, recording: relative(files.dir, recording.directory),
      });
      files.manifest(manifest);
      const looks = recordedLooks(recording);
      const unseen = unseenTokens(config, looks);
      const result = backtest({ config, recording, looks, unseen, currency, snapshot, onDecision: (decision) => { files.decision(decision); } });
      const { decisions, decisionHash, endAt } = result;
      files.manifest({ ...manifest, ended: { after_seq: result.events, at: endAt, decisions, decision_hash: decisionHash } });
      files.close();
      const warnings = [...warningsOf(config, recording, result), ...unseenWarning(unseen)];
      terminal.result(asJson(runId, result, currency, warnings), () => asText(result, currency, warnings));
      return EXIT.done;
    }));
};

/** Decimals come from the recording: a backtest asks nobody. */
async function configFor({ options, environment, withheld }: CommandContext, file: string, recording: Recording): Promise<RunConfig> {
  const loaded = await loadConfig({
    file,
    purpose: 'look',
    workingDir: process.cwd(),
    environment,
    withheld,
    stateDir: options.stateDir,
    decimalsOf: async (mints) => new Map(mints.flatMap((mint) => {
      const token = recording.tokens.byMint(mint);
      return token === undefined ? [] : [[mint, token.decimals] as const];
    })),
  });
  if (!loaded.ok) throw configError(loaded);
  return loaded.config;
}

/** A strategy without its input would sit still and look as if there had been nothing to do. */
function refuseMissingInputs(config: RunConfig, recording: Recording): void {
  const recorded = new Set(recording.feeds);
  const missing = Engine.feedsOf(config.strategies).map(feedKey).filter((key) => !recorded.has(key));
  if (missing.length === 0) return;
  const named = (keys: readonly FeedKey[]): string => keys.map((key) => describeFeedKey(config.tokens, key)).join(', ');
  throw new GannetError('RECORDING_INCOMPLETE',
    `${recording.directory} lacks what the strategies watch: ${named(missing)}; it holds ${named([...recorded]) || 'nothing'}. Record a run of this configuration, or change what it watches`);
}

/** The beginning of a recording is for warming up; the backtest is what comes after. */
function refuseNothingLeft({ strategies }: RunConfig, { directory, firstAt = 0, lastAt = 0 }: Recording): void {
  const warmupMs = longestWarmup(strategies);
  if (warmupMs === 0 || lastAt - firstAt > warmupMs) return;
  throw new GannetError('RECORDING_INCOMPLETE',
    `${directory} spans ${formatDuration(lastAt - firstAt)}, and the strategies want ${formatDuration(warmupMs)} of it to warm up: nothing is left to trade on. Shorten "warmup", or take a longer recording`);
}

/** The token that results are counted in: the first budget's, which mostly is everybody's. */
function currencyOf(config: RunConfig): Token {
  const mint = config.strategies.find(({ budget }) => budget !== undefined)?.budget?.mint ?? USDC_MINT;
  const token = config.tokens.byMint(mint) ?? config.tokens.all[0];
  if (token === undefined) throw new GannetError('CONFIG_INVALID', 'the configuration names no token to count the result in');
  return token;
}

/** Tokens that would be looked at before they are bought, and of which the recording holds no look. */
function unseenTokens({ limits: { tokenSafety }, tokens }: RunConfig, { mints }: RecordedLooks): readonly Token[] {
  if (tokenSafety === undefined) return [];
  return tokens.all.filter(({ mint }) => !tokenSafety.trusted.has(mint) && !mints.has(mint));
}

function unseenWarning(unseen: readonly Token[]): string[] {
  if (unseen.length === 0) return [];
  return [`the recording does not say whether ${unseen.map(({ symbol }) => symbol).join(', ')} may be bought (risk.token_safety): every purchase is let through`];
}

function backtest({ config, recording, looks, unseen, currency, snapshot, onDecision }: {
  readonly config: RunConfig;
  readonly recording: Recording;
  readonly looks: RecordedLooks;
  readonly unseen: readonly Token[];
  readonly currency: Token;
  readonly snapshot: StateSnapshot;
  readonly onDecision: (decision: LoggedDecision) => void;
}): BacktestResult {
  if (recording.firstAt === undefined) throw new GannetError('RECORDING_INCOMPLETE', `${recording.directory} holds no events`);
  const state = createState({
    tokens: config.tokens,
    limits: withoutUnseen(config.limits, unseen.map(({ mint }) => mint)),
    strategies: config.strategies.map(({ name, budget, maxAgeMs, maxExposure }) => ({ name, budget, limits: { maxAgeMs, maxExposure } })),
    snapshot,
  });
  return runBacktest({
    state,
    strategies: config.strategies,
    seed: config.seed,
    startAt: recording.firstAt,
    cursor: backtestCursor(recording, looks),
    looks,
    model: withRecordedLatency(config.backtest.model, recording, recording.directory),
    currency,
    stopwatch,
    onDecision,
  });
}

function warningsOf(config: RunConfig, recording: Recording, result: BacktestResult): string[] {
  const warnings = ['metrics, benchmarks, sensitivity and the report are not computed by this version'];
  if (recording.truncatedAt !== undefined) warnings.push(`the recording was cut off by a crash: it ends at seq ${recording.truncatedAt}`);
  warnings.push(...simulationWarnings(result.simulation, config.backtest.model));
  const warmupMs = longestWarmup(config.strategies);
  if (warmupMs > 0) warnings.push(`the first ${formatDuration(warmupMs)} of the recording warmed the strategies up: the backtest begins after it`);
  const { setting } = config.backtest.model;
  if (setting !== 'base') warnings.push(`fills are ${setting}`);
  return warnings;
}

function sum(values: readonly (bigint | undefined)[]): bigint | undefined {
  return values.reduce<bigint | undefined>((total, value) => (total === undefined || value === undefined ? undefined : total + value), 0n);
}

function equityOf(result: BacktestResult): { start: bigint | undefined; end: bigint | undefined } {
  const trading = result.strategies.filter(({ startValue, endValue }) => startValue !== undefined || endValue !== undefined);
  return { start: sum(trading.map(({ startValue }) => startValue)), end: sum(trading.map(({ endValue }) => endValue)) };
}

function asJson(runId: string, result: BacktestResult, currency: Token, warnings: readonly string[]): unknown {
  const { start, end } = equityOf(result);
  const decimal = (value: bigint | undefined): string | null => (value === undefined ? null : formatDecimal(value, currency.decimals));
  return {
    run_id: runId,
    events: result.events,
    seconds: result.seconds,
    events_per_second: Math.round(result.events / result.seconds),
    decisions: result.decisions,
    decision_hash: result.decisionHash,
    denials: result.denials,
    intents: result.intents,
    fills: result.fills.length,
    period: { start: new Date(result.startAt).toISOString(), end: new Date(result.endAt).toISOString() },
    equity: { start: decimal(start), end: decimal(end), currency: currency.symbol },
    metrics: null,
    by_strategy: result.strategies.map(({ name, swaps, feesLamports, startValue, endValue, balances }) => ({
      name, swaps, fees_lamports: feesLamports, equity: { start: decimal(startValue), end: decimal(endValue) }, balances: Object.fromEntries(balances),
    })),
    benchmarks: null,
    sensitivity: null,
    warnings,
    report: null,
  };
}

function asText(result: BacktestResult, currency: Token, warnings: readonly string[]): string {
  const show = (value: bigint | undefined): string => (value === undefined ? 'cannot be valued' : `${formatDecimal(value, currency.decimals)} ${currency.symbol}`);
  const { start, end } = equityOf(result);
  return [
    ...warnings.map((warning) => `  ! ${warning}\n`),
    `\n  period     ${new Date(result.startAt).toISOString()} to ${new Date(result.endAt).toISOString()} (${formatDuration(result.endAt - result.startAt)})\n`,
    `  events     ${result.events}, ${Math.round(result.events / result.seconds)} a second\n`,
    `  decisions  ${result.decisions}, denied: ${formatCounts(result.denials)}, alerts: ${result.alerts}\n`,
    `  swaps      ${formatCounts(result.intents)}\n`,
    `  equity     ${show(start)} → ${show(end)}\n`,
    `  hash       ${result.decisionHash}\n\n`,
    table([['strategy', 'swaps', 'start', 'end'], ...result.strategies.map(({ name, swaps, startValue, endValue }) => [
      name, String(swaps), startValue === undefined ? '-' : show(startValue), endValue === undefined ? '-' : show(endValue),
    ])], { right: [1, 2, 3] }),
  ].join('');
}
