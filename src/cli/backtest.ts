import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import { longestWarmup } from '../backtest/backtest.ts';
import type { MeasuredRun, MeasuredSettings } from '../backtest/measured-run.ts';
import { measureRun, robustnessWarnings } from '../backtest/measured-run.ts';
import { benchmarksOf } from '../backtest/record/run-figures.ts';
import { sampleStep } from '../backtest/record/run-meter.ts';
import type { RecordedLooks } from '../backtest/recorded-looks.ts';
import { backtestCursor, recordedLooks, withoutUnseen } from '../backtest/recorded-looks.ts';
import { withRecordedLatency } from '../backtest/models/recorded-latency.ts';
import { simulationWarnings } from '../backtest/simulation-warnings.ts';
import { configError } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import type { RunConfig } from '../config/run-config.ts';
import { GannetError } from '../core/errors.ts';
import { formatDuration } from '../core/time.ts';
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
import type { SimulationSetting } from '../trading/simulated-landing.ts';
import { createState, freshSnapshot } from '../trading/state.ts';
import { NO_LEGACY } from '../trading/strategy-state.ts';
import { asJson, asText } from './backtest-answer.ts';
import { writeReport } from './backtest-report.ts';
import { stopwatch } from './bench/measurement.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';

interface BacktestFlags {
  readonly recording: string;
  readonly report?: string;
}

export const backtestCommand: CommandModule = (program, run) => {
  program.command('backtest <config>')
    .description('runs the strategies of a configuration over a recording, with simulated fills')
    .requiredOption('--recording <dir>', 'a recording: its folder, or the id of the run that made it')
    .option('--report <file>', 'also writes the report, as one HTML file that needs nothing else')
    .action(run(async (context: CommandContext, file: string, flags: BacktestFlags) => {
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
      const settings = measureSettings({ config, recording, looks, unseen, currency, onDecision: (decision) => { files.decision(decision); } });
      const run = settings[config.backtest.model.setting];
      const { events, decisions, decisionHash, endAt } = run.result;
      files.manifest({ ...manifest, ended: { after_seq: events, at: endAt, decisions, decision_hash: decisionHash } });
      files.close();
      const warnings = [...warningsOf(config, recording, settings), ...unseenWarning(unseen)];
      const answer = { runId, run, settings, benchmarks: benchmarksOf(run.record), currency, warnings };
      const report = flags.report === undefined ? undefined : writeReport(flags.report, answer, { config, recording, manifest });
      terminal.result(asJson(answer, report), () => asText(answer, report));
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

/** Runs the setting that is configured first, and hands on its decisions; then the other two, for comparison. */
function measureSettings({ config, recording, looks, unseen, currency, onDecision }: {
  readonly config: RunConfig;
  readonly recording: Recording;
  readonly looks: RecordedLooks;
  readonly unseen: readonly Token[];
  readonly currency: Token;
  readonly onDecision: (decision: LoggedDecision) => void;
}): MeasuredSettings {
  const { firstAt, lastAt } = recording;
  if (firstAt === undefined || lastAt === undefined) throw new GannetError('RECORDING_INCOMPLETE', `${recording.directory} holds no events`);
  const model = withRecordedLatency(config.backtest.model, recording, recording.directory);
  const limits = withoutUnseen(config.limits, unseen.map(({ mint }) => mint));
  const instruments = watchedTokens(config, currency);
  const under = (setting: SimulationSetting, listener: { readonly onDecision?: (decision: LoggedDecision) => void }): MeasuredRun => measureRun({
    state: createState({
      tokens: config.tokens,
      limits,
      strategies: config.strategies.map(({ name, budget, maxAgeMs, maxExposure }) => ({ name, budget, limits: { maxAgeMs, maxExposure } })),
      snapshot: freshSnapshot(config.backtest.balances),
    }),
    strategies: config.strategies,
    seed: config.seed,
    startAt: firstAt,
    cursor: backtestCursor(recording, looks),
    looks,
    model: { ...model, setting },
    currency,
    stopwatch,
    instruments,
    everyMs: sampleStep(lastAt - firstAt),
    ...listener,
  });
  const configured = under(model.setting, { onDecision });
  const run = (setting: SimulationSetting): MeasuredRun => (setting === model.setting ? configured : under(setting, {}));
  return { optimistic: run('optimistic'), base: run('base'), pessimistic: run('pessimistic') };
}

/** What the strategies watch that could be bought: benchmarks buy it. */
function watchedTokens({ strategies, tokens }: RunConfig, currency: Token): Token[] {
  const mints = new Set(Engine.feedsOf(strategies).flatMap((spec) => {
    switch (spec.kind) {
      case 'quote': return [spec.inputMint, spec.outputMint];
      case 'token-stats': return [spec.mint];
      case 'order-book': return [];
    }
  }));
  return tokens.all.filter(({ mint }) => mint !== currency.mint && mints.has(mint));
}

function warningsOf(config: RunConfig, recording: Recording, settings: MeasuredSettings): string[] {
  const { setting } = config.backtest.model;
  const { result, warnings } = settings[setting];
  const warmupMs = longestWarmup(config.strategies);
  return [
    ...(recording.truncatedAt === undefined ? [] : [`the recording was cut off by a crash: it ends at seq ${recording.truncatedAt}`]),
    ...robustnessWarnings(settings),
    ...simulationWarnings(result.simulation, config.backtest.model),
    ...(warmupMs > 0 ? [`the first ${formatDuration(warmupMs)} of the recording warmed the strategies up: the backtest begins after it`] : []),
    ...(setting === 'base' ? [] : [`fills are ${setting}`]),
    ...warnings,
  ];
}
