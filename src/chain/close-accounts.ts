import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { SwapInstruction } from '../trading/swap-order.ts';

/** A token account of a wallet. */
export interface OwnedTokenAccount {
  readonly address: string;
  readonly mint: Mint;
  readonly amount: bigint;
  readonly tokenProgram: string;
  /** The deposit that closing gives back; of wrapped SOL what is in it too. */
  readonly lamports: bigint;
}

const CLOSE_ACCOUNT = 9;
/** So many fit into one packet with room to spare. */
const CLOSES_PER_TRANSACTION = 15;

/** Returns the accounts that can be closed without losing anything: empty ones, and wrapped SOL, which becomes SOL, only where it is asked for. */
export function closableAccounts(accounts: readonly OwnedTokenAccount[], { unwrap }: { readonly unwrap: boolean }): OwnedTokenAccount[] {
  return accounts.filter(({ mint, amount }) => amount === 0n || (unwrap && mint === SOL_MINT));
}

/** Returns the instructions that close accounts of a wallet to itself, as many a transaction as fit. */
export function closeInstructions(owner: string, accounts: readonly OwnedTokenAccount[]): SwapInstruction[][] {
  const instructions = accounts.map(({ address, tokenProgram }): SwapInstruction => ({
    programId: tokenProgram,
    accounts: [
      { pubkey: address, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
    data: Uint8Array.of(CLOSE_ACCOUNT),
  }));
  return Array.from({ length: Math.ceil(instructions.length / CLOSES_PER_TRANSACTION) }, (_, batch) =>
    instructions.slice(batch * CLOSES_PER_TRANSACTION, (batch + 1) * CLOSES_PER_TRANSACTION));
}
