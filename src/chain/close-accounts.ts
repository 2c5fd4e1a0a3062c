import type { Amount, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { SwapInstruction } from '../trading/swap-terms.ts';
import { assert } from '../core/assert.ts';
import { GannetError } from '../core/errors.ts';
import { LAMPORTS_PER_SIGNATURE, MAX_COMPUTE_UNITS } from '../solana/constants.ts';
import type { Simulation } from './compose.ts';
import { computeBudget, priorityFee, unitLimitFor } from './compose.ts';
import { createTransactionCompiler } from './compile-transaction.ts';

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

const CLOSE_ACCOUNT = 9;
/** This many fit into one packet with room to spare. */
export const CLOSES_PER_TRANSACTION = 15;
/** Micro-lamports a unit: a closing is not urgent, and this comes to some thousand lamports at most. */
const UNIT_PRICE = 20_000n;

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

/** Returns the instructions that close accounts of a wallet to itself. */
function closeInstructions(owner: string, accounts: readonly OwnedTokenAccount[]): SwapInstruction[] {
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

/**
 * Returns a composer that takes a recent blockhash, sets the limit on compute units by simulation, and leaves out the
 * accounts that their program would not close.
 */
export function createClosingComposer({ simulate, latestBlockhash }: {
  /** Runs an unsigned transaction without landing it, whatever its blockhash. */
  readonly simulate: (transaction: Uint8Array) => Promise<Simulation>;
  readonly latestBlockhash: () => Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }>;
}): ClosingComposer {
  const compileParts = createTransactionCompiler();

  return async (owner, accounts) => {
    assert(
      accounts.length > 0 && accounts.length <= CLOSES_PER_TRANSACTION, `1 to ${CLOSES_PER_TRANSACTION} accounts fit`,
    );
    const { blockhash, lastValidBlockHeight } = await latestBlockhash();
    const compile = (some: typeof accounts, unitLimit: number): Uint8Array => compileParts({
      payer: owner, blockhash, lookupTables: {},
      instructions: [...computeBudget({ price: UNIT_PRICE, unitLimit }), ...closeInstructions(owner, some)],
    });
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
