import { U64_MAX } from '../../../core/amount.ts';
import type { ServiceContext } from '../context.ts';
import { automaticUnitPrice, distinguishing, priorityLamports, unitPriceFor } from '../fees.ts';
import { computeUnitLimit, computeUnitPrice, transferLamports, type Instruction } from '../instructions.ts';
import type { Priority, PriorityLevel, SwapRequest } from './swap-request.ts';

/** What a transaction may use, and offers for being taken soon. */
export interface ComputeBudget {
  readonly unitLimit: number;
  /** Micro-lamports for each compute unit. */
  readonly unitPrice: bigint;
  readonly instructions: readonly Instruction[];
  /** Pays a tip, where one was asked for. */
  readonly tip: Instruction | undefined;
  /** The fee or the tip. */
  readonly prioritizationFeeLamports: bigint;
}

/** What a swap may use unless it is asked to look first. */
export const MOST_UNITS = 1_400_000;
/** The most that the service offers of its own accord. */
const LARGEST_AUTOMATIC_LAMPORTS = 5_000_000n;
const TENTHS_OF_USUAL: Readonly<Record<PriorityLevel, bigint>> = { medium: 10n, high: 15n, veryHigh: 25n };

/**
 * Returns the budget of a transaction that may use `unitLimit` compute units; `number` tells equal swaps of one slot
 * apart.
 */
export function computeBudget(
  context: ServiceContext, request: SwapRequest, { unitLimit, number }: { unitLimit: number; number: number },
): ComputeBudget {
  const { priority, trackingAccount } = request;
  const usual = automaticUnitPrice({ slot: context.chain.slot }) + BigInt(distinguishing(number));
  const unitPrice = unitPriceOf(priority, { usual, units: unitLimit });
  const price = computeUnitPrice(unitPrice);
  return {
    unitLimit,
    unitPrice,
    // The program of the budget looks at no account, so one can stand there to be found by.
    instructions: [
      computeUnitLimit(unitLimit),
      trackingAccount === undefined ? price
        : { ...price, accounts: [{ pubkey: trackingAccount, isSigner: false, isWritable: false }] },
    ],
    tip: priority.kind === 'tip'
      ? transferLamports({ from: priority.payer ?? request.payer, to: context.tipAccount, lamports: priority.lamports })
      : undefined,
    prioritizationFeeLamports: lamportsOf(priority, { unitPrice, units: unitLimit }),
  };
}

function unitPriceOf(priority: Priority, { usual, units }: { usual: bigint; units: number }): bigint {
  switch (priority.kind) {
    case 'auto':
      return least(usual, unitPriceFor({ lamports: LARGEST_AUTOMATIC_LAMPORTS, units }));
    case 'level':
      return least(
        (usual * TENTHS_OF_USUAL[priority.level]) / 10n, unitPriceFor({ lamports: priority.maxLamports, units }),
      );
    case 'fixed':
      return unitPriceFor({ lamports: priority.lamports, units });
    case 'price':
      return priority.microLamports;
    case 'tip':
      return 0n;
  }
}

/**
 * A fee that was named in lamports is told as it was named: in whole micro-lamports a unit it comes to a lamport less
 * at times.
 */
function lamportsOf(priority: Priority, { unitPrice, units }: { unitPrice: bigint; units: number }): bigint {
  if (priority.kind === 'fixed' || priority.kind === 'tip') return priority.lamports;
  return least(priorityLamports({ unitPrice, units }), U64_MAX);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
