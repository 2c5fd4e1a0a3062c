import type { Amount, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { SwapInstruction } from '../trading/swap-order.ts';

/** A token account of a wallet, as far as closing it goes. */
export interface OwnedTokenAccount {
  readonly address: string;
  readonly mint: Mint;
  readonly amount: Amount;
  readonly tokenProgram: string;
  /** What closing gives back: the deposit, and of wrapped SOL what is in it too. */
  readonly lamports: Lamports;
  /** Who alone may close it, where that is not its owner. */
  readonly closeAuthority: string | undefined;
  /** Fees of transfers into it that wait here for the mint's issuer; the program closes none that has some. */
  readonly withheldFee: Amount;
}

/** An empty account that cannot be closed. */
export interface KeptAccount<Account extends OwnedTokenAccount = OwnedTokenAccount> {
  readonly account: Account;
  readonly reason: string;
}

const CLOSE_ACCOUNT = 9;
/** So many fit into one packet with room to spare. */
export const CLOSES_PER_TRANSACTION = 15;

/**
 * Returns the accounts of a wallet that can be closed without losing anything: empty ones, and wrapped SOL, which becomes
 * SOL, only where it is asked for; and the empty ones that their program would not let the wallet close.
 */
export function closableAccounts<Account extends OwnedTokenAccount>(
  accounts: readonly Account[], { owner, unwrap }: { readonly owner: string; readonly unwrap: boolean },
): { readonly closable: readonly Account[]; readonly kept: readonly KeptAccount<Account>[] } {
  const harmless = accounts.filter(({ mint, amount }) => amount === 0n || (unwrap && mint === SOL_MINT));
  const judged = harmless.map((account) => ({ account, reason: obstacleTo(account, owner) }));
  return {
    closable: judged.flatMap(({ account, reason }) => (reason === undefined ? [account] : [])),
    kept: judged.flatMap(({ account, reason }) => (reason === undefined ? [] : [{ account, reason }])),
  };
}

function obstacleTo({ closeAuthority, withheldFee }: OwnedTokenAccount, owner: string): string | undefined {
  if (withheldFee > 0n) return `${withheldFee} units of transfer fees wait in it for the token's issuer, who has to collect them first`;
  if (closeAuthority !== undefined && closeAuthority !== owner) return `only ${closeAuthority} may close it`;
  return undefined;
}

/** Returns the deposit of an account: what closing gives back, without what is wrapped in it. */
export function depositOf({ mint, amount, lamports }: OwnedTokenAccount): Lamports {
  return (mint === SOL_MINT ? lamports - amount : lamports) as Lamports;
}

/** Returns the instructions that close accounts of a wallet to itself. */
export function closeInstructions(owner: string, accounts: readonly OwnedTokenAccount[]): SwapInstruction[] {
  return accounts.map(({ address, tokenProgram }) => ({
    programId: tokenProgram,
    accounts: [
      { pubkey: address, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
    data: Uint8Array.of(CLOSE_ACCOUNT),
  }));
}
