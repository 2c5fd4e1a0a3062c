import bs58 from 'bs58';
import { MEMO_PROGRAM, SYSTEM_PROGRAM } from '../chain/addresses.ts';
import type { LandedTransaction, TokenBalance } from '../chain/chain.ts';
import { decodeTransaction, isWritable } from '../chain/transaction-bytes.ts';
import type { DecodedTransaction } from '../chain/transaction-bytes.ts';
import { uiAmount } from './account-encoding.ts';
import { RPC_CODE, RpcError } from './rpc-error.ts';
import { parseSystemInstruction } from './system-instruction.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base58', 'base64'] as const;
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

const MEMO_PROGRAMS: readonly string[] = [MEMO_PROGRAM, 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];

/**
 * Returns a landed transaction as getTransaction answers it, `version` left out for clients that never asked for one.
 */
export function encodeLanded(
  landed: LandedTransaction, options: { encoding: TransactionEncoding; withVersion: boolean },
): Readonly<Record<string, unknown>> {
  const decoded = decodeTransaction(landed.bytes);
  return {
    slot: landed.slot,
    blockTime: landed.unixSeconds,
    ...(options.withVersion ? { version: decoded.message.version } : {}),
    meta: encodeMeta(landed, options.encoding),
    transaction: encodeTransaction(landed, decoded, options.encoding),
  };
}

/** Returns a landed transaction as a block shows it where accounts alone are asked for. */
export function encodeAccountsOf(landed: LandedTransaction, { withVersion }: { withVersion: boolean }): object {
  const { message, signatures } = decodeTransaction(landed.bytes);
  const { error } = landed;
  return {
    ...(withVersion ? { version: message.version } : {}),
    meta: {
      err: error,
      status: error === null ? { Ok: null } : { Err: error },
      fee: landed.feeLamports,
      preBalances: landed.preBalances,
      postBalances: landed.postBalances,
      preTokenBalances: landed.preTokenBalances.map(encodeTokenBalance),
      postTokenBalances: landed.postTokenBalances.map(encodeTokenBalance),
    },
    transaction: {
      accountKeys: describeKeys(landed, message), signatures: signatures.map((signature) => bs58.encode(signature)),
    },
  };
}

/** Throws RpcError for a transaction of a version that a client did not ask for. */
export function refuseVersion({ bytes }: LandedTransaction): void {
  if (decodeTransaction(bytes).message.version !== 0) return;
  throw new RpcError(
    RPC_CODE.unsupportedTransactionVersion,
    'Transaction version (0) is not supported by the requesting client. '
      + 'Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
  );
}

/** Returns the memos of a transaction as the nodes join them, or null. */
export function memoOf(landed: LandedTransaction): string | null {
  const { message } = decodeTransaction(landed.bytes);
  const memos = message.instructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.includes(message.staticKeys[programIdIndex]!))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}

function encodeMeta(landed: LandedTransaction, encoding: TransactionEncoding): object {
  const { error } = landed;
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    fee: landed.feeLamports,
    computeUnitsConsumed: landed.unitsConsumed,
    preBalances: landed.preBalances,
    postBalances: landed.postBalances,
    preTokenBalances: landed.preTokenBalances.map(encodeTokenBalance),
    postTokenBalances: landed.postTokenBalances.map(encodeTokenBalance),
    logMessages: landed.logs,
    innerInstructions: encodeInnerInstructions(landed, encoding),
    ...(encoding === 'jsonParsed' ? {} : { loadedAddresses: landed.loadedAddresses }),
    rewards: [],
    ...(landed.returnData
      ? { returnData: {
        programId: landed.returnData.programId,
        data: [Buffer.from(landed.returnData.data).toString('base64'), 'base64'],
      } }
      : {}),
  };
}

function encodeInnerInstructions(
  { innerInstructions, accountKeys }: LandedTransaction, encoding: TransactionEncoding,
): object[] {
  const parsed = encoding === 'jsonParsed';
  return innerInstructions.flatMap((calls, index) =>
    calls.length === 0 ? []
      : [{ index, instructions: calls.map((call) => encodeInstruction({ ...call, accountKeys, parsed })) }],
  );
}

function encodeTokenBalance({ accountIndex, mint, owner, tokenProgram, amount, decimals }: TokenBalance): object {
  return { accountIndex, mint, owner, programId: tokenProgram, uiTokenAmount: uiAmount(amount, decimals) };
}

function encodeTransaction(
  landed: LandedTransaction, { message, signatures }: DecodedTransaction, encoding: TransactionEncoding,
): object {
  if (encoding === 'base64') return [Buffer.from(landed.bytes).toString('base64'), 'base64'];
  if (encoding === 'base58') return [bs58.encode(landed.bytes), 'base58'];
  const parsed = encoding === 'jsonParsed';
  const { accountKeys } = landed;
  const lookups = message.lookups.map(({ table, writableIndexes, readonlyIndexes }) => ({
    accountKey: table,
    writableIndexes: [...writableIndexes],
    readonlyIndexes: [...readonlyIndexes],
  }));
  return {
    signatures: signatures.map((signature) => bs58.encode(signature)),
    message: {
      ...(parsed ? {} : { header: message.header }),
      accountKeys: parsed ? describeKeys(landed, message) : message.staticKeys,
      recentBlockhash: message.recentBlockhash,
      instructions: message.instructions.map((instruction) =>
        encodeInstruction({ ...instruction, stackHeight: 1, accountKeys, parsed })),
      ...(message.version === 0 ? { addressTableLookups: lookups } : {}),
    },
  };
}

function describeKeys({ accountKeys }: LandedTransaction, message: DecodedTransaction['message']): object[] {
  return accountKeys.map((pubkey, index) => ({
    pubkey,
    signer: index < message.header.numRequiredSignatures,
    writable: isWritable(message, index),
    source: index < message.staticKeys.length ? 'transaction' : 'lookupTable',
  }));
}

interface InstructionToEncode {
  programIdIndex: number;
  accountIndexes: Uint8Array;
  data: Uint8Array;
  stackHeight: number;
  accountKeys: readonly string[];
  parsed: boolean;
}

/**
 * With `jsonParsed`, System instructions are read; others have the form of programs without a parser: keys instead of
 * indexes.
 */
function encodeInstruction(
  { programIdIndex, accountIndexes, data, stackHeight, accountKeys, parsed }: InstructionToEncode,
): object {
  if (parsed) {
    const programId = accountKeys[programIdIndex];
    const accounts = [...accountIndexes].map((index) => accountKeys[index]!);
    const system = programId === SYSTEM_PROGRAM ? parseSystemInstruction(accounts, data) : undefined;
    if (system !== undefined) return { program: 'system', programId, parsed: system, stackHeight };
    return { programId, accounts, data: bs58.encode(data), stackHeight };
  }
  return { programIdIndex, accounts: [...accountIndexes], data: bs58.encode(data), stackHeight };
}
