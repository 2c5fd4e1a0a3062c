import { describe, expect, it } from 'vitest';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { readLanded } from '../../src/execution/landed-fill.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Attempt, LandedSwap } from '../../src/trading/attempt.ts';
import type { Intent } from '../../src/trading/intent.ts';

const FISH = 'FishFishFishFishFishFishFishFishFishFishFish' as Mint;
const ERROR = { code: '6001', message: 'it failed' };
const IN = 20_000_000n;
const LEAST = 5_000_000n;

/** Reads a swap of one mint for another, of which the node says so much. */
function read({ inputMint = USDC_MINT, outputMint = FISH, ...said }: {
  inputMint?: Mint; outputMint?: Mint; status?: typeof ERROR; error?: typeof ERROR; amountIn?: bigint;
  amountOut?: bigint;
}): Promise<LandedSwap | undefined> {
  const intent: Intent = {
    id: 'diver-1', strategy: 'diver', createdAt: 0, purpose: 'entry', inputMint, outputMint, amountIn: IN as Amount,
    maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route: 'order', reason: 'a test',
  };
  const attempt: Attempt = {
    intentId: 'diver-1', number: 1, route: 'order', router: 'iris', quotedOut: (LEAST + 20_000n) as Amount,
    threshold: LEAST as Amount, signature: 'ours', transactionId: 'ours', messageHash: '00', blockhash: 'hash',
    lastValidBlockHeight: 1_150n, feePayer: 'us', signedTransaction: new Uint8Array(1),
  };
  const landed: LandedSwap = {
    signature: 'ours', slot: 9n, error: said.error, feeLamports: 5_000n as Lamports, rentLamports: 0n as Lamports,
    amountIn: (said.amountIn ?? IN) as Amount, amountOut: (said.amountOut ?? LEAST) as Amount,
  };
  const status = { slot: 9n, confirmation: 'finalized', error: said.status } as const;
  return readLanded(
    { chain: { landedSwap: async () => landed }, owner: 'us' }, { intent, attempt, signature: 'ours', status },
  );
}

describe('the effect of a landed attempt', () => {
  it.each([
    ['a status of success and a transaction that failed', { error: ERROR, amountIn: 0n, amountOut: 0n }],
    ['a status of failure and a transaction that succeeded', { status: ERROR }],
    ['a success that took nothing', { amountIn: 0n, amountOut: 0n }],
    ['a success that took nothing, of SOL', { inputMint: SOL_MINT, amountIn: 0n }],
    ['a success that brought nothing', { amountOut: 0n }],
    ['one that took more than was to be swapped', { amountIn: IN + 1n }],
    ['one that took far more SOL than was to be swapped', { inputMint: SOL_MINT, amountIn: IN + 10_000_001n }],
    ['one that brought far less than it must', { amountOut: LEAST / 2n - 1n }],
    ['one that brought far more than was quoted (issue 13.34)', { amountOut: LEAST * 5n }],
  ])('is not told by %s', async (_what, said) => {
    await expect(read(said)).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
  });

  it.each([
    ['a swap as quoted', {}],
    ['a failure that both tell of', { status: ERROR, error: ERROR, amountIn: 0n, amountOut: 0n }],
    ['a swap of less, whose rest came back', { amountIn: IN / 2n }],
    ['more than was promised', { amountOut: LEAST * 3n }],
    [
      'SOL with a tip and a deposit that went back to its lender',
      { inputMint: SOL_MINT, amountIn: IN + 2_039_280n + 70_000n },
    ],
    ['SOL of which a deposit went back to its lender', { outputMint: SOL_MINT, amountOut: LEAST - 2_039_280n }],
    ['a token whose issuer keeps a share of each transfer', { amountOut: LEAST - LEAST / 10n }],
  ])('is read of %s', async (_what, said) => {
    expect(await read(said)).toMatchObject({ signature: 'ours' });
  });
});
