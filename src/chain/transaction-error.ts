import { printable } from '../core/text.ts';

/** Why a transaction failed: the program's own number ("6001") or the name the network gives the failure. */
export interface TransactionError {
  readonly code: string;
  readonly message: string;
}

/**
 * Returns the code of a transaction error in the JSON form of a node, or undefined for null (it succeeded).
 * An instruction that failed with a program's own error gives that number, any other failure its variant's name;
 * what has no known shape is an error all the same, "Unknown".
 */
export function readTransactionError(error: unknown): TransactionError | undefined {
  if (error === null || error === undefined) return undefined;
  if (typeof error === 'string') return named(error, 'the transaction failed');
  if (typeof error !== 'object') return UNKNOWN;
  if ('InstructionError' in error) return readInstructionError(error.InstructionError);
  const [name] = Object.keys(error);
  return name === undefined ? UNKNOWN : named(name, 'the transaction failed');
}

const UNKNOWN: TransactionError = { code: 'Unknown', message: 'the transaction failed, and the node does not say why' };

function readInstructionError(error: unknown): TransactionError {
  if (!Array.isArray(error) || error.length !== 2) return UNKNOWN;
  const [index, reason] = error as [unknown, unknown];
  const place = `instruction ${printable(String(index), 8)} failed`;
  if (typeof reason === 'string') return named(reason, place);
  if (typeof reason !== 'object' || reason === null) return UNKNOWN;
  if ('Custom' in reason && Number.isInteger(reason.Custom)) {
    return { code: String(reason.Custom), message: `${place} with the program's error ${String(reason.Custom)}` };
  }
  const [name] = Object.keys(reason);
  return name === undefined ? UNKNOWN : named(name, place);
}

function named(name: string, what: string): TransactionError {
  const code = printable(name, 64);
  return { code, message: `${what}: ${code}` };
}
