import { expect, it } from 'vitest';
import { describeSigner } from '../../../src/daemon/reporting/limits-text.ts';
import { describeSimulated, describeSwaps } from '../../../src/daemon/reporting/swap-text.ts';
import { configOf } from '../../config/load-text.ts';

const FRIEND = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const dca = (name: string, more = ''): string =>
  `  - { use: dca, name: ${name}, budget: "50 USDC", params: { buy: SOL, spend: "5 USDC", every: 1h }${more} }\n`;

it('the options of swaps are told for each strategy with a budget', async () => {
  const config = await configOf(`signer:
  max_tip: "0.0001 SOL"
  destinations: [${FRIEND}]
  fee_accounts: { ${FRIEND}: 60 }
swap: { route: order, exclude_routers: [rfqz], tip: "0.00002 SOL", broadcast_fee: max_cap, receiver: ${FRIEND} }
strategies:
${dca('shared')}${dca('own', ', swap: { route: build, max_accounts: 40, wrap_sol: false, exclude_exchanges: [Lagoon] }')
  }${dca('quick', ', swap: { route: order, mode: automatic }')}`);
  expect(describeSwaps(config)).toEqual([
    `shared: route order, manual, routers without rfqz, tip 0.00002 SOL, fees are limits, entries go to ${FRIEND}`,
    'own: route build, manual, at most 40 accounts, SOL stays wrapped, exchanges without Lagoon',
    'quick: route order, automatic slippage and routing',
  ]);
  expect(describeSimulated(config)).toHaveLength(2);
  expect(describeSigner(config.signer, config.tokens).slice(-2)).toEqual([
    'priority of a swap up to 0.001 SOL, tips up to 0.0001 SOL', `fees of your own up to 60 bps to ${FRIEND}`,
  ]);
});

it('nothing is told of paper and backtests where no option is set', async () => {
  const config = await configOf(`strategies:\n${dca('plain')}`);
  expect(describeSwaps(config)).toEqual(['plain: the route that it proposes, manual']);
  expect(describeSimulated(config)).toEqual([]);
});
