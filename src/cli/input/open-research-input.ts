import { dirname, resolve } from 'node:path';
import { longestWarmup } from '../../backtest/backtest.ts';
import { heldFeeds, missingFeeds } from '../../backtest/missing-feeds.ts';
import { withRecordedRun } from '../../backtest/models/recorded-model.ts';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import { backtestKinds, readRecordedChecks, trustingUnchecked } from '../../backtest/recorded-checks.ts';
import type { BoxedContext, PreparedCall } from '../boxed/boxed-context.ts';
import { readBoxed } from './read-boxed.ts';
import { configError } from '../../config/config-issue.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { strategyLimits } from '../../config/run-config.ts';
import { STRATEGIES_DIR } from '../../core/code-files.ts';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';
import { Engine } from '../../engine/engine.ts';
import { describeFeedKey } from '../../market/market-text.ts';
import type { Token } from '../../market/token.ts';
import { tokenTable, USDC_MINT } from '../../market/token.ts';
import { recordingWarnings } from '../../recording/check/warnings.ts';
import { runInterruptibly } from '../../recording/interrupt.ts';
import type { Recording, TimeRange } from '../../recording/reader.ts';
import { openRecordingInChunks } from '../../recording/reader.ts';
import type { ResearchInput } from '../../research/research-input.ts';
import { reportUnhandledErrors } from '../../research/strategy-guards.ts';
import { strategyText } from '../../research/trials/strategy-source.ts';

/** The last row of a recording comes some time before the end of the time that it covers. */
const END_TOLERANCE_MS: Millis = 600_000;

/**
 * Reads a configuration and opens the recording of a call. Throws the configuration's error; RECORDING_INCOMPLETE when
 * the strategies would get no input; RECORDING_CORRUPT when rows are out of order or hold no price; and INTERRUPTED.
 */
export async function openResearchInput(
  { options, environment, withheld, interrupt, terminal }: Omit<BoxedContext, 'host'>,
  { file, recordingDir, isBeingWritten, timerange }: PreparedCall,
): Promise<ResearchInput> {
  // Every command that opens an input runs its strategies.
  reportUnhandledErrors(terminal);
  const whole = await runInterruptibly(openRecordingInChunks(recordingDir!), interrupt);
  const workingDir = process.cwd();
  const loaded = await loadConfig({
    file, purpose: 'research', workingDir, environment, withheld, stateDir: options.stateDir,
    strategyReader: readBoxed,
    // Research asks no service: the decimals come from the recording.
    decimalsOf: async (mints) => new Map(mints.flatMap((mint) => {
      const token = whole.tokens.byMint(mint);
      return token === undefined ? [] : [[mint, token.decimals] as const];
    })),
    absence: () =>
      `expected a token that the recording holds (${heldTokens(whole)}): without a record of this token, `
      + 'it can neither be priced nor traded. '
      + 'Take a recording that has it, or a configuration without it and the strategies that use it',
  });
  if (!loaded.ok) throw configError(loaded);
  const { config } = loaded;
  const recording = timerange === undefined ? whole : await within(whole, timerange, { config, interrupt });
  const { firstAt, lastAt } = periodOf(config, recording);
  // A token that was checked before the part of the recording stays checked.
  const checks = readRecordedChecks(whole);
  const unseen = unseenTokens(config, checks);
  const { warnings, intervals } = await runInterruptibly(recordingWarnings(whole, {
    kinds: backtestKinds(checks), feeds: Engine.feedsOf(config.strategies),
    describe: (feed) => describeFeedKey(config.tokens, feed),
  }), interrupt);
  const places = { strategiesDir: STRATEGIES_DIR, baseDir: dirname(resolve(workingDir, config.file)) };
  return {
    config, recording, isBeingWritten, checks, unseen,
    recordingWarnings: [...rangeWarnings(whole, timerange), ...warnings],
    setup: {
      tokens: config.tokens.all,
      limits: trustingUnchecked(config.limits, unseen.map(({ mint }) => mint)),
      balances: config.backtest.balances,
      model: withRecordedRun(config.backtest.model, whole, whole.directory),
      seed: config.seed,
      currency: currencyOf(config),
      firstAt, lastAt, intervals,
      isMadeUp: recording.manifest.source.kind === 'synthetic',
      recordingDir: resolve(recording.directory),
      strategies: await Promise.all(config.strategies.map(async (strategy) => {
        const { name, use, rawParams, budget, warmupMs } = strategy;
        const { hash: codeHash, data } = await strategyText(use, places);
        return { name, use, rawParams, budget, limits: strategyLimits(strategy), warmupMs, codeHash, data };
      })),
      places,
    },
  };
}

/**
 * Returns the part of a recording that is traded on, with the rows before it that the strategies warm up on. Throws
 * RECORDING_INCOMPLETE where it holds none of the range.
 */
async function within(whole: Recording, { from, to }: TimeRange, { config, interrupt }: {
  readonly config: RunConfig; readonly interrupt: AbortSignal;
}): Promise<Recording> {
  const { directory, firstAt, lastAt } = whole;
  const isInside = firstAt !== undefined && lastAt !== undefined && (from ?? firstAt) <= lastAt
    && (to ?? Infinity) > firstAt;
  const begin = from === undefined ? undefined : from - longestWarmup(config.strategies);
  const part = isInside ? await runInterruptibly(whole.withinInChunks({ from: begin, to }), interrupt) : undefined;
  if (part !== undefined) return part;
  throw new GannetError('RECORDING_INCOMPLETE', firstAt === undefined || lastAt === undefined
    ? `${directory} holds no events`
    : `${directory} spans ${isoOf(firstAt)} to ${isoOf(lastAt)}, and --timerange asks for `
      + `${from === undefined ? 'its beginning' : isoOf(from)} to ${to === undefined ? 'its end' : isoOf(to)}: `
      + 'it holds nothing of that');
}

/** Returns a warning where a recording holds a part of the asked range only. */
function rangeWarnings({ firstAt = 0, lastAt = 0 }: Recording, range: TimeRange = {}): string[] {
  const { from = firstAt, to = lastAt } = range;
  return [
    ...(from >= firstAt ? [] : [`the recording begins at ${isoOf(firstAt)}, after the beginning of --timerange`]),
    ...(to - END_TOLERANCE_MS <= lastAt ? []
      : [`the recording ends at ${isoOf(lastAt)}, before the end of --timerange`]),
  ];
}

function isoOf(at: Millis): string {
  return new Date(at).toISOString();
}

/** Symbols are not unique, so each stands with the ends of its mint. */
function heldTokens({ tokens }: Recording): string {
  const names = tokens.all.map(({ symbol, mint }) => `${symbol} ${mint.slice(0, 4)}…${mint.slice(-4)}`).join(', ');
  return printable(names || 'none', 1_000);
}

/**
 * Returns the time span of a recording. Throws RECORDING_INCOMPLETE when it leaves the strategies nothing to trade on.
 */
function periodOf(config: RunConfig, recording: Recording): { readonly firstAt: Millis; readonly lastAt: Millis } {
  const { directory, firstAt, lastAt } = recording;
  if (firstAt === undefined || lastAt === undefined) {
    throw new GannetError('RECORDING_INCOMPLETE', `${directory} holds no events`);
  }
  refuseMissingInputs(config, recording);
  const warmupMs = longestWarmup(config.strategies);
  if (lastAt - firstAt > warmupMs) return { firstAt, lastAt };
  throw new GannetError('RECORDING_INCOMPLETE', warmupMs === 0
    ? `${directory} holds a single instant, ${new Date(firstAt).toISOString()}: that is an empty period, `
      + 'in which nothing can be traded. Take a longer recording'
    : `${directory} spans ${shortDuration(lastAt - firstAt)}, and the strategies need ${formatDuration(warmupMs)} of `
      + 'it '
      + 'to warm up: nothing is left to trade on. Shorten "warmup", or take a longer recording');
}

function refuseMissingInputs({ strategies, tokens }: RunConfig, recording: Recording): void {
  const { directory, feeds } = recording;
  // The configuration's names come first; the recording may name the others.
  const others = recording.tokens.all
    .filter(({ mint, symbol }) => tokens.byMint(mint) === undefined && tokens.bySymbol(symbol) === undefined);
  const known = tokenTable([...tokens.all, ...others]);
  const missing = missingFeeds(strategies, { feeds, tokens: known });
  if (missing === undefined) return;
  const held = heldFeeds(strategies, { feeds, tokens: known }) || 'nothing';
  throw new GannetError('RECORDING_INCOMPLETE',
    `${directory} ${missing}. It holds ${held}. Record a run of this configuration, or change what it watches`);
}

/** Returns the token in which results are counted: the first budget's, which most strategies share. */
function currencyOf(config: RunConfig): Token {
  const mint = config.strategies.find(({ budget }) => budget !== undefined)?.budget?.mint ?? USDC_MINT;
  const token = config.tokens.byMint(mint) ?? config.tokens.all[0];
  if (token === undefined) {
    throw new GannetError(
      'CONFIG_INVALID', 'the configuration names no token to count the result in: name one under "tokens"',
    );
  }
  return token;
}

function unseenTokens({ limits: { tokenSafety }, tokens }: RunConfig, { mints }: RecordedChecks): readonly Token[] {
  if (tokenSafety === undefined) return [];
  return tokens.all.filter(({ mint }) => !tokenSafety.trusted.has(mint) && !mints.has(mint));
}
