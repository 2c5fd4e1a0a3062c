import { MAX_TRANSACTION_BYTES } from '../../chain/transaction-bytes.ts';
import { describeTransactionError, type TransactionError } from '../../chain/transaction-error.ts';
import type { ServiceContext } from '../context.ts';
import { compileMessage, unsignedTransaction, type CompiledMessage } from '../message.ts';
import type { Assembly } from './assembly.ts';
import { computeBudget, MOST_UNITS, type ComputeBudget } from './compute-budget.ts';
import { routingError } from './routing-error.ts';
import type { SwapRequest } from './swap-request.ts';

/** A quote as a transaction, rehearsed. */
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

/** What a transaction may lock. */
const MOST_ACCOUNTS = 64;
/** Room for what changes until it lands. */
const SPARE_UNITS = 1.2;

/** Returns the transaction of an assembly. Throws a RequestError (400) where none can be made of it. */
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
  return compileMessage({
    payer: request.payer,
    instructions: [
      ...budget.instructions, ...setup, swap, ...cleanup, ...(budget.tip === undefined ? [] : [budget.tip]),
    ],
    blockhash: assembly.blockhash.blockhash,
    table: request.quoted.request.asLegacyTransaction ? undefined : context.table,
  });
}

function transactionBytes(message: CompiledMessage): Buffer {
  if (message.accounts > MOST_ACCOUNTS) throw routingError(
    'MAX_ACCOUNT_GREATER_THAN_MAX', `expected at most ${MOST_ACCOUNTS} accounts, got ${message.accounts}`,
  );
  const bytes = unsignedTransaction(message);
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw routingError('FAILED_TO_GET_SWAP_AND_ACCOUNT_METAS', 'expected a transaction of at most '
      + `${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}; a direct route, or a versioned transaction, is shorter`);
  }
  return bytes;
}

function simulationErrorOf(error: TransactionError): SimulationError {
  return { errorCode: 'TRANSACTION_ERROR', error: describeTransactionError(error) };
}
