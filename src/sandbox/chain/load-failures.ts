import type { Address } from './addresses.ts';
import { SYSTEM_PROGRAM } from './addresses.ts';
import type { DecodedMessage } from './transaction-bytes.ts';
import type { TransactionError } from './transaction-error.ts';
import type { Account, Execution, SimulatedExecution, Vm } from './vm.ts';

const INVALID_PROGRAM = 'InvalidProgramForExecution';
const PROGRAM_MISSING = 'ProgramAccountNotFound';
const TOO_MUCH_DATA = 'MaxLoadedAccountsDataSizeExceeded';
const LOAD_FAILURES: ReadonlySet<unknown> = new Set([INVALID_PROGRAM, PROGRAM_MISSING, TOO_MUCH_DATA]);

/** Returns whether a transaction cannot run for what it loads; a node lands it and charges its fee (SIMD-0191). */
export function isLoadFailure(error: TransactionError | null): boolean {
  return LOAD_FAILURES.has(error);
}

/** Returns whether no block can hold a transaction with that error, so that it costs nothing. */
export function isRefusal(error: TransactionError | null): boolean {
  if (typeof error === 'string') return !isLoadFailure(error);
  return error !== null && 'DuplicateInstruction' in error;
}

/** Returns the outcome of a transaction above its limit on loaded data, from what the VM says without that limit. */
export function withoutRun(tried: SimulatedExecution): SimulatedExecution {
  // A bad signature or a payer without the fee comes first: such a transaction never lands.
  if (isRefusal(tried.error)) return tried;
  return {
    error: TOO_MUCH_DATA, logs: [], unitsConsumed: 0, returnData: null, innerInstructions: [], accountsAfter: new Map(),
  };
}

/** Returns an execution with the error of a node, which tells a missing program from an account that is none. */
export function named<Outcome extends Execution>(
  execution: Outcome, { staticKeys, instructions }: DecodedMessage, accounts: ReadonlyMap<Address, Account>,
): Outcome {
  if (execution.error !== INVALID_PROGRAM) return execution;
  const culprit = instructions.map(({ programIdIndex }) => accounts.get(staticKeys[programIdIndex]!))
    .find((program) => !program?.executable);
  return culprit === undefined ? { ...execution, error: PROGRAM_MISSING } : execution;
}

/** Takes the fee of a transaction that did not run, which the VM does not, from a payer who can pay it. */
export function chargeFee(vm: Vm, payer: Address, feeLamports: bigint): void {
  const account = vm.account(payer);
  if (account?.owner !== SYSTEM_PROGRAM || account.data.length > 0) return;
  const rest = account.lamports - feeLamports;
  if (rest === 0n || rest >= vm.rentExemption(0)) vm.setAccount(payer, withLamports(account, rest));
}

/** Returns an account with other lamports. */
export function withLamports({ owner, executable, data }: Account, lamports: bigint): Account {
  return { lamports, owner, executable, data };
}
