import { amount } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { SwapRequest } from '../../src/trading/swap-terms.ts';

export const TAKER = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
export const PROGRAM = 'Prog1111111111111111111111111111111111111111';
export const SIGNATURE = '5'.repeat(87);

/** One SOL for dollars, without and with a wallet. */
export const ASKED: SwapRequest = { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: amount(1_000_000_000n) };
export const ASKED_BY_TAKER = { ...ASKED, taker: TAKER };

/** An answer of `/order` to `ASKED`. */
export function orderAnswer(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    mode: 'ultra', inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: '1000000000', outAmount: '150000000',
    otherAmountThreshold: '149250000', swapMode: 'ExactIn', slippageBps: 50, priceImpact: -0.001, feeBps: 2,
    router: 'iris', transaction: null, taker: null, requestId: 'r-1', surprise: { of: ['the', 'future'] },
    ...changes,
  };
}

/** An answer of `/order` to `ASKED_BY_TAKER`. */
export function takerAnswer(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return orderAnswer({
    taker: TAKER, transaction: Buffer.from([1, 2, 3, 4]).toString('base64'), lastValidBlockHeight: '321',
    signatureFeePayer: TAKER,
    ...changes,
  });
}

const INSTRUCTION =
  { programId: PROGRAM, accounts: [{ pubkey: TAKER, isSigner: true, isWritable: false }], data: 'AQID' };

/** An answer of `/build` to `ASKED_BY_TAKER`. */
export function buildAnswer(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: '1000000000', outAmount: '150000000',
    otherAmountThreshold: '149250000', swapMode: 'ExactIn', slippageBps: 50, routePlan: [],
    computeBudgetInstructions: [INSTRUCTION], setupInstructions: [INSTRUCTION, INSTRUCTION],
    swapInstruction: INSTRUCTION,
    cleanupInstruction: null, otherInstructions: null, addressesByLookupTableAddress: { [PROGRAM]: [TAKER, SOL_MINT] },
    blockhashWithMetadata: {
      blockhash: Array.from({ length: 32 }, (_, i) => i + 1), lastValidBlockHeight: 9_007_199_254,
    },
    ...changes,
  };
}

/** Returns the n-th of a row of different mints. */
export function mintNumber(n: number): Mint {
  const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  return `Mint${digits[Math.floor(n / digits.length)]}${digits[n % digits.length]}${'1'.repeat(38)}` as Mint;
}

/** An element of the token search's answer. */
export function tokenAnswer(id: string, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id, name: 'A token', symbol: 'TKN', decimals: 6, tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    usdPrice: 1.5, holderCount: 12, updatedAt: '2026-11-20T10:00:00.123456789Z', audit: { mintAuthorityDisabled: true },
    tags: ['verified'],
    stats5m: { priceChange: -2.5, buyVolume: 100 },
    ...changes,
  };
}
