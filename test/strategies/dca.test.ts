import { describe, expect, it } from 'vitest';
import dca from '../../strategies/dca.ts';
import type { StrategyRun, TestOptions } from '../../src/testing/index.ts';
import { paramErrors, testStrategy } from '../../src/testing/index.ts';
import type { Command } from '../../src/trading/engine-command.ts';
import { buyingSol } from '../market/events.ts';
import type { Run } from '../engine/runs.ts';
import { prepare } from '../engine/runs.ts';
import { configured, fillAtOnce } from './instances.ts';

const PARAMS = { buy: 'SOL', spend: '25 USDC', every: '10s' };

/** Starts dca with a known price, 25 seconds after the epoch: in the middle of the slot 2. */
const buying = (params: object = {}, options: TestOptions = {}): StrategyRun => testStrategy(dca, {
  params: { ...PARAMS, ...params }, budget: '500 USDC', prices: { 'SOL/USDC': 150 }, startAt: '1970-01-01T00:00:25Z',
  ...options,
});

/** Returns the approved and refused purchases, each with its time since the start, its key and its refusal. */
const purchases = (run: StrategyRun): string[] => run.records.flatMap((record) => (
  record.kind === 'denial' ? [`${record.at} ${record.key} ${record.code}`]
    : record.kind === 'swap' ? [`${record.at} ${record.key}`] : []));

const alerts = (run: StrategyRun): string[] => run.alerts.map(({ at, message }) => `${at} ${message}`);

describe('dca', () => {
  it('buys the same amount in every slot of the grid, the present one at once', () => {
    const run = buying().advance('25s');
    expect(run.lines('swap')).toEqual([
      '0s buy 25 USDC -> SOL "purchase due at 00:00:20 UTC, every 10s" key=slot-2',
      '5s buy 25 USDC -> SOL "purchase due at 00:00:30 UTC, every 10s" key=slot-3',
      '15s buy 25 USDC -> SOL "purchase due at 00:00:40 UTC, every 10s" key=slot-4',
      '25s buy 25 USDC -> SOL "purchase due at 00:00:50 UTC, every 10s" key=slot-5',
    ]);
    expect(run.balance('USDC')).toBe('400 USDC');
    expect(run.approved[0]!.proposal).toMatchObject({ route: 'order' });
  });

  it('shifts its slots by the offset and uses the configured route', () => {
    const run = buying({ offset: '3s', route: 'build' }).advance('8s');
    expect(purchases(run)).toEqual(['0s slot-2', '8s slot-3']);
    // Its reason is the time that it was due at, the one that the schedule has.
    expect(run.approved[0]!.proposal)
      .toMatchObject({ route: 'build', reason: 'purchase due at 00:00:23 UTC, every 10s' });
  });

  it('issue 13.21: waits for the next slot with begin: next, so that shifted strategies never start together', () => {
    expect(purchases(buying({ begin: 'next' }).advance('15s'))).toEqual(['5s slot-3', '15s slot-4']);
    expect(purchases(buying({ begin: 'next', offset: '5s' }))).toEqual([]);
  });

  it('buys once per slot, however often the bot restarts within it', () => {
    const run = buying().restart().restart({ after: '3s', isKilled: true }).advance('1s');
    expect(purchases(run)).toEqual(['0s slot-2', '1s slot-2 KEY_REPEATED', '4s slot-2 KEY_REPEATED', '5s slot-3']);
    expect(run.balance('USDC')).toBe('450 USDC');
  });

  it('makes one purchase after the machine’s sleep, not one per missed slot', () => {
    const run = buying({ every: '1h' }, { startAt: '1970-01-01T00:00:00Z' }).sleep('8h');
    expect(purchases(run)).toEqual(['0s slot-0', '8h slot-8']);
  });

  it('repeats a blocked purchase with growing pauses until the end of its slot', () => {
    // Nothing executes swaps here: the first swap stays open, and both spend the same token.
    const run = prepare([configured(dca, PARAMS, 'first'), configured(dca, PARAMS, 'second')], { startAt: 20_000 });
    run.engine.accept(buyingSol(150_000, 20_000), 20_000);
    run.engine.start();
    run.engine.advanceTo(29_999);
    const [intent] = run.state.intents.values();
    expect(intent?.intent.strategy).toBe('first');
    const refused = run.logged.filter(({ strategy }) => strategy === 'second');
    expect(refused.map(({ at, code }) => [at, code]))
      .toEqual([20_000, 21_000, 23_000, 27_000].map((at) => [at, 'INTENT_OPEN_FOR_MINT']));
  });

  it('buys in its slot once the other swap has ended', () => {
    const run = prepare([configured(dca, PARAMS, 'first'), configured(dca, PARAMS, 'second')], { startAt: 20_000 });
    run.engine.accept(buyingSol(150_000, 20_000), 20_000);
    run.engine.start();
    const outcome = { kind: 'outcome', intentId: 'first-1', attempt: 1 } as const;
    run.engine.accept({ ...outcome, state: 'building' }, 20_100);
    run.engine.accept({ ...outcome, state: 'abandoned' }, 20_200);
    run.engine.advanceTo(25_000);
    expect(run.state.intents.values().map(({ intent }) => intent.id)).toEqual(['second-1']);
    expect(run.logged.filter(({ strategy, code }) => strategy === 'second' && code === null).map(({ at }) => at))
      .toEqual([21_000]);
  });

  it('buys in its slot once the service accepts the key again', () => {
    const run = prepare([configured(dca, PARAMS, 'first')], { startAt: 20_000 });
    run.engine.accept(buyingSol(150_000, 20_000), 20_000);
    run.engine.accept(access('refused'), 20_000);
    run.engine.start();
    run.engine.advanceTo(22_000);
    run.engine.accept(access('granted'), 22_000);
    run.engine.advanceTo(25_000);
    expect(run.logged.map(({ at, code }) => [at, code]))
      .toEqual([[20_000, 'SERVICE_UNAUTHORIZED'], [21_000, 'SERVICE_UNAUTHORIZED'], [23_000, null]]);
  });

  it('buys in its slot once the needed price has arrived', () => {
    const run = buying({}, { prices: {}, risk: { max_quote_age: '15s' }, startAt: '1970-01-01T00:00:20Z' });
    run.feed('price', '500ms 150').advanceTo('5s');
    expect(purchases(run)).toEqual(['0s slot-2 QUOTE_STALE', '1s slot-2']);
  });

  it('stops at the end of its budget', () => {
    const run = buying({ spend: '200 USDC' }).advance('25s');
    expect(purchases(run))
      .toEqual(['0s slot-2', '5s slot-3', '15s slot-4 BUDGET_EXCEEDED', '25s slot-5 BUDGET_EXCEEDED']);
    expect(run.balance('SOL')).toBe('2.666666666 SOL');
  });

  it('makes the configured number of purchases over all restarts, and reports the last', () => {
    const run = buying({ purchases: 3 }).advance('5s');
    expect(run.savedState()).toEqual({ purchases: 2 });
    run.restart({ after: '11s' }).advance('1m');
    expect(purchases(run)).toEqual(['0s slot-2', '5s slot-3', '16s slot-4']);
    expect(alerts(run)).toEqual(['16s all 3 purchases are made']);
  });

  it('counts a purchase that landed while the bot was down, and no failed one', () => {
    const back = (end: 'fill' | 'expire', isKilled: boolean): StrategyRun =>
      buying({ purchases: 2 }, { swaps: ['fill', { end, after: '2s' }, 'fill'] })
        .advance('6s').restart({ after: '10s', isKilled }).advance('1m');
    for (const isKilled of [false, true]) {
      expect(alerts(back('fill', isKilled))).toEqual(['16s all 2 purchases are made']);
      expect(purchases(back('fill', isKilled))).toEqual(['0s slot-2', '5s slot-3']);
      expect(purchases(back('expire', isKilled))).toEqual(['0s slot-2', '5s slot-3', '16s slot-4']);
      expect(alerts(back('expire', isKilled))).toEqual(['16s all 2 purchases are made']);
    }
  });

  it('reports the last purchase once, whatever the exit rules sell afterwards', () => {
    const run: Run = prepare([configured(dca, { ...PARAMS, purchases: 2 })], {
      startAt: 25_000, onEffect: fillAtOnce(() => run.state), exits: { timeLimitMs: 5_000 },
    });
    run.engine.accept(buyingSol(150_000, 25_000), 25_000);
    run.engine.start();
    run.engine.accept(buyingSol(150_000, 30_000), 30_000);
    for (const at of [30_000, 36_000, 50_000]) run.engine.advanceTo(at);
    const made = run.logged.map(({ at, proposal }) =>
      [at, proposal.kind === 'swap' ? proposal.tag ?? proposal.key : proposal.message]);
    expect(made.filter(([, text]) => text === 'all 2 purchases are made')).toHaveLength(1);
    expect(made.filter(([, text]) => text === 'exits.time_limit').length).toBeGreaterThan(1);
  });

  it('refuses invalid parameters', () => {
    const errors = (params: object): string[] => paramErrors(dca, { ...PARAMS, ...params });
    expect(errors({})).toEqual([]);
    expect(errors({ purchases: 0 })[0]).toMatch(/^purchases: /);
    expect(errors({ every: '0s' })[0]).toMatch(/^every: expected a duration/);
    expect(errors({ evry: '5s' })[0]).toMatch(/evry/);
    expect(errors({ route: 'teleport' })[0]).toMatch(/^route: /);
    expect(errors({ spend: '25' })[0]).toMatch(/^spend: expected an amount with its token/);
  });
});

function access(word: 'refused' | 'granted'): Command {
  return { kind: 'command', name: 'set-service-access', access: word, reason: 'the key' };
}
