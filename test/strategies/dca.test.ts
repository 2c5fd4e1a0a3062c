import { describe, expect, it } from 'vitest';
import dca from '../../strategies/dca.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import type { Command } from '../../src/trading/engine-command.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import type { RestoredStates } from '../../src/trading/strategy-state.ts';
import type { ExitRules } from '../../src/trading/positions/exit-plan.ts';
import { buyingSol } from '../market/events.ts';
import { SOL, USDC } from '../market/tokens.ts';
import type { Run } from '../engine/runs.ts';
import { prepare } from '../engine/runs.ts';
import { fillOf } from '../trading/states.ts';
import { schemaErrors, configured, fillAtOnce } from './instances.ts';

const PARAMS = { buy: 'SOL', spend: '25 USDC', every: '10s' };

/** Starts dca with a known price, and lets the present slot begin. */
function buying(
  params: object, startAt: number, snapshot?: StateSnapshot, restored?: RestoredStates, exits?: ExitRules,
): Run {
  const run: Run = prepare([configured(dca, { ...PARAMS, ...params })], {
    startAt, onEffect: fillAtOnce(() => run.state), ...(snapshot === undefined ? {} : { snapshot }),
    ...(restored === undefined ? {} : { restored }), ...(exits === undefined ? {} : { exits }),
  });
  run.engine.accept(buyingSol(150_000, startAt), startAt);
  run.engine.start();
  run.engine.advanceTo(startAt);
  return run;
}

const purchases = (run: Run): unknown[] =>
  run.logged.map(({ at, proposal, code }) => [at, proposal.kind === 'swap' ? proposal.key : undefined, code]);

describe('dca', () => {
  it('buys the same amount in every slot of the grid, the present one at once', () => {
    const run = buying({}, 25_000);
    for (const at of [30_000, 40_000, 50_000]) run.engine.advanceTo(at);
    expect(purchases(run)).toEqual([
      [25_000, 'slot-2', null], [30_000, 'slot-3', null], [40_000, 'slot-4', null], [50_000, 'slot-5', null],
    ]);
    expect(run.state.portfolio.available('dca', USDC.mint)).toBe(400_000_000n);
    expect(run.logged[0]!.proposal)
      .toMatchObject({ inputMint: USDC.mint, outputMint: SOL.mint, amount: 25_000_000n, route: 'order' });
  });

  it('shifts its slots by the offset and uses the configured route', () => {
    const run = buying({ offset: '3s', route: 'build' }, 25_000);
    run.engine.advanceTo(33_000);
    expect(purchases(run)).toEqual([[25_000, 'slot-2', null], [33_000, 'slot-3', null]]);
    // Its reason is the time that it was due at, the one that the schedule has.
    expect(run.logged[0]!.proposal)
      .toMatchObject({ route: 'build', reason: 'purchase due at 00:00:23 UTC, every 10s' });
  });

  it('issue 13.21: waits for the next slot with begin: next, so that shifted strategies never start together', () => {
    const run = buying({ begin: 'next' }, 25_000);
    for (const at of [29_999, 30_000, 40_000]) run.engine.advanceTo(at);
    expect(purchases(run)).toEqual([[30_000, 'slot-3', null], [40_000, 'slot-4', null]]);
    expect(purchases(buying({ begin: 'next', offset: '5s' }, 25_000))).toEqual([]);
  });

  it('buys once per slot, however often the bot restarts within it', () => {
    const first = buying({}, 25_000);
    const second = buying({}, 26_000, snapshotState(first.state));
    const third = buying({}, 29_999, snapshotState(second.state));
    third.engine.advanceTo(30_000);
    expect(purchases(second)).toEqual([[26_000, 'slot-2', 'KEY_REPEATED']]);
    expect(purchases(third)).toEqual([[29_999, 'slot-2', 'KEY_REPEATED'], [30_000, 'slot-3', null]]);
    expect(third.state.portfolio.available('dca', USDC.mint)).toBe(450_000_000n);
  });

  it('makes one purchase after the machine’s sleep, not one per missed slot', () => {
    const run = buying({ every: '1h' }, 0);
    expect(run.state.portfolio.book('dca').swaps).toBe(1);
    run.engine.advanceTo(8 * 3_600_000);
    expect(run.state.portfolio.book('dca').swaps).toBe(2);
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
    const run = prepare([configured(dca, PARAMS, 'first')], { startAt: 20_000, limits: { maxQuoteAgeMs: 15_000 } });
    run.engine.start();
    run.engine.advanceTo(20_500);
    run.engine.accept(buyingSol(150_000, 20_500), 20_500);
    run.engine.advanceTo(25_000);
    expect(run.logged.map(({ at, code }) => [at, code])).toEqual([[20_000, 'QUOTE_STALE'], [21_000, null]]);
  });

  it('stops at the end of its budget', () => {
    const run = buying({ spend: '200 USDC' }, 20_000);
    for (const at of [30_000, 40_000, 50_000]) run.engine.advanceTo(at);
    expect(purchases(run).map((purchase) => (purchase as unknown[])[2]))
      .toEqual([null, null, 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED']);
    expect(run.state.portfolio.available('dca', SOL.mint)).toBeGreaterThan(0n);
  });

  it('makes the configured number of purchases over all restarts, and reports the last', () => {
    const limited = { purchases: 3 };
    const first = buying(limited, 25_000);
    first.engine.advanceTo(30_000);
    const text = first.engine.takeStrategyStates()[0]!.text;
    expect(text).toBe('{"purchases":2}');
    const second = buying(limited, 41_000, snapshotState(first.state), { states: { dca: text }, unseen: [] });
    for (const at of [50_000, 60_000]) second.engine.advanceTo(at);
    expect(purchases(second)).toEqual([[41_000, 'slot-4', null], [41_000, undefined, null]]);
    expect(second.logged[1]!.proposal).toMatchObject({ kind: 'alert', message: 'all 3 purchases are made' });
  });

  it('counts a purchase that landed while the bot was down, and no failed one', () => {
    expect(purchases(backAfter('confirmed'))).toEqual([[25_000, undefined, null]]);
    expect(purchases(backAfter('expired'))).toEqual([[25_000, 'slot-2', null], [25_000, undefined, null]]);
  });

  it('reports the last purchase once, whatever the exit rules sell afterwards', () => {
    const run = buying({ purchases: 2 }, 25_000, undefined, undefined, { timeLimitMs: 5_000 });
    run.engine.accept(buyingSol(150_000, 30_000), 30_000);
    for (const at of [30_000, 36_000, 50_000]) run.engine.advanceTo(at);
    const made = run.logged.map(({ at, proposal }) =>
      [at, proposal.kind === 'swap' ? proposal.tag ?? proposal.key : proposal.message]);
    expect(made.filter(([, text]) => text === 'all 2 purchases are made')).toHaveLength(1);
    expect(made.filter(([, text]) => text === 'exits.time_limit').length).toBeGreaterThan(1);
  });

  it('refuses invalid parameters', () => {
    expect(schemaErrors(dca, PARAMS)).toEqual([]);
    expect(schemaErrors(dca, { ...PARAMS, purchases: 0 })[0]).toMatch(/^purchases: /);
    expect(schemaErrors(dca, { ...PARAMS, every: '0s' })[0]).toMatch(/^every: expected a duration/);
    expect(schemaErrors(dca, { ...PARAMS, evry: '5s' })[0]).toMatch(/evry/);
    expect(schemaErrors(dca, { ...PARAMS, route: 'teleport' })[0]).toMatch(/^route: /);
    expect(schemaErrors(dca, { ...PARAMS, spend: '25' })[0]).toMatch(/^spend: expected an amount with its token/);
  });
});

/** Starts dca for two purchases: the first was made, and the second ended while the bot was down. */
function backAfter(state: 'confirmed' | 'expired'): Run {
  const intent = { inputMint: USDC.mint, outputMint: SOL.mint, amountIn: 25_000_000n } as Intent;
  const ended: Outcome = {
    kind: 'outcome', intentId: 'dca-1', attempt: 1, state, key: 'slot-1',
    ...(state === 'confirmed' ? { fill: fillOf(intent, 1n) } : {}),
  };
  return buying({ purchases: 2 }, 25_000, undefined, { states: { dca: '{"purchases":1}' }, unseen: [ended] });
}

function access(word: 'refused' | 'granted'): Command {
  return { kind: 'command', name: 'set-service-access', access: word, reason: 'the key' };
}
