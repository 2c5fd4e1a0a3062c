import { expect, it } from 'vitest';
import { PageHistory } from '../../../src/daemon/page/page-history.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { temporaryHistory } from '../../store/fixtures.ts';
import { stateWith } from '../../trading/states.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

it('shows no price from the future after the clock was set back', () => {
  const { history } = temporaryHistory();
  const price = { input: SOL.mint, output: USDC.mint, amountIn: 10n ** 9n, amountOut: 150_000_000n };
  for (const minutes of [0, 1, 2]) history.add({ at: START + minutes * MINUTE, equity: [], prices: [price] });
  const journal = { listIntents: () => [], showIntent: () => undefined };
  const page = new PageHistory({ state: stateWith(), history, journal });
  const pair = { name: 'SOL/USDC', base: SOL.mint, quote: USDC.mint };
  expect(page.spark(pair, 0, START + 3 * MINUTE, null)).toHaveLength(3);
  expect(page.spark(pair, 0, START + 1.5 * MINUTE, null)).toHaveLength(2);
});
