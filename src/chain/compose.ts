import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import type { Lamports } from '../core/amount.ts';
import { lamports, mulDiv } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { SwapBuild, SwapInstruction } from '../trading/swap-terms.ts';
import { COMPUTE_BUDGET_PROGRAM, MAX_COMPUTE_UNITS, MICRO_LAMPORTS_PER_LAMPORT } from '../solana/constants.ts';
import { compileMessage, instructionOf, unsignedBytes } from './compile-transaction.ts';
import type { TransactionError } from './rpc-answers.ts';

/** An unsigned transaction with the terms of its own bytes. */
export interface ComposedTransaction {
  readonly transaction: Uint8Array;
  readonly unitLimit: number;
  readonly priorityFeeLamports: Lamports;
}

/** The outcome of a transaction if it landed now. */
export interface Simulation {
  /** Undefined when it would succeed. */
  readonly error?: TransactionError | undefined;
  readonly unitsConsumed: bigint;
  readonly logs: readonly string[];
}

interface ComposerOptions {
  /** Runs an unsigned transaction without landing it, whatever its blockhash. */
  readonly simulate: (transaction: Uint8Array) => Promise<Simulation>;
  /** The most that a transaction may pay for priority, whatever price the service proposes. */
  readonly maxPriorityFeeLamports?: Lamports | undefined;
}

const DEFAULT_MAX_PRIORITY_FEE = lamports(1_000_000n);
const SET_UNIT_PRICE = 3;

/**
 * Returns a function that makes a transaction of a build: the limit on compute units from a simulation, the price
 * clamped, then set-up, swap, clean-up and other instructions, with the tables and the blockhash of the build. It
 * throws CHAIN_SIMULATION_FAILED (details: code) where the swap would fail, CHAIN_TRANSACTION_INVALID where the build
 * is inconsistent, and what the simulation throws.
 */
export function createComposer(
  options: ComposerOptions,
): (build: SwapBuild, payer: string) => Promise<ComposedTransaction> {
  const { simulate, maxPriorityFeeLamports = DEFAULT_MAX_PRIORITY_FEE } = options;

  return async (build, payer) => {
    const givenPrice = readUnitPrice(build.computeBudgetInstructions);
    const instructions = swapInstructions(build).map(instructionOf);
    const { blockhash, lookupTables } = build;
    const compile = (budget: readonly TransactionInstruction[]) =>
      compileMessage({ payer, blockhash, instructions: [...budget, ...instructions], lookupTables });
    const termsFor = (unitLimit: number) => ({
      unitLimit,
      price: clampUnitPrice({ price: givenPrice, unitLimit, maxFeeLamports: maxPriorityFeeLamports }),
    });

    const largest = computeBudget(termsFor(MAX_COMPUTE_UNITS));
    const message = compile(largest);
    const unitLimit = requireSuccess(await simulate(unsignedBytes(message)));
    const terms = termsFor(unitLimit);
    const budget = computeBudget(terms);
    const priorityFeeLamports = priorityFee(terms);
    // A price of 0 leaves an instruction out, and may leave out the program of both.
    if (budget.length !== largest.length)
      return { transaction: unsignedBytes(compile(budget)), unitLimit, priorityFeeLamports };
    for (const [index, { data }] of budget.entries()) message.compiledInstructions[index]!.data = data;
    return { transaction: unsignedBytes(message), unitLimit, priorityFeeLamports };
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

/**
 * Returns the price in micro-lamports a compute unit that these instructions set, 0 where they set none.
 * Throws CHAIN_TRANSACTION_INVALID on any other instruction: limit, heap and loaded data are set here.
 */
function readUnitPrice(instructions: readonly SwapInstruction[]): bigint {
  if (instructions.length > 1) {
    throw invalid(`expected at most one compute-budget instruction, the price, got ${instructions.length}`);
  }
  const [instruction] = instructions;
  if (instruction === undefined) return 0n;
  const { programId, accounts, data } = instruction;
  if (programId !== COMPUTE_BUDGET_PROGRAM || accounts.length > 0 || data.length !== 9 || data[0] !== SET_UNIT_PRICE) {
    throw invalid('expected no compute-budget instruction but one that sets the price of a unit');
  }
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).readBigUInt64LE(1);
}

/**
 * Returns the limit on units after a simulation that consumed `consumed`: a fifth more, rounded up, within the
 * network's limit.
 */
export function unitLimitFor(consumed: bigint): number {
  return Math.min(Number(mulDiv(consumed, 12n, 10n, 'ceil')), MAX_COMPUTE_UNITS);
}

/** Returns `price`, lowered where needed so that the fee for `unitLimit` units stays within `maxFeeLamports`. */
export function clampUnitPrice(
  options: { readonly price: bigint; readonly unitLimit: number; readonly maxFeeLamports: Lamports },
): bigint {
  const highest = (options.maxFeeLamports * MICRO_LAMPORTS_PER_LAMPORT) / BigInt(options.unitLimit);
  return options.price < highest ? options.price : highest;
}

/**
 * Returns the cost of a price in micro-lamports, rounded up as the network does: the limit is paid for, used or not.
 */
export function priorityFee(options: { readonly price: bigint; readonly unitLimit: number }): Lamports {
  return mulDiv(options.price, BigInt(options.unitLimit), MICRO_LAMPORTS_PER_LAMPORT, 'ceil') as Lamports;
}

/** Returns the instructions that set limit and price; a price of 0 is the network's own default and left out. */
export function computeBudget(
  { price, unitLimit }: { readonly price: bigint; readonly unitLimit: number },
): readonly TransactionInstruction[] {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: unitLimit });
  return price === 0n ? [limit] : [limit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })];
}

function invalid(message: string): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', message);
}
