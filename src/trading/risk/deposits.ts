import type { Lamports } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { EngineState } from '../state.ts';
import type { SwapWish } from './swap-wish.ts';

/** The deposit of a token account, that of the newer token program, which is the dearer one. */
const ACCOUNT_DEPOSIT = 2_074_080n;

/**
 * Returns what the wallet may have to lay down for token accounts: one for each token that is on its way, or wished
 * for, and of which it has nothing. An account that is there and empty is not known of here: then it is too much, never
 * too little.
 */
export function depositsAhead(state: EngineState, { outputMint }: Pick<SwapWish, 'outputMint'>): Lamports {
  const opened = new Set<Mint>();
  const note = (mint: Mint): void => { if (mint !== SOL_MINT && !state.portfolio.wallet.has(mint)) opened.add(mint); };
  note(outputMint);
  for (const { intent } of state.intents.values()) note(intent.outputMint);
  return (BigInt(opened.size) * ACCOUNT_DEPOSIT) as Lamports;
}
