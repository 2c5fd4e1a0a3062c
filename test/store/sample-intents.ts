import { asyncScheduler } from 'rxjs';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import type { Clock } from '../../src/core/time.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Attempt } from '../../src/trading/attempt.ts';
import type { Fill, Intent, Outcome } from '../../src/trading/intent.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';

/** The real clock. */
export const wallClock: Clock = asyncScheduler;

/** An intent of the strategy "dca". */
export function intentOf(number: number, options: Partial<Intent> = {}): Intent {
  return {
    id: `dca-${number}`, strategy: 'dca', createdAt: 1_790_000_000_000 + number, inputMint: USDC_MINT,
    outputMint: SOL_MINT, amountIn: 18_446_744_073_709_551_615n as Amount, purpose: 'entry', maxSlippageBps: 50 as Bps,
    maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route: 'order', reason: 'it is time', ...options,
  };
}

/** A signed transaction of an intent. */
export function attemptOf(intentId: string, options: Partial<Attempt> = {}): Attempt {
  return {
    intentId, number: 1, route: 'order', router: 'iris', quotedOut: 18_446_744_073_709_551_614n as Amount,
    threshold: 7n as Amount, signature: 'ourSignature', messageHash: 'ab'.repeat(32), blockhash: 'blockhash',
    lastValidBlockHeight: 9_007_199_254_740_993n,
    feePayer: 'payer', signedTransaction: Uint8Array.from({ length: 900 }, (_, index) => index % 256), ...options,
  };
}

export const FILL: Fill = {
  inputMint: USDC_MINT, outputMint: SOL_MINT, amountIn: 5n as Amount, amountOut: 18_446_744_073_709_551_613n as Amount,
  feeLamports: 5_000n as Lamports, rentLamports: 2_039_280n as Lamports,
};

/** A transition of an intent. */
export function outcomeOf(intentId: string, state: Outcome['state'], options: Partial<Outcome> = {}): Outcome {
  return { kind: 'outcome', intentId, attempt: 1, state, ...options };
}

export const SNAPSHOT: StateSnapshot = {
  wallet: { [SOL_MINT]: '1000000000' },
  books: { dca: { balances: { [USDC_MINT]: '500000000' }, feesLamports: '5000', swaps: 1 } },
  keys: ['dca:slot-1'], approvals: [1_790_000_000_001], trading: 'reduce-only', intentCounts: { dca: 1 },
};
