import type { Chain } from '../../chain/chain.ts';
import { CLOSES_PER_TRANSACTION, type OwnedTokenAccount } from '../../chain/close-accounts.ts';
import type { ClosingTransaction } from '../../chain/compose-closing.ts';
import type { Lamports } from '../../core/amount.ts';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { TransactionEnd } from '../../execution/land-transaction.ts';
import { landTransaction } from '../../execution/land-transaction.ts';
import type { SignedTransaction } from '../../execution/ports.ts';

/** The result for one account. `unknown`: the transaction was sent and may still land. `left`: not started. */
export type ClosingState = 'closed' | 'refused' | 'failed' | 'expired' | 'unknown' | 'left';

/** The closing of one account. */
interface ClosingReport<Account extends OwnedTokenAccount> {
  readonly account: Account;
  readonly state: ClosingState;
  /** Lamports that came back to the wallet, wrapped SOL included; 0 unless closed. */
  readonly backLamports: Lamports;
  /** The signature of the closing transaction; undefined where none was sent. */
  readonly signature: string | undefined;
  /** Why the account is not closed. */
  readonly reason: string | undefined;
}

/** The result of closing several accounts. */
interface Closings<Account extends OwnedTokenAccount> {
  readonly reports: readonly ClosingReport<Account>[];
  /** The fees of landed transactions, failed ones included. */
  readonly feeLamports: Lamports;
}

interface ClosingParts {
  readonly chain: Pick<
    Chain, 'composeClosing' | 'send' | 'signatureStatus' | 'finalizedBlockHeight' | 'isBlockhashValid'
  > & Partial<Pick<Chain, 'transactionHints$'>>;
  readonly signer: {
    /** The owner of the accounts. */
    readonly address: string;
    /** Throws SIGN_REFUSED. */
    closeAccounts(transaction: Uint8Array): Promise<SignedTransaction>;
  };
  readonly clock: Clock;
  /** Whether the caller has stopped waiting. */
  readonly isCancelled: () => boolean;
  /** Called for temporary faults. */
  readonly onFault: (fault: GannetError) => void;
}

/** The result for one account, without its lamports. */
type Result<Account> = Pick<ClosingReport<OwnedTokenAccount>, 'state' | 'signature' | 'reason'>
  & { readonly account: Account };

/**
 * Closes token accounts of a wallet, at most 15 in a transaction. Each transaction is followed to its end before the
 * next starts. Throws the errors of composing before anything is sent; later ones leave the rest `left`, with the
 * reason.
 */
export async function closeAccounts<Account extends OwnedTokenAccount>(
  parts: ClosingParts, accounts: readonly Account[],
): Promise<Closings<Account>> {
  const results: Result<Account>[] = [];
  let feeLamports = 0n;
  const leave = (some: readonly Account[], reason: string): void => {
    results.push(...some.map((account) => ({ account, state: 'left' as const, signature: undefined, reason })));
  };
  for (let at = 0; at < accounts.length; at += CLOSES_PER_TRANSACTION) {
    const batch = accounts.slice(at, at + CLOSES_PER_TRANSACTION);
    if (parts.isCancelled()) {
      leave(batch, 'interrupted before it started');
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
    reports: results.map((result) =>
      ({ ...result, backLamports: (result.state === 'closed' ? result.account.lamports : 0n) as Lamports })),
    feeLamports: feeLamports as Lamports,
  };
}

async function closeBatch<Account extends OwnedTokenAccount>(
  parts: ClosingParts, batch: readonly Account[],
): Promise<{ readonly results: readonly Result<Account>[]; readonly feeLamports: bigint }> {
  const { chain, signer } = parts;
  const { accounts, composed, refused } = await chain.composeClosing(signer.address, batch);
  const results: Result<Account>[] = refused.map(({ account, message }) =>
    ({ account, state: 'refused', signature: undefined, reason: `the program would not close it: ${message}` }));
  if (composed === undefined) return { results, feeLamports: 0n };
  const { signature, end } = await signAndLand(parts, composed);
  const { state, reason } = stateOf(end);
  results.push(...accounts.map((account) => ({ account, state, signature, reason })));
  return { results, feeLamports: end?.kind === 'landed' || end?.kind === 'failed' ? composed.feeLamports : 0n };
}

async function signAndLand(
  { chain, signer, clock, isCancelled, onFault }: ClosingParts, composed: ClosingTransaction,
): Promise<{ readonly signature: string; readonly end: TransactionEnd | undefined }> {
  const { transaction, signature } = await signer.closeAccounts(composed.transaction);
  const { blockhash, lastValidBlockHeight } = composed;
  return { signature, end: await landTransaction(
    { chain, clock }, { transaction, signature, blockhash, lastValidBlockHeight }, { isCancelled, onFault },
  ) };
}

function stateOf(end: TransactionEnd | undefined): Pick<ClosingReport<OwnedTokenAccount>, 'state' | 'reason'> {
  if (end === undefined) return {
    state: 'unknown', reason: 'interrupted before the result was known: it may still land, "gannet wallet" shows it',
  };
  switch (end.kind) {
    case 'landed': return { state: 'closed', reason: undefined };
    case 'failed': return { state: 'failed', reason: `it landed and failed: ${end.code}, ${end.message}` };
    case 'expired': return { state: 'expired', reason: end.message };
  }
}
