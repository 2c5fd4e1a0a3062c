import { map, merge } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../src/core/json.ts';
import { portfolio } from '../../src/strategy/index.ts';
import { freshSnapshot } from '../../src/trading/engine-state.ts';
import { buyingSol, PURCHASE, sellingSol } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { fillOf, outcome, WALLET } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { alerts, priceInput, start, strategy } from './runs.ts';

const withOwn = () => ({ ...priceInput(), own: portfolio() });
const tellOwn: Body = ({ own }, context) => own!.pipe(map((event) => {
  const { equity, holdings } = event as { readonly equity: bigint; readonly holdings: readonly object[] };
  return context.alert('info', stringifyJson({ equity, holdings }));
}));
const USDC_500 = { mint: USDC.mint, amount: '500000000', cost: '500000000', value: '500000000' };

/** Returns what the strategy saw of its portfolio, each with its time. */
function seen(run: Run): unknown[] {
  return alerts(run).map((text) => {
    const [at, ...rest] = text.split(' ');
    return [Number(at), JSON.parse(rest.join(' '))];
  });
}

describe('the own portfolio as an input', () => {
  it('emits at the start, and then where balances, costs or values have changed, and not otherwise', () => {
    const run = start([strategy('diver', tellOwn, withOwn)]);
    expect(seen(run)).toEqual([[0, { equity: '500000000', holdings: [USDC_500] }]]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    run.engine.accept(sellingSol(144_000, 20), 20);
    expect(seen(run)).toHaveLength(1);
  });

  it('has cost and value of a position, and follows its price with the event that changed it', () => {
    const run = start([strategy('diver', tellOwn, withOwn)], {
      snapshot: { ...freshSnapshot(WALLET), books: { diver: {
        balances: { [SOL.mint]: '2000000000', [USDC.mint]: '200000000' }, costs: { [SOL.mint]: '300000000' },
        feesLamports: '0', swaps: 1, budget: { mint: USDC.mint, amount: '500000000' },
      } } },
    });
    const cash = { mint: USDC.mint, amount: '200000000', cost: '200000000', value: '200000000' };
    const sol = { mint: SOL.mint, amount: '2000000000', cost: '300000000' };
    expect(seen(run)).toEqual([[0, { holdings: [cash, sol] }]]);
    run.engine.accept(sellingSol(144_000, 10), 10);
    run.engine.accept(sellingSol(144_000, 20), 20);
    run.engine.accept(sellingSol(150_000, 30), 30);
    expect(seen(run).slice(1)).toEqual([
      [10, { equity: '488000000', holdings: [cash, { ...sol, value: '288000000' }] }],
      [30, { equity: '500000000', holdings: [cash, { ...sol, value: '300000000' }] }],
    ]);
  });

  it('follows a fill, and leaves other strategies alone', () => {
    const buyer = strategy('diver', (streams, context) => merge(
      streams['price']!.pipe(map(() =>
        context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'now', { key: 'once' }))),
      tellOwn(streams, context),
    ), withOwn);
    const run = start([buyer, strategy('wader', tellOwn, withOwn)]);
    run.engine.accept(buyingSol(150_000, 10), 10);
    const { intent } = [...run.state.intents.values()][0]!;
    expect(seen(run)).toHaveLength(2);
    for (const reached of ['building', 'signed', 'submitted'] as const)
      run.engine.accept(outcome(intent, reached), 15);
    run.engine.accept(outcome(intent, 'confirmed', { fill: fillOf(intent, 150_000_000n) }), 20);
    const after = seen(run).slice(2) as [number, { readonly holdings: readonly { readonly mint: string }[] }][];
    expect(after.map(([at, { holdings }]) => [at, holdings.map(({ mint }) => mint)]))
      .toEqual([[20, [USDC.mint, SOL.mint]]]);
  });

  it('is no feed: nothing polls it, and nothing of it reaches a recording', () => {
    const run = start([strategy('diver', tellOwn, withOwn)], { maxAgeMs: 1_000 });
    run.engine.accept(sellingSol(144_000, 10), 10);
    expect(run.inputs.map(({ input }) => input.kind)).toEqual(['quote']);
  });
});
