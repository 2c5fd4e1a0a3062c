import { U64_MAX } from '../../../core/amount.ts';
import { isGannetError } from '../../../core/errors.ts';
import { MAX_TRANSACTION_BYTES } from '../../chain/transaction-bytes.ts';
import type { TransactionError } from '../../chain/transaction-error.ts';
import { describeTransactionError } from '../../chain/transaction-error.ts';
import type { Instruction } from '../build/instructions.ts';
import { computeUnitLimit, computeUnitPrice, transferLamports } from '../build/instructions.ts';
import type { CompiledMessage } from '../../chain/message.ts';
import { compileMessage, unsignedTransaction } from '../../chain/message.ts';
import type { ServiceContext } from '../context.ts';
import type { RequestError } from '../http/request-error.ts';
import { automaticUnitPrice, distinguishing, priorityLamports, unitPriceFor } from '../routing/network-fees.ts';
import type { Assembly } from './assembly.ts';
import { routingError } from './quote-request.ts';
import type { Priority, PriorityLevel, SwapRequest } from './swap-request.ts';

/** The compute limit of a transaction, and its priority fee or tip. */
interface ComputeBudget {
  readonly unitLimit: number;
  /** Micro-lamports for each compute unit. */
  readonly unitPrice: bigint;
  readonly instructions: readonly Instruction[];
  /** Pays a tip, where one was asked for. */
  readonly tip: Instruction | undefined;
  /** The fee or the tip. */
  readonly prioritizationFeeLamports: bigint;
}

/** The compute limit of a swap unless the request asks for a simulation. */
const MOST_UNITS = 1_400_000;
/** The service's own highest priority fee. */
const LARGEST_AUTOMATIC_LAMPORTS = 5_000_000n;
const TENTHS_OF_USUAL: Readonly<Record<PriorityLevel, bigint>> = { medium: 10n, high: 15n, veryHigh: 25n };

/**
 * Returns the budget of a transaction that may use `unitLimit` compute units; `number` tells equal swaps of one slot
 * apart.
 */
function computeBudget(
  context: ServiceContext, request: SwapRequest, { unitLimit, number }: { unitLimit: number; number: number },
): ComputeBudget {
  const { priority, trackingAccount } = request;
  const usual = automaticUnitPrice({ slot: context.chain.slot }) + BigInt(distinguishing(number));
  const unitPrice = unitPriceOf(priority, { usual, units: unitLimit });
  const price = computeUnitPrice(unitPrice);
  return {
    unitLimit,
    unitPrice,
    // The compute budget program reads no account, so an account can be added to it as a tag.
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
 * A fee that was named in lamports is reported as named; in whole micro-lamports a unit it is sometimes one lamport
 * less.
 */
function lamportsOf(priority: Priority, { unitPrice, units }: { unitPrice: bigint; units: number }): bigint {
  if (priority.kind === 'fixed' || priority.kind === 'tip') return priority.lamports;
  return least(priorityLamports({ unitPrice, units }), U64_MAX);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** A quote as a simulated transaction. */
export interface SwapTransaction {
  readonly bytes: Buffer;
  readonly budget: ComputeBudget;
  /** Why it would fail if it landed now. */
  readonly simulationError: SimulationError | null;
}

interface SimulationError {
  readonly errorCode: 'TRANSACTION_ERROR';
  readonly error: string;
}

/** The most accounts that a transaction may lock. */
const MOST_ACCOUNTS = 64;
/** The margin for changes until it lands. */
const SPARE_UNITS = 1.2;

/** Returns the transaction of an assembly. Throws a RequestError (400) where it does not fit into one. */
export function swapTransaction(context: ServiceContext, request: SwapRequest, assembly: Assembly): SwapTransaction {
  const { chain } = context;
  const { number } = assembly;
  const build = (unitLimit: number): { bytes: Buffer; budget: ComputeBudget } => {
    const budget = computeBudget(context, request, { unitLimit, number });
    return { bytes: transactionBytes(compile(context, request, { assembly, budget })), budget };
  };
  const widest = build(MOST_UNITS);
  const { error, unitsConsumed } = chain.simulate(widest.bytes);
  const simulationError = error === null ? null : simulationErrorOf(error);
  if (!request.dynamicComputeUnitLimit || error !== null) return { ...widest, simulationError };
  return { ...build(Math.min(MOST_UNITS, Math.ceil(unitsConsumed * SPARE_UNITS))), simulationError };
}

function compile(
  context: ServiceContext, request: SwapRequest, { assembly, budget }: { assembly: Assembly; budget: ComputeBudget },
): CompiledMessage {
  const { setup, swap, cleanup } = assembly.parts;
  try {
    return compileMessage({
      payer: request.payer,
      instructions: [
        ...budget.instructions, ...setup, swap, ...cleanup, ...(budget.tip === undefined ? [] : [budget.tip]),
      ],
      blockhash: assembly.blockhash.blockhash,
      table: request.quoted.request.asLegacyTransaction ? undefined : context.table,
    });
  } catch (error) {
    throw isGannetError(error) && error.code === 'CHAIN_TRANSACTION_INVALID' ? tooLong(error.message) : error;
  }
}

function tooLong(found: string): RequestError {
  return routingError(
    'FAILED_TO_GET_SWAP_AND_ACCOUNT_METAS', `${found}; a direct route, or a versioned transaction, is shorter`,
  );
}

function transactionBytes(message: CompiledMessage): Buffer {
  if (message.accounts > MOST_ACCOUNTS) throw routingError(
    'MAX_ACCOUNT_GREATER_THAN_MAX', `expected at most ${MOST_ACCOUNTS} accounts, got ${message.accounts}`,
  );
  const bytes = unsignedTransaction(message);
  if (bytes.length > MAX_TRANSACTION_BYTES)
    throw tooLong(`expected a transaction of at most ${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}`);
  return bytes;
}

function simulationErrorOf(error: TransactionError): SimulationError {
  return { errorCode: 'TRANSACTION_ERROR', error: describeTransactionError(error) };
}
