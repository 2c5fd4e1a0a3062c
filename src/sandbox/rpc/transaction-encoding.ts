import bs58 from 'bs58';
import { MEMO_PROGRAM, SYSTEM_PROGRAM } from '../chain/addresses.ts';
import type { LandedTransaction, TokenBalance } from '../chain/chain.ts';
import type { DecodedMessage, DecodedTransaction } from '../chain/transaction-bytes.ts';
import { decodeTransaction } from '../chain/transaction-bytes.ts';
import { exactNumber } from '../json-text.ts';
import { RPC_CODE, RpcError } from './rpc-params.ts';
import { uiAmount } from './token-amounts.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base58', 'base64'] as const;
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** In the first byte of a message with a version. */
const VERSION_PREFIX = 0x80;

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
      preBalances: landed.preBalances,
      postBalances: landed.postBalances,
      preTokenBalances: landed.preTokenBalances.map(encodeTokenBalance),
      postTokenBalances: landed.postTokenBalances.map(encodeTokenBalance),
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

/**
 * With `jsonParsed`, System instructions are parsed; others have keys instead of indexes, as for programs without a
 * parser.
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

/** A System instruction in the parsed form of the nodes. */
interface ParsedInstruction {
  readonly type: string;
  readonly info: Readonly<Record<string, string | number | bigint>>;
}

type Info = ParsedInstruction['info'];

/** Reads the fields behind the instruction's number, in order. Throws RangeError where there are none left. */
interface Fields {
  u64(): number | bigint;
  key(): string;
  text(): string;
}

/** The names of the accounts in order, and the fields of the data, by the instruction's number. */
interface Layout {
  readonly type: string;
  readonly accounts: readonly string[];
  readonly fields: (fields: Fields) => Info;
}

const LAYOUTS: readonly Layout[] = [
  { type: 'createAccount', accounts: ['source', 'newAccount'], fields: (f) =>
    ({ lamports: f.u64(), space: f.u64(), owner: f.key() }) },
  { type: 'assign', accounts: ['account'], fields: (f) => ({ owner: f.key() }) },
  { type: 'transfer', accounts: ['source', 'destination'], fields: (f) => ({ lamports: f.u64() }) },
  {
    type: 'createAccountWithSeed', accounts: ['source', 'newAccount'],
    fields: (f) => ({ base: f.key(), seed: f.text(), lamports: f.u64(), space: f.u64(), owner: f.key() }),
  },
  { type: 'advanceNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'nonceAuthority'], fields: () => ({}) },
  {
    type: 'withdrawFromNonce',
    accounts: ['nonceAccount', 'destination', 'recentBlockhashesSysvar', 'rentSysvar', 'nonceAuthority'],
    fields: (f) => ({ lamports: f.u64() }),
  },
  { type: 'initializeNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'rentSysvar'], fields: (f) =>
    ({ nonceAuthority: f.key() }) },
  { type: 'authorizeNonce', accounts: ['nonceAccount', 'nonceAuthority'], fields: (f) => ({ newAuthorized: f.key() }) },
  { type: 'allocate', accounts: ['account'], fields: (f) => ({ space: f.u64() }) },
  { type: 'allocateWithSeed', accounts: ['account'], fields: (f) =>
    ({ base: f.key(), seed: f.text(), space: f.u64(), owner: f.key() }) },
  { type: 'assignWithSeed', accounts: ['account'], fields: (f) => ({ base: f.key(), seed: f.text(), owner: f.key() }) },
  {
    type: 'transferWithSeed', accounts: ['source', 'sourceBase', 'destination'],
    fields: (f) => ({ lamports: f.u64(), sourceSeed: f.text(), sourceOwner: f.key() }),
  },
  { type: 'upgradeNonce', accounts: ['nonceAccount'], fields: () => ({}) },
];

/** Returns a System instruction in its parsed form, or undefined for an unknown one, whose bytes nodes show instead. */
export function parseSystemInstruction(accounts: readonly string[], data: Uint8Array): ParsedInstruction | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const layout = bytes.length < 4 ? undefined : LAYOUTS[bytes.readUInt32LE(0)];
  if (layout === undefined || accounts.length < layout.accounts.length) return undefined;
  try {
    const named = Object.fromEntries(layout.accounts.map((name, index) => [name, accounts[index]!]));
    return { type: layout.type, info: { ...named, ...layout.fields(fieldsOf(bytes)) } };
  } catch (error) {
    // Truncated data is no valid instruction.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fieldsOf(bytes: Buffer): Fields {
  let at = 4;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the data ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  return {
    u64: () => exactNumber(take(8).readBigUInt64LE(0)),
    key: () => bs58.encode(take(32)),
    text: () => take(Number(take(8).readBigUInt64LE(0))).toString('utf8'),
  };
}
