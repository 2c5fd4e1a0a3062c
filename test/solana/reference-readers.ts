import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { isGannetError } from '../../src/core/errors.ts';
import { readTransaction, type ReadTransaction } from '../../src/solana/transaction.ts';

/** What web3.js reads, in this reader's terms. */
export function readByWeb3(bytes: Uint8Array): Omit<ReadTransaction, 'message'> {
  const { message, signatures } = VersionedTransaction.deserialize(bytes);
  const { header, version, staticAccountKeys, compiledInstructions, addressTableLookups } = message;
  return {
    version,
    signatures,
    header: {
      requiredSignatures: header.numRequiredSignatures,
      readonlySigned: header.numReadonlySignedAccounts,
      readonlyUnsigned: header.numReadonlyUnsignedAccounts,
    },
    accountKeys: staticAccountKeys.map((key) => key.toBytes()),
    blockhash: bs58.decode(message.recentBlockhash),
    instructions: compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      programIndex: programIdIndex,
      accountIndexes: Uint8Array.from(accountKeyIndexes),
      data,
    })),
    lookups: addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
      table: accountKey.toBytes(),
      writableIndexes: Uint8Array.from(writableIndexes),
      readonlyIndexes: Uint8Array.from(readonlyIndexes),
    })),
    ...(message.version === 1 ? { config: {
      priorityFeeLamports: message.transactionConfig.priorityFee === null ? undefined
        : BigInt(message.transactionConfig.priorityFee),
      unitLimit: message.transactionConfig.computeUnitLimit ?? undefined,
      loadedBytes: message.transactionConfig.loadedAccountsDataSizeLimit ?? undefined,
      heapBytes: message.transactionConfig.heapSize ?? undefined,
    } } : {}),
  };
}

/** What kit reads of a version 1 transaction, in this reader's terms. */
export function readByKit(bytes: Uint8Array): Omit<ReadTransaction, 'message'> {
  const { messageBytes, signatures } = getTransactionDecoder().decode(bytes);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (message.version !== 1) throw new Error(`expected version 1, got ${message.version}`);
  const { header, staticAccounts, lifetimeToken, instructionHeaders, instructionPayloads } = message;
  const mask = message.configMask;
  const values = [...message.configValues];
  const next = (isThere: boolean): bigint | undefined =>
    (isThere ? BigInt(values.shift()!.value) : undefined);
  const number = (isThere: boolean): number | undefined => (isThere ? Number(next(true)) : undefined);
  return {
    version: 1,
    signatures: Object.values(signatures).map((signature) => signature ?? new Uint8Array(64)),
    header: {
      requiredSignatures: header.numSignerAccounts,
      readonlySigned: header.numReadonlySignerAccounts,
      readonlyUnsigned: header.numReadonlyNonSignerAccounts,
    },
    accountKeys: staticAccounts.map((text) => bs58.decode(text)),
    blockhash: bs58.decode(lifetimeToken),
    instructions: instructionHeaders.map(({ programAccountIndex }, index) => ({
      programIndex: programAccountIndex,
      accountIndexes: Uint8Array.from(instructionPayloads[index]!.instructionAccountIndices),
      data: Uint8Array.from(instructionPayloads[index]!.instructionData),
    })),
    lookups: [],
    config: {
      priorityFeeLamports: next((mask & 0b11) !== 0), unitLimit: number((mask & 0b100) !== 0),
      loadedBytes: number((mask & 0b1000) !== 0), heapBytes: number((mask & 0b1_0000) !== 0),
    },
  };
}

/** Bytes as text, so that views, buffers and arrays of the same bytes are equal. */
export function plain(transaction: Omit<ReadTransaction, 'message'>): unknown {
  const { version, header, signatures, accountKeys, blockhash, instructions, lookups, config } = transaction;
  return {
    version,
    header,
    config,
    signatures: signatures.map(hex),
    accountKeys: accountKeys.map(hex),
    blockhash: hex(blockhash),
    instructions: instructions.map(({ programIndex, accountIndexes, data }) =>
      [programIndex, hex(accountIndexes), hex(data)]),
    lookups: lookups.map(({ table, writableIndexes, readonlyIndexes }) =>
      [table, writableIndexes, readonlyIndexes].map(hex)),
  };
}

/** Returns what the project's own reader makes of bytes. */
export function outcome(bytes: Uint8Array): ReadTransaction | 'refused' {
  try {
    return readTransaction(bytes);
  } catch (error) {
    if (isGannetError(error) && error.code === 'CHAIN_TRANSACTION_INVALID') return 'refused';
    throw error;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
