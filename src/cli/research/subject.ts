import { dirname, join, resolve } from 'node:path';
import { longestWarmup } from '../../backtest/backtest.ts';
import { assumedUntil, withRecordedLatency } from '../../backtest/models/recorded-latency.ts';
import { heldFeeds, missingFeeds } from '../../backtest/missing-feeds.ts';
import type { RecordedLooks } from '../../backtest/recorded-looks.ts';
import { backtestKinds, recordedLooks, withoutUnseen } from '../../backtest/recorded-looks.ts';
import { configError } from '../../config/issue.ts';
import { loadConfig } from '../../config/load.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { formatDecimal } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';
import { findRecording } from '../../daemon/find-recording.ts';
import { Engine } from '../../engine/engine.ts';
import { describeFeedKey } from '../../market/market-text.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT, tokenTable, USDC_MINT } from '../../market/token.ts';
import type { Recording } from '../../recording/reader.ts';
import type { RecordingSource } from '../../recording/source.ts';
import { isBeingWritten } from '../../recording/files/writer-lock.ts';
import { openSteps } from '../../recording/reader.ts';
import type { CommandContext } from '../command.ts';
import { stepByStep } from '../interrupt.ts';
import { tellLooseErrors } from '../loose-errors.ts';
import { PROJECT_DIR } from '../project.ts';
import { recordingDoubts } from '../recording/doubts.ts';
import { strategyHash } from './strategy-text.ts';
import type { ThreadSetup } from './thread-setup.ts';

/** What research is done on: the strategies of a configuration, and a recording that has what they need. */
export interface Subject {
  readonly config: RunConfig;
  readonly recording: Recording;
  readonly looks: RecordedLooks;
  /** Tokens that would be looked at before they are bought, and of which the recording holds no look: they are let through. */
  readonly unseen: readonly Token[];
  /** What is odd in what the recording holds, in sentences. */
  readonly doubts: readonly string[];
  readonly setup: ThreadSetup;
}

/**
 * Reads a configuration and opens a recording: its folder, or the id of the run that made it. Throws the configuration's
 * error, RECORDING_INCOMPLETE where the strategies would sit still, RECORDING_CORRUPT where rows are in no order or prices are none, and INTERRUPTED.
 */
export async function openSubject({ options, environment, withheld, interrupt, terminal }: CommandContext, { file, recording: named }: { readonly file: string; readonly recording: string }): Promise<Subject> {
  // Whoever opens one runs its strategies.
  tellLooseErrors(terminal);
  const recording = await stepByStep(openSteps(findRecording(options.stateDir, named)), interrupt);
  const workingDir = process.cwd();
  const loaded = await loadConfig({
    file, purpose: 'research', workingDir, environment, withheld, stateDir: options.stateDir,
    // From the recording: research asks nobody.
    decimalsOf: async (mints) => new Map(mints.flatMap((mint) => {
      const token = recording.tokens.byMint(mint);
      return token === undefined ? [] : [[mint, token.decimals] as const];
    })),
    absence: () => `expected a token that the recording holds (${heldTokens(recording)}): it has nothing of this one, so that it could neither be priced nor traded. `
      + 'Take a recording that has it, or a configuration without it and the strategies that use it',
  });
  if (!loaded.ok) throw configError(loaded);
  const { config } = loaded;
  const { directory, firstAt, lastAt } = recording;
  if (firstAt === undefined || lastAt === undefined) throw new GannetError('RECORDING_INCOMPLETE', `${directory} holds no events`);
  refuseMissingInputs(config, recording);
  refuseNothingLeft(config, { directory, firstAt, lastAt });
  const looks = recordedLooks(recording);
  const unseen = unseenTokens(config, looks);
  const { doubts, intervals } = await stepByStep(recordingDoubts(recording, { kinds: backtestKinds(looks), feeds: Engine.feedsOf(config.strategies), describe: (feed) => describeFeedKey(config.tokens, feed) }), interrupt);
  const places = { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: dirname(resolve(workingDir, config.file)) };
  return {
    config, recording, looks, unseen, doubts,
    setup: {
      tokens: config.tokens.all,
      limits: withoutUnseen(config.limits, unseen.map(({ mint }) => mint)),
      balances: config.backtest.balances,
      model: withRecordedLatency(config.backtest.model, recording, directory),
      seed: config.seed,
      currency: currencyOf(config),
      firstAt, lastAt, intervals,
      isMadeUp: recording.manifest.source.kind === 'synthetic',
      recordingDir: resolve(directory),
      strategies: await Promise.all(config.strategies.map(async ({ name, use, rawParams, budget, maxAgeMs, maxExposure, warmupMs }) => (
        { name, use, rawParams, budget, limits: { maxAgeMs, maxExposure }, warmupMs, codeHash: await strategyHash(use, places) }))),
      places,
    },
  };
}

/** The ends of a mint tell it from another of that name. */
function heldTokens({ tokens }: Recording): string {
  return printable(tokens.all.map(({ symbol, mint }) => `${symbol} ${mint.slice(0, 4)}…${mint.slice(-4)}`).join(', ') || 'none', 1_000);
}

/** Returns what is to be said of whatever is found out about a subject. */
export function subjectWarnings({ recording: { truncatedAt, manifest, directory }, unseen, doubts, setup }: Subject): string[] {
  return [
    ...walletWarnings(setup),
    ...sourceWarnings(manifest.source),
    ...(truncatedAt === undefined ? [] : [isBeingWritten(directory)
      ? `the recording is still being written: it is taken up to input number ${truncatedAt}`
      : `the recording was cut off by a crash: what came after input number ${truncatedAt} is lost`]),
    ...doubts,
    ...latencyWarnings(setup),
    ...(unseen.length === 0 ? [] : [`the recording does not say whether ${unseen.map(({ symbol }) => symbol).join(', ')} may be bought (risk.token_safety): every purchase is let through`]),
  ];
}

/** Equity is what the strategies' books hold: where the wallet holds less, every swap of it is refused, and nothing else tells. */
function walletWarnings({ strategies, balances, tokens }: ThreadSetup): string[] {
  const budgets = new Map<Mint, bigint>();
  for (const { budget } of strategies) if (budget !== undefined) budgets.set(budget.mint, (budgets.get(budget.mint) ?? 0n) + budget.amount);
  const short = [...budgets].filter(([mint, wanted]) => (balances.get(mint) ?? 0n) < wanted).map(([mint, wanted]) => {
    const { symbol, decimals } = tokens.find((token) => token.mint === mint) ?? { symbol: mint, decimals: 0 };
    return `the wallet begins with ${formatDecimal(balances.get(mint) ?? 0n, decimals)} ${symbol} (backtest.balances), the budgets are ${formatDecimal(wanted, decimals)}: equity counts money that is not there, and swaps are refused for it`;
  });
  if (budgets.size === 0) return ['no strategy has a budget (strategies[].budget): none of them may swap, so that nothing is earned or lost here; this shows what they tell, and no more'];
  return (balances.get(SOL_MINT) ?? 0n) > 0n ? short : [...short, 'the wallet begins without SOL (backtest.balances): there is nothing to pay a fee from'];
}

/** How the prices of a generated market move, by its name. */
const MADE_UP: Readonly<Record<string, string>> = {
  'stochastic-volatility': 'at random, with trends and with volatility that clusters, so that no rule earns there for long',
  'random-walk': 'at random, so that nothing can be earned there but by a mistake',
  'swings': 'about their level, so that buying dips pays there',
};

/** What nobody could have traded on says little of what trading there would have come to. */
function sourceWarnings(source: RecordingSource): string[] {
  if (source.kind === 'imported' && source.form === 'candles') return ['the prices are those of candles, the same for purchase and sale and for every size: what a spread and the depth of a market cost is in no figure'];
  if (source.kind !== 'synthetic') return [];
  return [`the market is made up: its prices move ${MADE_UP[source.market] ?? `as "${printable(source.market, 40)}" does`}; what comes of it says nothing of a real one`];
}

/** No swap takes as long as later ones did: at the beginning there are none to go by. */
function latencyWarnings({ model, firstAt, strategies }: ThreadSetup): string[] {
  const until = assumedUntil(model, firstAt + longestWarmup(strategies));
  return until === undefined ? [] : [`until ${new Date(until).toISOString()} swaps take as long as is assumed where nothing is recorded (backtest.latency): the recording's run had made fewer than 20 by then`];
}

function refuseMissingInputs({ strategies, tokens }: RunConfig, recording: Recording): void {
  const { directory, feeds } = recording;
  // Names are the configuration's; what it does not name, the recording may.
  const known = tokenTable([...tokens.all, ...recording.tokens.all.filter(({ mint, symbol }) => tokens.byMint(mint) === undefined && tokens.bySymbol(symbol) === undefined)]);
  const missing = missingFeeds(strategies, { feeds, tokens: known });
  if (missing === undefined) return;
  throw new GannetError('RECORDING_INCOMPLETE', `${directory} ${missing}. It holds ${heldFeeds(strategies, { feeds, tokens: known }) || 'nothing'}. Record a run of this configuration, or change what it watches`);
}

/** The beginning of a recording is for warming up; what is traded on comes after. */
function refuseNothingLeft({ strategies }: RunConfig, { directory, firstAt, lastAt }: { readonly directory: string; readonly firstAt: number; readonly lastAt: number }): void {
  const warmupMs = longestWarmup(strategies);
  if (lastAt - firstAt > warmupMs) return;
  if (warmupMs === 0) throw new GannetError('RECORDING_INCOMPLETE', `${directory} holds one instant alone, ${new Date(firstAt).toISOString()}: that is an empty period, in which nothing can be traded. Take a longer recording`);
  throw new GannetError('RECORDING_INCOMPLETE',
    `${directory} spans ${shortDuration(lastAt - firstAt)}, and the strategies want ${formatDuration(warmupMs)} of it to warm up: nothing is left to trade on. Shorten "warmup", or take a longer recording`);
}

/** The token that results are counted in: the first budget's, which mostly is everybody's. */
function currencyOf(config: RunConfig): Token {
  const mint = config.strategies.find(({ budget }) => budget !== undefined)?.budget?.mint ?? USDC_MINT;
  const token = config.tokens.byMint(mint) ?? config.tokens.all[0];
  if (token === undefined) throw new GannetError('CONFIG_INVALID', 'the configuration names no token to count the result in');
  return token;
}

function unseenTokens({ limits: { tokenSafety }, tokens }: RunConfig, { mints }: RecordedLooks): readonly Token[] {
  if (tokenSafety === undefined) return [];
  return tokens.all.filter(({ mint }) => !tokenSafety.trusted.has(mint) && !mints.has(mint));
}
