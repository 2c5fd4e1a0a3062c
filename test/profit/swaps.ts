import type { Amount, Lamports } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import type { FillValues, SettledSwap } from '../../src/store/fill-records.ts';
import { USDC } from '../market/tokens.ts';

export const START = Date.UTC(2026, 10, 23, 12);

let number = 0;

interface SwapOf {
  readonly from: Mint;
  readonly to: Mint;
  readonly pays: bigint;
  readonly gets: bigint;
  readonly at?: number;
  readonly strategy?: string;
  readonly fee?: bigint;
  readonly rent?: bigint;
  readonly reason?: string;
  readonly receiver?: string;
  readonly values?: Partial<FillValues>;
}

/** Returns a landed swap; each comes after the one before in the journal. */
export function swapOf({
  from, to, pays, gets, at = START, strategy = 'dip', fee = 0n, rent = 0n, reason = 'a test', receiver, values,
}: SwapOf): SettledSwap {
  number += 1;
  return {
    number, at, intentId: `${strategy}-${number}`, strategy, purpose: to === USDC.mint ? 'exit' : 'entry', reason,
    inputMint: from, outputMint: to, feeLamports: fee as Lamports, signature: `signature${number}`,
    fill: {
      inputMint: from, outputMint: to, amountIn: pays as Amount, amountOut: gets as Amount,
      feeLamports: fee as Lamports, rentLamports: rent as Lamports, ...(receiver === undefined ? {} : { receiver }),
    },
    values: {
      isManual: false, currency: USDC.mint, feeValue: undefined, input: undefined, output: undefined, feeUsd: undefined,
      ...values,
    },
  };
}

/** Returns a swap that failed and cost a fee. */
export function failureOf(fee: bigint, values?: Partial<FillValues>): SettledSwap {
  return { ...swapOf({ from: USDC.mint, to: USDC.mint, pays: 1n, gets: 1n, fee, ...(values ? { values } : {}) }),
    fill: undefined };
}
