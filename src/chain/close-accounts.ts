import type { Amount, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';

/** The parts of a wallet's token account that decide whether it can be closed. */
export interface OwnedTokenAccount {
  readonly address: string;
  readonly mint: Mint;
  readonly amount: Amount;
  readonly tokenProgram: string;
  /** Closing returns these: the deposit, and the wrapped SOL in it. */
  readonly lamports: Lamports;
  /** The only account that may close it; undefined for its owner. */
  readonly closeAuthority: string | undefined;
  /** Transfer fees that wait here for the mint's issuer; the program closes no account that holds some. */
  readonly withheldFee: Amount;
}

/** An empty account that cannot be closed. */
export interface KeptAccount<Account extends OwnedTokenAccount = OwnedTokenAccount> {
  readonly account: Account;
  readonly reason: string;
}

/** This many fit into one packet with room to spare. */
export const CLOSES_PER_TRANSACTION = 15;

/**
 * Returns the accounts of a wallet that can be closed without loss: empty ones and, with `unwrap`, wrapped SOL, which
 * becomes SOL. Returns separately the empty ones that their program would not let the wallet close.
 */
export function closableAccounts<Account extends OwnedTokenAccount>(
  accounts: readonly Account[], { owner, unwrap }: { readonly owner: string; readonly unwrap: boolean },
): { readonly closable: readonly Account[]; readonly kept: readonly KeptAccount<Account>[] } {
  const lossless = accounts.filter(({ mint, amount }) => amount === 0n || (unwrap && mint === SOL_MINT));
  const judged = lossless.map((account) => ({ account, reason: closingObstacle(account, owner) }));
  return {
    closable: judged.flatMap(({ account, reason }) => (reason === undefined ? [account] : [])),
    kept: judged.flatMap(({ account, reason }) => (reason === undefined ? [] : [{ account, reason }])),
  };
}

function closingObstacle({ closeAuthority, withheldFee }: OwnedTokenAccount, owner: string): string | undefined {
  if (withheldFee > 0n)
    return `${withheldFee} units of transfer fees wait in it for the token's issuer, who has to collect them first`;
  if (closeAuthority !== undefined && closeAuthority !== owner) return `only ${closeAuthority} may close it`;
  return undefined;
}

/** Returns the deposit of an account: the lamports that closing returns, without wrapped SOL. */
export function depositOf({ mint, amount, lamports }: OwnedTokenAccount): Lamports {
  return (mint === SOL_MINT ? lamports - amount : lamports) as Lamports;
}
