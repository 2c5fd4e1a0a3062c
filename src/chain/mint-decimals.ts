import { GannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { readMint, type AccountData } from '../solana/accounts.ts';

/**
 * Returns the decimals in a mint account of either token program. Throws MINT_INVALID on any other account. A start
 * needs them at once, so they are read without the packages.
 */
export function readMintDecimals(mint: Mint, account: AccountData): number {
  const state = readMint(account);
  if (state === undefined) throw notAMint(mint, account.owner);
  return state.decimals;
}

/** Returns the fault of an account that is no mint. */
export function notAMint(mint: Mint, owner: string): GannetError {
  const message = `${mint} is an account of ${owner}, but no mint of a token program`;
  return new GannetError('MINT_INVALID', message, { details: { mint, owner } });
}
