import type { Lamports } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';

/** The deposit of a token account of 165 bytes, and of the 170 that the newer token program needs: (bytes + 128) × 6,960. */
const DEPOSIT = 2_039_280n as Lamports;
const NEWER_DEPOSIT = 2_074_080n as Lamports;
const NONE = 0n as Lamports;

/** The wallet's token accounts, with what was laid down for those that it opened. */
export interface TokenAccounts {
  /** Returns what opening an account of a mint lays down now; 0 where there is one, or none is needed. */
  depositFor(mint: Mint): Lamports;
  /** Opens an account unless there is one, and returns what was laid down. */
  open(mint: Mint): Lamports;
  /** Closes an account and returns what comes back: what was laid down, 0 for one that was there from the beginning. */
  close(mint: Mint): Lamports;
  /** What was laid down and has not come back. */
  lockedLamports(): Lamports;
}

/** Returns the accounts of a wallet that has those of `existing` mints; `newer` are mints of the newer token program. */
export function createTokenAccounts(existing: Iterable<Mint>, newer: (mint: Mint) => boolean): TokenAccounts {
  // Native SOL needs none: a swap wraps it in an account that is gone when it is over.
  const accounts = new Map<Mint, Lamports>([...existing, SOL_MINT].map((mint) => [mint, NONE]));
  const depositFor = (mint: Mint): Lamports => (accounts.has(mint) ? NONE : newer(mint) ? NEWER_DEPOSIT : DEPOSIT);
  return {
    depositFor,
    open(mint) {
      const deposit = depositFor(mint);
      if (deposit > 0n) accounts.set(mint, deposit);
      return deposit;
    },
    close(mint) {
      const deposit = accounts.get(mint) ?? NONE;
      if (mint !== SOL_MINT) accounts.delete(mint);
      return deposit;
    },
    lockedLamports: () => [...accounts.values()].reduce((sum, deposit) => sum + deposit, 0n) as Lamports,
  };
}
