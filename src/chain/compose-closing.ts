import { createCloseAccountInstruction } from '@solana/spl-token';
import type { TransactionInstruction } from '@solana/web3.js';
import type { Lamports } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import { GannetError } from '../core/errors.ts';
import { LAMPORTS_PER_SIGNATURE, MAX_COMPUTE_UNITS } from '../solana/constants.ts';
import { CLOSES_PER_TRANSACTION, type OwnedTokenAccount } from './close-accounts.ts';
import { compileMessage, keyOf, unsignedBytes } from './compile-transaction.ts';
import type { Simulation } from './compose.ts';
import { computeBudget, priorityFee, unitLimitFor } from './compose.ts';

/** An unsigned transaction that closes accounts. */
export interface ClosingTransaction {
  readonly transaction: Uint8Array;
  readonly blockhash: string;
  /** The last block in which it can land. */
  readonly lastValidBlockHeight: bigint;
  /** For one signature and the priority. */
  readonly feeLamports: Lamports;
}

/** An account that the program would not close now, with its error. */
interface RefusedClosing<Account extends OwnedTokenAccount = OwnedTokenAccount> {
  readonly account: Account;
  readonly code: string;
  readonly message: string;
}

/** The closings of one transaction. */
interface ComposedClosing<Account extends OwnedTokenAccount = OwnedTokenAccount> {
  /** The accounts that `composed` closes. */
  readonly accounts: readonly Account[];
  /** Undefined where every account is refused. */
  readonly composed: ClosingTransaction | undefined;
  readonly refused: readonly RefusedClosing<Account>[];
}

/**
 * Composes the closing of at most 15 accounts of a wallet, all to itself. Throws CHAIN_SIMULATION_FAILED where they
 * close one by one, but not together.
 */
export type ClosingComposer = <Account extends OwnedTokenAccount>(owner: string, accounts: readonly Account[]) =>
  Promise<ComposedClosing<Account>>;

/** Micro-lamports a unit: a closing is not urgent, and this comes to some thousand lamports at most. */
const UNIT_PRICE = 20_000n;

/** Returns the instructions that close accounts of a wallet to itself; wrapped SOL becomes SOL by that. */
function closeInstructions(owner: string, accounts: readonly OwnedTokenAccount[]): TransactionInstruction[] {
  const wallet = keyOf(owner);
  return accounts.map(({ address, tokenProgram }) =>
    createCloseAccountInstruction(keyOf(address), wallet, wallet, [], keyOf(tokenProgram)));
}

/**
 * Returns a composer that takes a recent blockhash, sets the limit on compute units by simulation, and leaves out the
 * accounts that their program would not close.
 */
export function createClosingComposer({ simulate, latestBlockhash }: {
  /** Runs an unsigned transaction without landing it, whatever its blockhash. */
  readonly simulate: (transaction: Uint8Array) => Promise<Simulation>;
  readonly latestBlockhash: () => Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }>;
}): ClosingComposer {
  return async (owner, accounts) => {
    assert(
      accounts.length > 0 && accounts.length <= CLOSES_PER_TRANSACTION, `1 to ${CLOSES_PER_TRANSACTION} accounts fit`,
    );
    const { blockhash, lastValidBlockHeight } = await latestBlockhash();
    const compile = (some: typeof accounts, unitLimit: number): Uint8Array => unsignedBytes(compileMessage({
      payer: owner, blockhash, lookupTables: {},
      instructions: [...computeBudget({ price: UNIT_PRICE, unitLimit }), ...closeInstructions(owner, some)],
    }));
    const simulated = (some: typeof accounts): Promise<Simulation> => simulate(compile(some, MAX_COMPUTE_UNITS));
    const composedOf = (some: typeof accounts, { unitsConsumed }: Simulation): ClosingTransaction => {
      const unitLimit = unitLimitFor(unitsConsumed);
      return {
        transaction: compile(some, unitLimit), blockhash, lastValidBlockHeight,
        feeLamports: (LAMPORTS_PER_SIGNATURE + priorityFee({ price: UNIT_PRICE, unitLimit })) as Lamports,
      };
    };

    const together = await simulated(accounts);
    if (together.error === undefined) return { accounts, composed: composedOf(accounts, together), refused: [] };
    const alone = await Promise.all(accounts.map(async (account) =>
      ({ account, error: (await simulated([account])).error })));
    const refused = alone.flatMap(({ account, error }) => (error === undefined ? [] : [{ account, ...error }]));
    const rest = alone.flatMap(({ account, error }) => (error === undefined ? [account] : []));
    if (rest.length === 0) return { accounts: [], composed: undefined, refused };
    const again = refused.length === 0 ? together : await simulated(rest);
    if (again.error !== undefined) {
      throw new GannetError(
        'CHAIN_SIMULATION_FAILED', `${rest.length} accounts close one by one, but not together: ${again.error.message}`,
        { details: { code: again.error.code } },
      );
    }
    return { accounts: rest, composed: composedOf(rest, again), refused };
  };
}
