import type { Lamports } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import { GannetError } from '../core/errors.ts';
import { createAddressDecoder } from './addresses.ts';
import { CLOSES_PER_TRANSACTION, closeInstructions, type OwnedTokenAccount } from './close-accounts.ts';
import type { Simulation } from './compose.ts';
import { MAX_COMPUTE_UNITS, computeBudget, priorityFee, unitLimitFor } from './compute-budget.ts';
import { compileTransaction } from './message-compiler.ts';

/** An unsigned transaction that closes accounts. */
export interface ClosingTransaction {
  readonly transaction: Uint8Array;
  readonly blockhash: string;
  /** The last block in which it can land. */
  readonly lastValidBlockHeight: bigint;
  /** What it costs, wherever it lands: one signature and its priority. */
  readonly feeLamports: Lamports;
}

/** An account that the program would not close now, with what it says. */
export interface RefusedClosing<Account extends OwnedTokenAccount = OwnedTokenAccount> {
  readonly account: Account;
  readonly code: string;
  readonly message: string;
}

/** One transaction's worth of closings. */
export interface ComposedClosing<Account extends OwnedTokenAccount = OwnedTokenAccount> {
  /** What `composed` closes. */
  readonly accounts: readonly Account[];
  /** Undefined where every account is refused. */
  readonly composed: ClosingTransaction | undefined;
  readonly refused: readonly RefusedClosing<Account>[];
}

/** Composes the closing of at most 15 accounts of a wallet, all to itself. Throws CHAIN_SIMULATION_FAILED where they close one by one, but not together. */
export type ClosingComposer = <Account extends OwnedTokenAccount>(owner: string, accounts: readonly Account[]) => Promise<ComposedClosing<Account>>;

const SIGNATURE_LAMPORTS = 5_000n;
/** Micro-lamports a unit: nobody waits for it, and the whole comes to some thousand lamports at the very most. */
const UNIT_PRICE = 20_000n;

/** Returns a composer: blockhash and limit on compute units are its own, the limit by simulation; whatever its program would not close is left out. */
export function createClosingComposer({ simulate, latestBlockhash }: {
  /** Runs an unsigned transaction without landing it, whatever its blockhash. */
  readonly simulate: (transaction: Uint8Array) => Promise<Simulation>;
  readonly latestBlockhash: () => Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }>;
}): ClosingComposer {
  const decode = createAddressDecoder();

  return async (owner, accounts) => {
    assert(accounts.length > 0 && accounts.length <= CLOSES_PER_TRANSACTION, `1 to ${CLOSES_PER_TRANSACTION} accounts fit`);
    const { blockhash, lastValidBlockHeight } = await latestBlockhash();
    const compile = (some: typeof accounts, unitLimit: number): Uint8Array => compileTransaction({
      payer: owner, blockhash, instructions: [...computeBudget({ price: UNIT_PRICE, unitLimit }), ...closeInstructions(owner, some)], lookupTables: {},
    }, decode);
    const tried = (some: typeof accounts): Promise<Simulation> => simulate(compile(some, MAX_COMPUTE_UNITS));
    const finished = (some: typeof accounts, { unitsConsumed }: Simulation): ClosingTransaction => {
      const unitLimit = unitLimitFor(unitsConsumed);
      return {
        transaction: compile(some, unitLimit), blockhash, lastValidBlockHeight,
        feeLamports: (SIGNATURE_LAMPORTS + priorityFee({ price: UNIT_PRICE, unitLimit })) as Lamports,
      };
    };

    const together = await tried(accounts);
    if (together.error === undefined) return { accounts, composed: finished(accounts, together), refused: [] };
    const alone = await Promise.all(accounts.map(async (account) => ({ account, error: (await tried([account])).error })));
    const refused = alone.flatMap(({ account, error }) => (error === undefined ? [] : [{ account, ...error }]));
    const rest = alone.flatMap(({ account, error }) => (error === undefined ? [account] : []));
    if (rest.length === 0) return { accounts: [], composed: undefined, refused };
    const again = refused.length === 0 ? together : await tried(rest);
    if (again.error !== undefined) {
      throw new GannetError('CHAIN_SIMULATION_FAILED', `${rest.length} accounts close one by one, but not together: ${again.error.message}`, { details: { code: again.error.code } });
    }
    return { accounts: rest, composed: finished(rest, again), refused };
  };
}
