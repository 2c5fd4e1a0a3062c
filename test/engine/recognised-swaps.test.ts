import { map, merge } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Proposal } from '../../src/strategy/index.ts';
import { freshSnapshot } from '../../src/trading/engine-state.ts';
import type { Effect } from '../../src/trading/step.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { WALLET, fillOf, outcome } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { alerts, start, strategy } from './runs.ts';

/** Proposes two levels at the first price, and alerts everything that it sees of them. */
const TWO_LEVELS: Body = ({ price }, context) => merge(
  price!.pipe(map((_, n): Proposal => (n < 2
    ? context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'a level', { key: `level-${n}`, tag: `at ${150 - n}` })
    : context.alert('info', 'done')))),
  context.outcomes$.pipe(map(({ state, key, tag }) => context.alert('info', `${state} ${key} ${tag}`))),
  context.denials$.pipe(map(({ code, key, tag, proposal }) =>
    context.alert('info', `${code} ${key} ${tag} ${proposal.tag}`))),
);

const SELLING: Body = ({ price }, context) => merge(
  price!.pipe(map(() => context.sell(SOL_USDC, 'all', 'a signal', { key: 'one', tag: 'top' }))),
  context.outcomes$.pipe(map(({ intentId, state, key, tag }) =>
    context.alert('info', `${intentId} ${state} ${key} ${tag}`))),
);

const intentsOf = (run: Run): Extract<Effect, { kind: 'execute' }>['intent'][] =>
  run.effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent] : []));

describe('the key and the tag of a proposal', () => {
  it('stand in its outcomes and denials, so that a strategy recognises its level', () => {
    const run = start([strategy('diver', TWO_LEVELS)]);
    for (const at of [10, 20]) run.engine.accept(buyingSol(150_000, at), at);
    const [first] = intentsOf(run);
    run.engine.accept(outcome(first!, 'building'), 30);
    run.engine.accept(outcome(first!, 'abandoned'), 40);
    expect(alerts(run)).toEqual([
      '20 INTENT_OPEN_FOR_MINT level-1 at 149 at 149', '30 building level-0 at 150', '40 abandoned level-0 at 150',
    ]);
    expect(first).toMatchObject({ key: 'level-0', tag: 'at 150' });
  });

  it('are not in what a recording keeps of an outcome, which holds what the executor said', () => {
    const run = start([strategy('diver', TWO_LEVELS)]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    const building = outcome(intentsOf(run)[0]!, 'building');
    run.engine.accept(building, 30);
    expect(run.inputs.at(-1)!.input).toEqual(building);
  });

  it('stand in the outcomes of all parts of an exit that is too large for one swap', () => {
    const run: Run = start([strategy('diver', SELLING)], {
      limits: { caps: new Map([[SOL.mint, { perTrade: 2_000_000_000n as Amount }]]) },
      snapshot: { ...freshSnapshot(WALLET), books: { diver: {
        balances: { [SOL.mint]: '4000000000' }, feesLamports: '0', swaps: 0,
      } } },
      onEffect: (effect, engine) => {
        if (effect.kind !== 'execute') return;
        for (const state of ['building', 'signed', 'submitted'] as const)
          engine.accept(outcome(effect.intent, state), engine.clock.now());
        engine.accept(outcome(effect.intent, 'confirmed', { fill: fillOf(effect.intent, 300_000_000n) }),
          engine.clock.now());
      },
    });
    run.engine.accept(buyingSol(150_000, 10), 10);
    expect(alerts(run).filter((text) => text.includes('confirmed'))).toEqual(
      ['10 diver-1 confirmed one top', '10 diver-2 confirmed one top'],
    );
    expect(run.logged.some(({ code }) => code === 'KEY_REPEATED')).toBe(false);
  });
});
