import bs58 from 'bs58';
import type { LandedTransaction, TokenBalance } from '../chain/chain.ts';
import type { DecodedMessage, DecodedTransaction } from '../chain/transaction-bytes.ts';
import { decodeTransaction } from '../chain/transaction-bytes.ts';
import { MEMO_PROGRAMS, parseInstruction } from './parsed-instructions.ts';
import { RPC_CODE, RpcError } from './rpc-params.ts';
import { uiAmount } from './token-amounts.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base58', 'base64'] as const;
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** In the first byte of a message with a version. */
const VERSION_PREFIX = 0x80;

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
    ...(options.withVersion ? { version: landed.version } : {}),
    meta: encodeMeta(landed, options.encoding),
    transaction: encodeTransaction(landed, decoded, options.encoding),
  };
}

/** Returns a landed transaction as a block shows it with `transactionDetails: accounts`. */
export function encodeAccountsOf(landed: LandedTransaction, { withVersion }: { withVersion: boolean }): object {
  const decoded = decodeTransaction(landed.bytes);
  const { error, version } = landed;
  return {
    ...(withVersion ? { version } : {}),
    meta: {
      err: error,
      status: error === null ? { Ok: null } : { Err: error },
      fee: landed.feeLamports,
      ...encodeBalances(landed),
    },
    transaction: {
      accountKeys: describeKeys(landed, decoded),
      signatures: decoded.signatures.map((signature) => bs58.encode(signature)),
    },
  };
}

/** Throws RpcError for a transaction of a higher version than a client states; one that states none reads none. */
export function refuseVersion({ version }: LandedTransaction, highest: number | undefined): void {
  if (version === 'legacy' || (highest !== undefined && version <= highest)) return;
  throw new RpcError(
    RPC_CODE.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with `
      + `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

/** Returns the memos of a transaction as the nodes join them, or null. */
export function memoOf(landed: LandedTransaction): string | null {
  const { staticKeys, instructions } = decodeTransaction(landed.bytes);
  const memos = instructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.includes(staticKeys[programIdIndex]!))
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
    costUnits: landed.costUnits,
    ...encodeBalances(landed),
    logMessages: landed.logs,
    innerInstructions: encodeInnerInstructions(landed, { parsed: encoding === 'jsonParsed' }),
    ...(encoding === 'jsonParsed' ? {} : { loadedAddresses: landed.loadedAddresses }),
    rewards: [],
    ...(landed.returnData ? { returnData: encodeReturnData(landed.returnData) } : {}),
  };
}

/** Returns what a program returned as nodes show it, or null. */
export function encodeReturnData(returned: LandedTransaction['returnData']): object | null {
  return returned
    && { programId: returned.programId, data: [Buffer.from(returned.data).toString('base64'), 'base64'] };
}

/** Returns the balances before and after a transaction, of each account and of each token account. */
export function encodeBalances(
  { preBalances, postBalances, preTokenBalances, postTokenBalances }: Pick<
    LandedTransaction, 'preBalances' | 'postBalances' | 'preTokenBalances' | 'postTokenBalances'
  >,
): object {
  return {
    preBalances,
    postBalances,
    preTokenBalances: preTokenBalances.map(encodeTokenBalance),
    postTokenBalances: postTokenBalances.map(encodeTokenBalance),
  };
}

/** Returns the calls from program to program, by instruction of the transaction; those without calls are left out. */
export function encodeInnerInstructions(
  { innerInstructions, accountKeys }: Pick<LandedTransaction, 'innerInstructions' | 'accountKeys'>,
  { parsed }: { parsed: boolean },
): object[] {
  return innerInstructions.flatMap((calls, index) =>
    calls.length === 0 ? []
      : [{ index, instructions: calls.map((call) => encodeInstruction({ ...call, accountKeys, parsed })) }],
  );
}

function encodeTokenBalance({ accountIndex, mint, owner, tokenProgram, amount, decimals }: TokenBalance): object {
  return { accountIndex, mint, owner, programId: tokenProgram, uiTokenAmount: uiAmount(amount, decimals) };
}

function encodeTransaction(
  landed: LandedTransaction, decoded: DecodedTransaction, encoding: TransactionEncoding,
): object {
  if (encoding === 'base64') return [Buffer.from(wireBytes(landed)).toString('base64'), 'base64'];
  if (encoding === 'base58') return [bs58.encode(wireBytes(landed)), 'base58'];
  return {
    signatures: decoded.signatures.map((signature) => bs58.encode(signature)),
    message: encodeMessage(landed, decoded, encoding === 'jsonParsed'),
  };
}

/** Returns the bytes of a transaction as the network carries them: those of a later version begin with its number. */
function wireBytes({ bytes, version }: LandedTransaction): Uint8Array {
  if (version === 'legacy' || version <= 1) return bytes;
  return Uint8Array.of(VERSION_PREFIX | version, ...bytes.subarray(1));
}

function encodeMessage(landed: LandedTransaction, decoded: DecodedMessage, parsed: boolean): object {
  const { accountKeys } = landed;
  const { message, staticKeys, instructions } = decoded;
  return {
    ...(parsed ? {} : { header: message.header }),
    accountKeys: parsed ? describeKeys(landed, decoded) : staticKeys,
    recentBlockhash: message.recentBlockhash,
    instructions: instructions.map(({ accountKeyIndexes: accountIndexes, ...instruction }) =>
      encodeInstruction({ ...instruction, accountIndexes, stackHeight: 1, accountKeys, parsed })),
    ...(message.version === 0
      ? { addressTableLookups: message.addressTableLookups.map(({ accountKey, ...indexes }) =>
        ({ accountKey: accountKey.toBase58(), ...indexes })) }
      : {}),
    ...(message.version === 1 ? { transactionConfig: message.transactionConfig } : {}),
  };
}

function describeKeys({ accountKeys }: LandedTransaction, { message, staticKeys }: DecodedMessage): object[] {
  return accountKeys.map((pubkey, index) => ({
    pubkey,
    signer: message.isAccountSigner(index),
    writable: message.isAccountWritable(index),
    source: index < staticKeys.length ? 'transaction' : 'lookupTable',
  }));
}

interface InstructionToEncode {
  programIdIndex: number;
  accountIndexes: Iterable<number>;
  data: Uint8Array;
  stackHeight: number;
  accountKeys: readonly string[];
  parsed: boolean;
}

/** With `jsonParsed`, an instruction without a parser has keys instead of indexes. */
function encodeInstruction(
  { programIdIndex, accountIndexes, data, stackHeight, accountKeys, parsed }: InstructionToEncode,
): object {
  if (parsed) {
    const programId = accountKeys[programIdIndex]!;
    const accounts = [...accountIndexes].map((index) => accountKeys[index]!);
    const found = parseInstruction(programId, accounts, data);
    if (found !== undefined) return { program: found.program, programId, parsed: found.parsed, stackHeight };
    return { programId, accounts, data: bs58.encode(data), stackHeight };
  }
  return { programIdIndex, accounts: [...accountIndexes], data: bs58.encode(data), stackHeight };
}
