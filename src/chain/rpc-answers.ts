import { z } from 'zod';
import { printable } from '../core/text.ts';
import { ADDRESS_FORM, SIGNATURE_FORM } from '../solana/addresses.ts';
import { isReadVersion } from '../solana/transaction-versions.ts';

/** An integer of 0 to 2^64 - 1, which arrives as a number where a double holds it and as a bigint where not. */
const u64 = z.union([z.int().nonnegative(), z.bigint().nonnegative().lt(2n ** 64n)]).transform(BigInt);
const rawAmount = z.string().regex(/^\d{1,20}$/).transform(BigInt).pipe(z.bigint().lt(2n ** 64n));
const address = z.string().regex(ADDRESS_FORM);
export const signature = z.string().regex(SIGNATURE_FORM);
const base64Data = z.tuple([z.base64(), z.literal('base64')]).transform(([text]) => Buffer.from(text, 'base64'));
const index = z.int().nonnegative().max(255);
/** `readTransactionError` accepts every shape. */
const transactionError = z.unknown();
/** Every answer of JSON-RPC 2.0: a result or an error. */
export const rpcAnswer = z.object({
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.int(),
      message: z.string(),
      // Only a transaction's error is used; other methods put other values here.
      data: z.object({ err: transactionError.optional() }).optional().catch(undefined),
    })
    .optional(),
});

/** A transaction that landed, with its changes; its shape is checked, its consistency is not. */
export type LandedTransaction = z.output<typeof landedTransaction>;

/** The reason for a failure: the program's own number ("6001"), or the network's name of the failure. */
export interface TransactionError {
  readonly code: string;
  readonly message: string;
}

export const blockhashValidity = atSlot(z.boolean());
export const epochInfo = z.object({ absoluteSlot: u64, blockHeight: u64 });
export const slot = u64;
export const nodeVersion = z.object({ 'solana-core': z.string().max(64) });
export const genesisHash = address;
export const lamportBalance = atSlot(u64);
export const signatureStatuses = atSlot(
  z.tuple([
    z
      .object({
        slot: u64,
        err: transactionError,
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']),
      })
      .nullable(),
  ]),
);

export const simulation = atSlot(
  z.object({
    err: transactionError,
    unitsConsumed: u64.optional(),
    logs: z.array(z.string()).nullable().optional(),
  }),
);

export const accountInfo = atSlot(z.object({ owner: address, data: base64Data }).nullable());
export const tokenAccounts =
  atSlot(z.array(z.object({ pubkey: address, account: z.object({ owner: address, data: base64Data }) })));
/** With the lamports of each. */
export const ownTokenAccounts = atSlot(
  z.array(z.object({ pubkey: address, account: z.object({ owner: address, lamports: u64, data: base64Data }) })),
);
export const mintAccounts = atSlot(z.array(z.object({ owner: address, data: base64Data }).nullable()));
export const latestBlockhash = atSlot(z.object({ blockhash: address, lastValidBlockHeight: u64 }));
export const signatureHistory = z.array(z.object({ signature, slot: u64 }));
const tokenBalance = z.object({
  accountIndex: index,
  mint: address,
  // Old nodes left it out; such an entry is taken for another wallet's.
  owner: address.optional(),
  uiTokenAmount: z.object({ amount: rawAmount, decimals: index.optional().catch(undefined) }),
});

const instruction = z.object({ programIdIndex: index, accounts: z.array(index), data: z.string().max(20_000) });
const landedTransaction = z
  .object({
    slot: u64,
    blockTime: z.int().nullable().optional().catch(undefined),
    meta: z.object({
      err: transactionError,
      fee: u64,
      preBalances: z.array(u64),
      postBalances: z.array(u64),
      preTokenBalances: z.array(tokenBalance).nullable().default(null),
      postTokenBalances: z.array(tokenBalance).nullable().default(null),
      innerInstructions: z.array(z.object({ index, instructions: z.array(instruction) })).nullable().default([]),
      loadedAddresses: z
        .object({ writable: z.array(address), readonly: z.array(address) })
        .default({ writable: [], readonly: [] }),
    }),
    transaction: z.object({
      signatures: z.array(signature).min(1),
      message: z.object({ accountKeys: z.array(address).min(1), instructions: z.array(instruction) }),
    }),
  });

/** A transaction in a version that Gannet does not read, with what the node states as that version. */
interface OtherVersion {
  readonly otherVersion: unknown;
}

/** An answer to getTransaction. */
export type TransactionAnswer = LandedTransaction | OtherVersion | null;

/** Of another version nothing else is read: its form is unknown. */
export const transactionAnswer = z.unknown().transform((answer, context): TransactionAnswer => {
  if (answer === null) return null;
  const version: unknown = typeof answer === 'object' && 'version' in answer ? answer.version : undefined;
  if (!isReadVersion(version)) return { otherVersion: version };
  const read = landedTransaction.safeParse(answer);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

const UNKNOWN: TransactionError = { code: 'Unknown', message: 'the transaction failed, and the node gives no reason' };

function atSlot<Value extends z.ZodType>(value: Value) {
  return z.object({ context: z.object({ slot: u64 }), value });
}

/** Returns the first issue of a failed check, for a message. */
export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'it does not have the expected form';
  const place = issue.path.length === 0 ? 'the result' : printable(issue.path.join('.'), 80);
  return `${place}: ${printable(issue.message)}`;
}

/**
 * Returns the code of a transaction error in the JSON form of a node, or undefined for null (it succeeded). A
 * program's own error gives its number, any other failure the name of its variant, and an unknown shape "Unknown".
 */
export function readTransactionError(error: unknown): TransactionError | undefined {
  if (error === null || error === undefined) return undefined;
  if (typeof error === 'string') return named(error, 'the transaction failed');
  if (typeof error !== 'object') return UNKNOWN;
  if ('InstructionError' in error) return readInstructionError(error.InstructionError);
  const [name] = Object.keys(error);
  return name === undefined ? UNKNOWN : named(name, 'the transaction failed');
}

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
