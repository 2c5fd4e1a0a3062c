import { USUAL_MAX_FEE_LAMPORTS, type Expectation } from './expectation.ts';
import { decodeAll, type PolicyTools } from './policy.ts';
import { resolveTransaction, type LookupTables } from './resolve.ts';

/**
 * Returns what a transaction itself says of its swap, as an expectation for `wallet`: good for looking at one, no ground
 * to sign it, for it would fit whatever it says. Undefined where it swaps nothing that can be read.
 */
export function inferExpectation(bytes: Uint8Array, wallet: string, { tables, tools }: { readonly tables: LookupTables; readonly tools: PolicyTools }): Expectation | undefined {
  const resolved = resolveTransaction(bytes, { tables, addresses: tools.addresses });
  if ('finding' in resolved) return undefined;
  const decoded = decodeAll(resolved.transaction, tools);
  const swap = decoded.find((instruction) => instruction.kind === 'swap');
  if (swap === undefined) return undefined;
  const { inputMint, outputMint, source } = swap;
  // What an account holds only the chain knows.
  if (inputMint === undefined) return undefined;
  const fees = decoded.reduce((sum, instruction) =>
    (instruction.kind === 'transfer-tokens' && instruction.source === source ? sum + instruction.amount : sum), 0n);
  return {
    wallet, inputMint, outputMint, amountIn: swap.amountIn + fees, minimumOut: swap.minimumOut,
    maxFeeLamports: USUAL_MAX_FEE_LAMPORTS, route: 'order',
  };
}
