import { map } from 'rxjs';
import { expect, it } from 'vitest';
import { stringifyJson } from '../../src/core/json.ts';
import { freshSnapshot } from '../../src/trading/engine-state.ts';
import { buyingSol, sellingSol } from '../market/events.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { WALLET } from '../trading/states.ts';
import { alerts, start, strategy } from './runs.ts';

it('a strategy sees position, equity and budget as of the event that it is shown', () => {
  const run = start([strategy('diver', ({ price }, context) => price!.pipe(map(() => {
    const { entryPrice, salePrice, gain, result } = context.position(SOL);
    return context.alert('info', stringifyJson({
      entryPrice, salePrice, gain, result, equity: context.equity(), budget: context.budget()?.amount,
      cash: context.position(USDC).available,
    }));
  })))], {
    snapshot: { ...freshSnapshot(WALLET), books: { diver: {
      balances: { [SOL.mint]: '2000000000', [USDC.mint]: '200000000' }, costs: { [SOL.mint]: '300000000' },
      feesLamports: '0', swaps: 1, budget: { mint: USDC.mint, amount: '500000000' },
    } } },
  });
  run.engine.accept(sellingSol(144_000, 10), 10);
  run.engine.accept(buyingSol(150_000, 20), 20);
  expect(alerts(run)).toEqual([`20 ${stringifyJson({
    entryPrice: 150, salePrice: 144, gain: -0.04, result: '-12000000', equity: '488000000', budget: '500000000',
    cash: '200000000',
  })}`]);
});
