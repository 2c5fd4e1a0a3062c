import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecordedChecks } from '../../../src/backtest/recorded-checks.ts';
import type { UnparsedStrategy } from '../../../src/research/trials/run-trial.ts';
import { runToEnd } from '../../../src/core/chunked-work.ts';
import { runTrialInChunks } from '../../../src/research/trials/run-trial.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import type { Trial, TrialPool, TrialResult } from '../../../src/research/trials/trial.ts';
import { shareRecording } from '../../../src/research/trials/shared-recording.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { openSharedRows } from '../../../src/recording/shared/shared-source.ts';
import { createRecordingWriter } from '../../../src/recording/writer.ts';
import meanReversion from '../../../strategies/mean-reversion.ts';
import { buyingSol, sellingSol } from '../../market/events.ts';
import { TOKENS, USDC } from '../../market/tokens.ts';
import { BUDGET, WALLET, WIDE } from '../../trading/states.ts';

export const START = Date.UTC(2026, 0, 5);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const STEP_MS = 1_200_000;

/**
 * A price that swings fast for two days, then wider and slower, with some noise in it: what suits one half does not
 * suit the other.
 */
export function priceAt(at: Millis): number {
  const hours = (at - START) / HOUR;
  const swing = Math.floor(hours / 48) % 2 === 0 ? 4 * Math.sin(hours * 2.5) : 6 * Math.sin(hours / 2.2);
  return 150 + swing + Math.sin(hours * hours);
}

/**
 * Writes quotes of both directions for so many days and returns the recording's folder; undefined is a
 * missing price.
 */
export async function writeMarket(days: number, price: (at: Millis) => number | undefined = priceAt, {
  isClosed = true,
}: { readonly isClosed?: boolean } = {}): Promise<{ readonly directory: string; remove(): void }> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-walk-'));
  const writer = createRecordingWriter({
    dir, name: 'recording', clock: new VirtualClock(START), tokens: TOKENS.all, onError: (error) => { throw error; },
  });
  let seq = 0;
  for (let at = START; at < START + days * DAY; at += STEP_MS) {
    const now = price(at);
    if (now === undefined) continue;
    writer.append(++seq, at, sellingSol(Math.round(now * 999), at));
    writer.append(++seq, at, buyingSol(Math.round(now * 1_001), at));
  }
  // Closing compresses, which a test that reads once does not need.
  if (isClosed) await writer.close();
  else writer.flush();
  return { directory: writer.directory, remove: () => { rmSync(dir, { recursive: true, force: true }); } };
}

/** Buys dips of 25 USDC with 500 of them. */
export const DIP: UnparsedStrategy = {
  name: 'dip', strategy: meanReversion,
  rawParams: { pair: 'SOL/USDC', size: '25 USDC', every: '20m', window: 12, k: 1 }, budget: BUDGET, limits: {},
  warmupMs: 4 * HOUR,
};

/**
 * Returns a pool that runs trials one after the other in this thread, and hands the results out in another order than
 * asked for.
 */
export async function poolOver(directory: string, { strategies = [DIP], onTrial }: {
  readonly strategies?: readonly UnparsedStrategy[];
  readonly onTrial?: (trial: Trial) => void;
} = {}): Promise<TrialPool & { readonly firstAt: Millis; readonly lastAt: Millis }> {
  const recording = openRecording(directory);
  const checks = readRecordedChecks(recording);
  const rows = openSharedRows((await shareRecording(recording, { checks })).rows!);
  const [firstAt, lastAt] = [recording.firstAt!, recording.lastAt!];
  const setup = {
    tokens: TOKENS.all, limits: WIDE, balances: WALLET, model: { ...BASE_MODEL, maxPriceAgeMs: HOUR }, seed: 7,
    currency: USDC, firstAt, lastAt,
  };
  const context = { setup, strategies, rows, checks, stopwatch: () => 0 };
  return {
    firstAt, lastAt,
    async* run(trials): AsyncGenerator<TrialResult> {
      for (const trial of [...trials].toReversed()) {
        onTrial?.(trial);
        yield runToEnd(runTrialInChunks(trial, context));
      }
    },
    close: () => Promise.resolve(),
  };
}

