import { expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { BASE_FEE, landSimulated } from '../../src/trading/simulation-model.ts';
import type { SwapTerms } from '../../src/trading/swap-terms.ts';
import { approve, buy, stateWith } from './states.ts';

const intent = approve(stateWith(), buy());
const accepted: SwapTerms = {
  inputMint: intent.inputMint, outputMint: intent.outputMint, inAmount: intent.amountIn,
  outAmount: 1_000_000n as Amount, threshold: 995_000n as Amount, priceImpact: 0, feeBps: 0, router: 'iris',
};
const land = (
  outAmount: bigint, setting: 'optimistic' | 'base' | 'pessimistic' = 'base',
): ReturnType<typeof landSimulated> =>
  landSimulated({ intent, accepted, outAmount: outAmount as Amount, setting, feeLamports: BASE_FEE });

it('a simulated swap fills at the price on arrival, down to the last unit within the slippage', () => {
  expect(land(1_000_500n))
    .toMatchObject({ state: 'confirmed', quotedOut: 1_000_000n, fill: { amountOut: 1_000_500n, feeLamports: 5_000n } });
  expect(land(995_000n))
    .toMatchObject({ state: 'confirmed', fill: { amountIn: intent.amountIn, amountOut: 995_000n } });
});

it('a simulated swap fails with 6001 one unit below, or without a buyer, and costs its fee', () => {
  for (const outAmount of [994_999n, 0n]) {
    expect(land(outAmount)).toMatchObject({ state: 'failed', code: '6001', feeLamports: 5_000n });
    expect(land(outAmount).fill).toBeUndefined();
  }
});

it('the pessimistic setting fills at the least that the slippage allows', () => {
  expect(land(1_000_500n, 'pessimistic').fill!.amountOut).toBe(995_000n);
  expect(land(994_999n, 'pessimistic').state).toBe('failed');
});
