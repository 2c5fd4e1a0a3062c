import { describe, expect, it } from 'vitest';
import { readRecordedChecks } from '../../../src/backtest/recorded-checks.ts';
import { runToEnd } from '../../../src/core/chunked-work.ts';
import { runTrialInChunks } from '../../../src/research/trials/run-trial.ts';
import type { DoneTrial, Trial } from '../../../src/research/trials/trial.ts';
import { trialOf } from '../../../src/research/trials/trial.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import type { RowSource } from '../../../src/recording/shared/shared-source.ts';
import smaCrossover from '../../../strategies/sma-crossover.ts';
import meanReversion from '../../../strategies/mean-reversion.ts';
import { SWINGS, threadStrategy, trialSetup, writeSwings } from './trial-setup.ts';
import { temporaryFolder } from '../../recording/temporary.ts';

async function rowsOnDisk(): Promise<{ readonly rows: RowSource; readonly directory: string }> {
  const directory = await writeSwings(temporaryFolder());
  const recording = openRecording(directory);
  const rows: RowSource =
    { kinds: recording.kinds, feeds: recording.feeds, cursor: (choice) => recording.cursor(choice), since: () => rows };
  return { rows, directory };
}

async function run(difference: Omit<Trial, 'id'>, warmupMs?: number): Promise<DoneTrial> {
  const { rows, directory } = await rowsOnDisk();
  const { use, ...strategy } = threadStrategy('mean-reversion', { window: 10, k: 1 }, { warmupMs });
  expect(use).toBe('mean-reversion');
  const result = runToEnd(runTrialInChunks(trialOf(difference), {
    setup: trialSetup(directory, []), strategies: [{ ...strategy, strategy: meanReversion }], rows,
    checks: readRecordedChecks(rows), stopwatch: () => 0,
  }));
  if (result.kind !== 'done') throw new Error(result.reason);
  return result;
}

const FIRST = SWINGS[0]!.receivedAt;
const LAST = SWINGS.at(-1)!.receivedAt;
const MINUTE = 60_000;

/** Returns the cursor with quotes that must all be made. */
function made(cursor: ReturnType<RowSource['cursor']>): ReturnType<RowSource['cursor']> {
  cursor.quotes = () => undefined;
  return cursor;
}

describe('a trial', () => {
  it('of the whole period equals one without a period, decision by decision', async () => {
    const whole = await run({ params: {} });
    const period = await run({ params: {}, period: { from: FIRST, to: LAST + 1 } });
    expect(period.decisionHash).toBe(whole.decisionHash);
    expect(period.events).toBe(SWINGS.length);
    expect(whole.decisions).toBeGreaterThan(50);
  });

  it('of a period reads no row before its warm-up, nor from its end on', async () => {
    const [from, to] = [FIRST + 30 * MINUTE, FIRST + 60 * MINUTE];
    const { events, record } = await run({ params: {}, period: { from, to }, keep: 'record' });
    expect(events).toBe(SWINGS.filter(({ receivedAt }) => receivedAt >= from && receivedAt < to).length);
    expect(record?.times[0]).toBe(from);
    for (const { at } of record!.fills) expect(at).toBeGreaterThan(from);
    expect(record?.instruments.map(({ symbol }) => symbol)).toStrictEqual(['SOL']);
  });

  it('of a period warms up on earlier rows, and trades from its beginning', async () => {
    const period = { from: FIRST + 30 * MINUTE, to: FIRST + 60 * MINUTE };
    // As many prices as five minutes have.
    const params = { own: { window: 60 } };
    const cold = await run({ params, period });
    const warm = await run({ params, period }, 5 * MINUTE);
    expect(warm.events).toBe(cold.events);
    expect(warm.decisions).toBeGreaterThan(cold.decisions);
    expect(warm.decisionHash).not.toBe(cold.decisionHash);
  });

  it('of a period before the end of the warm-up begins after it', async () => {
    const early = await run({ params: {}, period: { from: FIRST, to: LAST + 1 } }, 5 * MINUTE);
    expect(early.decisionHash).toBe((await run({ params: {} }, 5 * MINUTE)).decisionHash);
  });

  it('of a period that the warm-up covers is refused', async () => {
    await expect(run({ params: {}, period: { from: FIRST, to: FIRST + MINUTE } }, 5 * MINUTE))
      .rejects.toThrow('no time is left to trade');
  });

  it('has an id by its content', () => {
    const ids = [
      trialOf({ params: { a: { x: 1, y: 2 } } }), trialOf({ params: { a: { y: 2, x: 1 } }, keep: 'record' }),
      trialOf({ params: { a: { x: 2, y: 2 } } }),
      trialOf({ params: { a: { x: 1, y: 2 } }, period: { from: 1, to: 2 } }),
    ].map(({ id }) => id);
    expect(ids[1]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
  });

  it.each([
    undefined, { from: FIRST + 30 * MINUTE, to: FIRST + 60 * MINUTE },
  ])('decides the same over quotes that it passes over as over quotes that are made (%o)', async (period) => {
    const { rows, directory } = await rowsOnDisk();
    let passed = 0;
    const countPassed = (cursor: ReturnType<RowSource['cursor']>): ReturnType<RowSource['cursor']> => {
      const skip = cursor.skip.bind(cursor);
      cursor.skip = (count) => {
        passed += count + 1;
        skip(count);
      };
      return cursor;
    };
    const { use, ...strategy } = threadStrategy('sma-crossover', { fast: 3, slow: 9 });
    expect(use).toBe('sma-crossover');
    const [passing, making] = [countPassed, made].map((change) => {
      const source: RowSource = { ...rows, cursor: (choice) => change(rows.cursor(choice)), since: () => source };
      return runToEnd(runTrialInChunks(trialOf({ params: {}, period, keep: 'record' }), {
        setup: trialSetup(directory, []), strategies: [{ ...strategy, strategy: smaCrossover }], rows: source,
        checks: readRecordedChecks(rows), stopwatch: () => 0,
      }));
    });
    expect(passing).toMatchObject({ kind: 'done' });
    expect(passing).toStrictEqual(making);
    expect(passed).toBeGreaterThan(100);
  });
});
