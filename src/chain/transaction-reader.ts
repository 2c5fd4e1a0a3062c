import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { FORMER_VERSION, NEWEST_VERSION, isLaterVersion, versionRefusalOf } from '../solana/transaction-versions.ts';
import type { UnreadableTransaction } from '../trading/attempt.ts';
import { transactionAnswer, type LandedTransaction, type TransactionAnswer } from './rpc-answers.ts';
import type { RpcClient } from './rpc-client.ts';

/** Returns a landed transaction; undefined while the node does not have it. */
export type ReadTransaction = (
  signature: string, signal?: AbortSignal,
) => Promise<LandedTransaction | UnreadableTransaction | undefined>;

/** JSON-RPC's internal error: a node fails on this one transaction. */
const INTERNAL_ERROR = -32_603;

/**
 * Returns a reader of landed transactions. One that the node has and that cannot be read is a state, never a fault.
 */
export function createTransactionReader(rpc: RpcClient): ReadTransaction {
  function ask(signature: string, version: number, signal: AbortSignal | undefined): Promise<TransactionAnswer> {
    const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: version };
    return rpc.call('getTransaction', [signature, config], transactionAnswer, { signal });
  }

  /** A node that knows no version 1 refuses the request itself, whatever the version of the transaction. */
  async function askWithFormer(signature: string, signal: AbortSignal | undefined): Promise<TransactionAnswer> {
    try {
      return await ask(signature, NEWEST_VERSION, signal);
    } catch (error) {
      const refusal = isGannetError(error) ? refusalOf(error) : undefined;
      if (refusal?.kind !== 'parameter') throw error;
      return ask(signature, FORMER_VERSION, signal);
    }
  }

  return async (signature, signal) => {
    try {
      const answer = await askWithFormer(signature, signal);
      if (answer === null) return undefined;
      if ('otherVersion' in answer) return otherVersion(signature, answer.otherVersion);
      const [first] = answer.transaction.signatures;
      if (first === signature) return answer;
      return unreadable(signature, `the node gives another transaction, ${first}`);
    } catch (error) {
      const state = isGannetError(error) ? unreadableBy(signature, error) : undefined;
      if (state === undefined) throw error;
      return state;
    }
  };
}

/** Returns the state of a transaction after a refusal, or an answer without the form of one; else undefined. */
function unreadableBy(signature: string, error: GannetError): UnreadableTransaction | undefined {
  if (error.code === 'CHAIN_RESPONSE_INVALID') return unreadable(signature, error.message);
  if (error.code !== 'CHAIN_RPC_ERROR') return undefined;
  const refusal = refusalOf(error);
  if (refusal?.kind === 'version') return otherVersion(signature, refusal.version ?? 'unknown');
  const isRefused = refusal !== undefined || error.details['rpcCode'] === INTERNAL_ERROR;
  return isRefused ? unreadable(signature, error.message) : undefined;
}

function refusalOf({ details }: GannetError): ReturnType<typeof versionRefusalOf> {
  return versionRefusalOf(details['rpcCode'], details['rpcMessage']);
}

function otherVersion(signature: string, version: unknown): UnreadableTransaction {
  const isLater = isLaterVersion(version);
  const reason = isLater ? `it has version ${String(version)}, and Gannet reads up to version ${NEWEST_VERSION}`
    : `the node does not give its version, ${printable(String(version), 40)}`;
  return { ...unreadable(signature, reason), mayBeOwn: !isLater };
}

function unreadable(signature: string, reason: string): UnreadableTransaction {
  return { kind: 'unreadable', signature, reason: reason.slice(0, 300), mayBeOwn: true };
}
