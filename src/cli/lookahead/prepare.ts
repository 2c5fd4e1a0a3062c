import { dirname, join, resolve } from 'node:path';
import { longestWarmup } from '../../backtest/backtest.ts';
import { withRecordedLatency } from '../../backtest/models/recorded-latency.ts';
import { recordedLooks, withoutUnseen } from '../../backtest/recorded-looks.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { describeFeedKey } from '../../daemon/market-text.ts';
import { Engine } from '../../engine/engine.ts';
import { feedKey } from '../../market/feed.ts';
import { USDC_MINT } from '../../market/token.ts';
import type { Recording } from '../../recording/reader.ts';
import { PROJECT_DIR } from '../project.ts';
import type { ThreadSetup } from './worker.ts';

/** What is looked at: the threads' part of it, and when. */
export interface Prepared {
  readonly setup: ThreadSetup;
  readonly names: readonly string[];
  /** From the first row to the last, warm-up included. */
  readonly firstAt: Millis;
  readonly lastAt: Millis;
}

/** Returns what the threads need of a configuration and a recording. Throws RECORDING_INCOMPLETE where the strategies would sit still. */
export function prepare(config: RunConfig, recording: Recording, workingDir: string): Prepared {
  const { directory, firstAt, lastAt } = recording;
  if (firstAt === undefined || lastAt === undefined) throw new GannetError('RECORDING_INCOMPLETE', `${directory} holds no events`);
  const recorded = new Set(recording.feeds);
  const missing = Engine.feedsOf(config.strategies).map(feedKey).filter((key) => !recorded.has(key));
  if (missing.length > 0) {
    throw new GannetError('RECORDING_INCOMPLETE', `${directory} lacks what the strategies watch: ${missing.map((key) => describeFeedKey(config.tokens, key)).join(', ')}. Record a run of this configuration, or change what it watches`);
  }
  const warmupMs = longestWarmup(config.strategies);
  if (lastAt - firstAt <= warmupMs) {
    throw new GannetError('RECORDING_INCOMPLETE', `${directory} spans ${formatDuration(lastAt - firstAt)}, and the strategies want ${formatDuration(warmupMs)} of it to warm up: nothing is left to look at`);
  }
  const looks = recordedLooks(recording);
  const { tokenSafety } = config.limits;
  const unseen = tokenSafety === undefined ? [] : config.tokens.all.map(({ mint }) => mint).filter((mint) => !tokenSafety.trusted.has(mint) && !looks.mints.has(mint));
  const mint = config.strategies.find(({ budget }) => budget !== undefined)?.budget?.mint ?? USDC_MINT;
  const currency = config.tokens.byMint(mint) ?? config.tokens.all[0];
  if (currency === undefined) throw new GannetError('CONFIG_INVALID', 'the configuration names no token to count the result in');
  return {
    names: config.strategies.map(({ name }) => name),
    firstAt, lastAt,
    setup: {
      tokens: config.tokens.all,
      limits: withoutUnseen(config.limits, unseen),
      balances: config.backtest.balances,
      model: withRecordedLatency(config.backtest.model, recording, directory),
      seed: config.seed,
      currency,
      recordingDir: resolve(directory),
      strategies: config.strategies.map(({ name, use, rawParams, budget, maxAgeMs, maxExposure, warmupMs: own }) => (
        { name, use, rawParams, budget, limits: { maxAgeMs, maxExposure }, warmupMs: own })),
      places: { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: dirname(resolve(workingDir, config.file)) },
    },
  };
}
