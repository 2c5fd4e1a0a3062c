import type { Chain } from '../chain/chain.ts';
import type { OwnedTokenAccount } from '../chain/close-accounts.ts';
import { CLOSES_PER_TRANSACTION } from '../chain/close-accounts.ts';
import type { ClosingTransaction } from '../chain/compose-closing.ts';
import type { Lamports } from '../core/amount.ts';
import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import type { TransactionEnd } from '../execution/land-transaction.ts';
import { landTransaction } from '../execution/land-transaction.ts';
import type { SignedTransaction } from '../execution/ports.ts';

/** What became of the closing of one account. `unknown`: it was sent, and may land yet. `left`: it was not begun. */
export type ClosingState = 'closed' | 'refused' | 'failed' | 'expired' | 'unknown' | 'left';

/** One account that was to be closed. */
export interface ClosingReport<Account extends OwnedTokenAccount> {
  readonly account: Account;
  readonly state: ClosingState;
  /** What came back to the wallet's SOL: the account's lamports, wrapped ones too; 0 unless it is closed. */
  readonly backLamports: Lamports;
  /** Of the transaction that closes it; undefined where none was sent. */
  readonly signature: string | undefined;
  /** Why it is not closed. */
  readonly reason: string | undefined;
}

/** All that was done. */
export interface Closings<Account extends OwnedTokenAccount> {
  readonly reports: readonly ClosingReport<Account>[];
  /** Of the transactions that landed, whether they succeeded or not. */
  readonly feeLamports: Lamports;
}

export interface ClosingParts {
  readonly chain: Pick<Chain, 'composeClosing' | 'send' | 'signatureStatus' | 'finalizedBlockHeight' | 'isBlockhashValid'>;
  readonly signer: {
    /** Whose accounts they are. */
    readonly address: string;
    /** Throws SIGN_REFUSED. */
    closeAccounts(transaction: Uint8Array): Promise<SignedTransaction>;
  };
  readonly clock: Clock;
  /** Whether nobody waits any more. */
  readonly isOver: () => boolean;
  /** Hears of faults that are waited out. */
  readonly onTrouble: (fault: GannetError) => void;
}

/** An account and what became of it, its lamports apart. */
type Result<Account> = Pick<ClosingReport<OwnedTokenAccount>, 'state' | 'signature' | 'reason'> & { readonly account: Account };

/**
 * Closes accounts of a wallet to itself, at most 15 a transaction, one transaction after the other: each is composed,
 * signed, and followed to its end before the next is begun. Throws what composing throws before anything is sent;
 * after that what cannot be begun is `left`, with the reason.
 */
export async function closeAccounts<Account extends OwnedTokenAccount>(parts: ClosingParts, accounts: readonly Account[]): Promise<Closings<Account>> {
  const results: Result<Account>[] = [];
  let feeLamports = 0n;
  const leave = (some: readonly Account[], reason: string): void => {
    results.push(...some.map((account) => ({ account, state: 'left' as const, signature: undefined, reason })));
  };
  for (let at = 0; at < accounts.length; at += CLOSES_PER_TRANSACTION) {
    const batch = accounts.slice(at, at + CLOSES_PER_TRANSACTION);
    if (parts.isOver()) {
      leave(batch, 'interrupted before it was begun');
      continue;
    }
    try {
      const done = await closeBatch(parts, batch);
      results.push(...done.results);
      feeLamports += done.feeLamports;
    } catch (error) {
      if (!isGannetError(error) || results.length === 0) throw error;
      leave(accounts.slice(at), error.message);
      break;
    }
  }
  return {
    reports: results.map((result) => ({ ...result, backLamports: (result.state === 'closed' ? result.account.lamports : 0n) as Lamports })),
    feeLamports: feeLamports as Lamports,
  };
}

async function closeBatch<Account extends OwnedTokenAccount>(
  parts: ClosingParts, batch: readonly Account[],
): Promise<{ readonly results: readonly Result<Account>[]; readonly feeLamports: bigint }> {
  const { chain, signer } = parts;
  const { accounts, composed, refused } = await chain.composeClosing(signer.address, batch);
  const results: Result<Account>[] = refused.map(({ account, message }) => ({ account, state: 'refused', signature: undefined, reason: `the program would not close it: ${message}` }));
  if (composed === undefined) return { results, feeLamports: 0n };
  const { signature, end } = await signAndLand(parts, composed);
  const { state, reason } = told(end);
  results.push(...accounts.map((account) => ({ account, state, signature, reason })));
  return { results, feeLamports: end?.kind === 'landed' || end?.kind === 'failed' ? composed.feeLamports : 0n };
}

async function signAndLand(
  { chain, signer, clock, isOver, onTrouble }: ClosingParts, composed: ClosingTransaction,
): Promise<{ readonly signature: string; readonly end: TransactionEnd | undefined }> {
  const { transaction, signature } = await signer.closeAccounts(composed.transaction);
  const { blockhash, lastValidBlockHeight } = composed;
  return { signature, end: await landTransaction({ chain, clock }, { transaction, signature, blockhash, lastValidBlockHeight }, { isOver, onTrouble }) };
}

function told(end: TransactionEnd | undefined): Pick<ClosingReport<OwnedTokenAccount>, 'state' | 'reason'> {
  if (end === undefined) return { state: 'unknown', reason: 'interrupted while it was on its way: it may land yet, "gannet wallet" shows it' };
  switch (end.kind) {
    case 'landed': return { state: 'closed', reason: undefined };
    case 'failed': return { state: 'failed', reason: `it landed and failed: ${end.code}, ${end.message}` };
    case 'expired': return { state: 'expired', reason: end.message };
  }
}
