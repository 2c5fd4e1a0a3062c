import { lamports, type Lamports } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { SwapBuild, SwapInstruction } from '../trading/swap-order.ts';
import { COMPUTE_BUDGET_PROGRAM, createAddressDecoder } from './addresses.ts';
import { MAX_COMPUTE_UNITS, clampUnitPrice, computeBudget, priorityFee, readUnitPrice, unitLimitFor } from './compute-budget.ts';
import { compileTransaction } from './message-compiler.ts';
import type { TransactionError } from './transaction-error.ts';

/** An unsigned transaction with the terms of its own bytes. */
export interface ComposedTransaction {
  readonly transaction: Uint8Array;
  readonly unitLimit: number;
  readonly priorityFeeLamports: Lamports;
}

/** What a transaction would do if it landed now. */
export interface Simulation {
  /** Undefined when it would succeed. */
  readonly error?: TransactionError | undefined;
  readonly unitsConsumed: bigint;
  readonly logs: readonly string[];
}

export interface ComposerOptions {
  /** Runs an unsigned transaction without landing it, whatever its blockhash. */
  readonly simulate: (transaction: Uint8Array) => Promise<Simulation>;
  /** The most that a transaction may pay for priority, whatever price the service thinks right. */
  readonly maxPriorityFeeLamports?: Lamports | undefined;
}

const DEFAULT_MAX_PRIORITY_FEE = lamports(1_000_000n);

/**
 * Returns a function that makes a transaction of a build: the limit on compute units from a simulation of its own, the
 * price clamped, then set-up, swap, clean-up and other instructions, with the tables and the blockhash of the answer.
 * It throws CHAIN_SIMULATION_FAILED (details: code) where the swap would fail, CHAIN_TRANSACTION_INVALID where the build
 * makes no sense, and whatever the simulation throws.
 */
export function createComposer(options: ComposerOptions): (build: SwapBuild, payer: string) => Promise<ComposedTransaction> {
  const { simulate, maxPriorityFeeLamports = DEFAULT_MAX_PRIORITY_FEE } = options;
  const decode = createAddressDecoder();

  return async (build, payer) => {
    const givenPrice = readUnitPrice(build.computeBudgetInstructions);
    const instructions = swapInstructions(build);
    const compile = (budget: readonly SwapInstruction[]): Uint8Array =>
      compileTransaction(
        { payer, blockhash: build.blockhash, instructions: [...budget, ...instructions], lookupTables: build.lookupTables },
        decode,
      );
    const termsFor = (unitLimit: number) => ({
      unitLimit,
      price: clampUnitPrice({ price: givenPrice, unitLimit, maxFeeLamports: maxPriorityFeeLamports }),
    });

    const unitLimit = requireSuccess(await simulate(compile(computeBudget(termsFor(MAX_COMPUTE_UNITS)))));
    const terms = termsFor(unitLimit);
    return { transaction: compile(computeBudget(terms)), unitLimit, priorityFeeLamports: priorityFee(terms) };
  };
}

function swapInstructions(build: SwapBuild): readonly SwapInstruction[] {
  const { setupInstructions, swapInstruction, cleanupInstruction, otherInstructions } = build;
  const cleanup = cleanupInstruction === undefined ? [] : [cleanupInstruction];
  const instructions = [...setupInstructions, swapInstruction, ...cleanup, ...otherInstructions];
  if (instructions.some(({ programId }) => programId === COMPUTE_BUDGET_PROGRAM)) {
    const message = 'expected compute-budget instructions in their own list only, got one among the others';
    throw new GannetError('CHAIN_TRANSACTION_INVALID', message);
  }
  return instructions;
}

/** The limit on compute units for the real transaction. */
function requireSuccess({ error, unitsConsumed, logs }: Simulation): number {
  if (error !== undefined) {
    throw new GannetError('CHAIN_SIMULATION_FAILED', `the swap would fail: ${error.message}`, {
      details: { code: error.code, log: printable(logs.at(-1) ?? '') },
    });
  }
  return unitLimitFor(unitsConsumed);
}
