import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { History, PassAnswer } from '../../../src/research/lookahead/pass.ts';
import type { WarmUpVerdict } from '../../../src/research/lookahead/warm-up.ts';
import { judgeWarmUp } from '../../../src/research/lookahead/warm-up.ts';
import { checkWarmUps } from '../../../src/research/lookahead/find-leaks.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { Decision } from '../../../src/trading/step.ts';
import type { Market } from './suite.ts';
import { instance, PARAMS, prepared, writeMarket } from './suite.ts';

const DAY_MS = 86_400_000;

function said(at: Millis): Decision {
  return {
    seq: at, at, strategy: 'own', proposal: { kind: 'alert', level: 'info', message: 'now' }, verdict: 'approved',
    code: null,
  };
}

/**
 * A strategy that would say something at some times, and does where it has seen enough by then; what follows a start is
 * four hours long.
 */
function pastOf({ days, needMs, decisions, seed = 1 }: {
  readonly days: number; readonly needMs: Millis; readonly decisions: number; readonly seed?: number;
}): { readonly run: (history?: History) => Promise<PassAnswer>; readonly asked: History[]; readonly span: {
  readonly startAt: Millis; readonly endAt: Millis;
} } {
  const random = seededRandom(seed);
  const times = Array.from({ length: decisions }, () => Math.floor(random() * days * DAY_MS)).toSorted((a, b) => a - b);
  const asked: History[] = [];
  return {
    asked,
    span: { startAt: 0, endAt: days * DAY_MS },
    run: (history) => {
      if (history !== undefined) asked.push(history);
      const { tradeFrom, warmupMs } = history ?? { tradeFrom: 0, warmupMs: 0 };
      const until = history === undefined ? Infinity : tradeFrom + DAY_MS / 6;
      return Promise.resolve({ decisions: times.filter(
        (at) => at >= tradeFrom && at < until && at - (tradeFrom - warmupMs) >= needMs,
      ).map(said), accesses: [], globalChanges: [] });
    },
  };
}

function judged(past: ReturnType<typeof pastOf>, { warmupMs = 0, seed = 1 } = {}): Promise<WarmUpVerdict> {
  return judgeWarmUp({ strategy: 'own', warmupMs, ...past.span, seed, run: past.run });
}

describe('the history that is enough', () => {
  it('is found for recordings of any length, up to rounding', async () => {
    for (const days of [0.1, 3, 30]) {
      for (const seed of [1, 2]) {
        const past = pastOf({ days, needMs: 195_000, decisions: days * 300, seed });
        const { leak, enoughMs, starts, differing } = await judged(past, { seed });
        expect(leak, `${days} days`).toMatchObject({ cause: 'warm-up' });
        expect(enoughMs, `${days} days`).toBe(200_000);
        expect(starts.length).toBeGreaterThanOrEqual(6);
        expect(differing).toBeGreaterThan(1);
      }
    }
  });

  it('is found for a strategy that decides eight times in a month', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const { leak, enoughMs } = await judged(pastOf({ days: 30, needMs: 195_000, decisions: 8, seed }), { seed });
      expect(leak).toBeDefined();
      expect(enoughMs).toBe(200_000);
    }
  });

  it('is found when it lies between the last round length and the longest history', async () => {
    const { longestMs, enoughMs } = await judged(pastOf({ days: 30, needMs: 10 * DAY_MS, decisions: 3_000 }));
    expect(longestMs).toBe(15 * DAY_MS);
    expect(enoughMs).toBeGreaterThanOrEqual(10 * DAY_MS);
    expect(enoughMs).toBeLessThanOrEqual(10 * DAY_MS + 2 * 3_600_000);
  });

  it('is unknown when only the longest history is enough', async () => {
    const past = pastOf({ days: 30, needMs: 0, decisions: 3_000 });
    const { leak, enoughMs } = await judged({ ...past, run: async (history) => {
      const answer = await past.run(history);
      return {
        ...answer, decisions: answer.decisions.map((decision) => ({ ...decision, code: String(history?.warmupMs) })),
      };
    } });
    expect(leak).toBeDefined();
    expect(enoughMs).toBeUndefined();
  });

  it('is the configured one when that is enough, without trying shorter ones', async () => {
    const past = pastOf({ days: 30, needMs: 195_000, decisions: 9_000 });
    const { leak, enoughMs, starts, compared } = await judged(past, { warmupMs: 200_000 });
    expect({ leak, enoughMs }).toStrictEqual({ leak: undefined, enoughMs: 200_000 });
    expect(compared).toBeGreaterThan(starts.length);
    expect(past.asked).toHaveLength(2 * starts.length);
  });

  it('is unknown without compared decisions, and when the recording has no longer history', async () => {
    const silent = { leak: undefined, enoughMs: undefined, compared: 0 };
    expect(await judged(pastOf({ days: 30, needMs: 195_000, decisions: 0 })))
      .toMatchObject({ ...silent, starts: { length: 8 } });
    expect(await judged(pastOf({ days: 1, needMs: 1, decisions: 300 }), { warmupMs: 0.9 * DAY_MS }))
      .toMatchObject({ ...silent, starts: [] });
  });

  it('is searched from starts all over the recording, the same ones for the same seed', async () => {
    const past = pastOf({ days: 30, needMs: 1, decisions: 9_000 });
    const [one, again, other] = [await judged(past), await judged(past), await judged(past, { seed: 2 })];
    expect(one.starts).toStrictEqual(again.starts);
    expect(one.starts).not.toStrictEqual(other.starts);
    const part = (30 * DAY_MS * 7) / 8 / 8;
    expect(one.starts.map((at) => Math.floor((at - (30 * DAY_MS) / 8) / part))).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('is refused for a strategy that cannot run', async () => {
    const past = pastOf({ days: 1, needMs: 1, decisions: 9 });
    await expect(judged({ ...past, run: async (history) => ({ ...await past.run(history), fault: 'it fell over' }) }))
      .rejects.toThrow('strategy own cannot be run: it fell over');
  });
});

const REVERSION = { pair: 'SOL/USDC', size: '25 USDC', window: 10, k: 1 };

describe('a longer history before the start', () => {
  let market: Market;
  let verdicts: ReadonlyMap<string, WarmUpVerdict>;
  let fromDisk: ReadonlyMap<string, WarmUpVerdict>;
  beforeAll(async () => {
    market = await writeMarket();
    const setup = prepared(market, [
      instance('cold', 'mean-reversion', REVERSION),
      instance('warm', 'mean-reversion', REVERSION, 300_000),
      instance('without-a-past', fileURLToPath(new URL('./clean/imbalance.ts', import.meta.url)), {
        ...PARAMS, dir: market.directory,
      }),
      instance('crossing', 'book-watch', { market: 'M', level: 0.9, rearm: 0.5 }),
      instance('silent', 'book-watch', { market: 'M', level: 0.99, rearm: 0.98 }),
    ]);
    verdicts = await checkWarmUps(setup, { seed: 1 });
    fromDisk =
      await checkWarmUps({ ...setup, strategies: setup.strategies.slice(0, 1) }, { seed: 1 }, { mostSharedBytes: 0 });
  }, 180_000);
  afterAll(() => { market.remove(); });

  it('changes the decisions of a strategy without its warm-up, and the sufficient length is reported', () => {
    const { leak, enoughMs, starts } = verdicts.get('cold')!;
    expect(leak).toMatchObject({ cause: 'warm-up' });
    expect(leak!.at).toBeGreaterThanOrEqual(starts[0]!);
    // Ten prices, one every five seconds, now and then one after twenty-five.
    expect(enoughMs).toBeGreaterThanOrEqual(45_000);
    expect(enoughMs).toBeLessThanOrEqual(80_000);
    // It has to have seen that it was below.
    expect(verdicts.get('crossing')).toMatchObject({ leak: { cause: 'warm-up' } });
    expect(fromDisk.get('cold')).toStrictEqual(verdicts.get('cold'));
  });

  it('changes nothing when the configured history is enough, or none is needed', () => {
    expect(verdicts.get('warm')).toMatchObject({ leak: undefined, enoughMs: 300_000, warmupMs: 300_000 });
    expect(verdicts.get('warm')!.compared).toBeGreaterThan(0);
    expect(verdicts.get('without-a-past')).toMatchObject({ leak: undefined, enoughMs: 0 });
  });

  it('is not reported as harmless for a strategy without decisions', () => {
    expect(verdicts.get('silent')).toMatchObject({ leak: undefined, enoughMs: undefined, compared: 0 });
  });
});
