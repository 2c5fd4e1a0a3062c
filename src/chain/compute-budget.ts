import { mulDiv, type Lamports } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { SwapInstruction } from '../trading/swap-order.ts';
import { COMPUTE_BUDGET_PROGRAM } from './addresses.ts';

/** The most compute units one transaction may ask for. */
export const MAX_COMPUTE_UNITS = 1_400_000;

const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/**
 * Returns the price in micro-lamports a compute unit that these instructions set, 0 where they set none.
 * Throws CHAIN_TRANSACTION_INVALID on any other instruction: the limit, the heap and the loaded data are not theirs to choose.
 */
export function readUnitPrice(instructions: readonly SwapInstruction[]): bigint {
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

/** Returns the units to ask for after a simulation that consumed `consumed`: a fifth more, rounded up, within the network's bound. */
export function unitLimitFor(consumed: bigint): number {
  return Math.min(Number(mulDiv(consumed, 12n, 10n, 'ceil')), MAX_COMPUTE_UNITS);
}

/** Returns `price`, lowered where needed so that the fee for `unitLimit` units stays within `maxFeeLamports`. */
export function clampUnitPrice(options: { readonly price: bigint; readonly unitLimit: number; readonly maxFeeLamports: Lamports }): bigint {
  const highest = (options.maxFeeLamports * MICRO_LAMPORTS_PER_LAMPORT) / BigInt(options.unitLimit);
  return options.price < highest ? options.price : highest;
}

/** Returns what a price in micro-lamports costs, rounded up as the network does: it is paid for the limit, not for what is used. */
export function priorityFee(options: { readonly price: bigint; readonly unitLimit: number }): Lamports {
  return mulDiv(options.price, BigInt(options.unitLimit), MICRO_LAMPORTS_PER_LAMPORT, 'ceil') as Lamports;
}

/** Returns the instructions that set limit and price; a price of 0 is the network's own default and left out. */
export function computeBudget(options: { readonly price: bigint; readonly unitLimit: number }): readonly SwapInstruction[] {
  const limit = Buffer.alloc(5);
  limit.writeUInt8(SET_UNIT_LIMIT, 0);
  limit.writeUInt32LE(options.unitLimit, 1);
  if (options.price === 0n) return [budgetInstruction(limit)];
  const price = Buffer.alloc(9);
  price.writeUInt8(SET_UNIT_PRICE, 0);
  price.writeBigUInt64LE(options.price, 1);
  return [budgetInstruction(limit), budgetInstruction(price)];
}

function budgetInstruction(data: Uint8Array): SwapInstruction {
  return { programId: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}

function invalid(message: string): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', message);
}
