import { z } from 'zod';
import { printable } from '../core/text.ts';

/** An integer of 0 to 2^64 - 1, which arrives as a number where a double holds it and as a bigint where not. */
const u64 = z.union([z.int().nonnegative(), z.bigint().nonnegative().lt(2n ** 64n)]).transform(BigInt);
const rawAmount = z.string().regex(/^\d{1,20}$/).transform(BigInt).pipe(z.bigint().lt(2n ** 64n));
const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
export const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const base64Data = z.tuple([z.base64(), z.literal('base64')]).transform(([text]) => Buffer.from(text, 'base64'));
const index = z.int().nonnegative().max(255);
/** Read by transaction-error.ts, which understands every shape. */
const transactionError = z.unknown();

/** Every answer of JSON-RPC 2.0: a result or an error. */
export const rpcAnswer = z.object({
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.int(),
      message: z.string(),
      // Only a transaction's error is of use here; other methods put other things there.
      data: z.object({ err: transactionError.optional() }).optional().catch(undefined),
    })
    .optional(),
});

function atSlot<Value extends z.ZodType>(value: Value) {
  return z.object({ context: z.object({ slot: u64 }), value });
}

export const blockhashValidity = atSlot(z.boolean());
export const epochInfo = z.object({ absoluteSlot: u64, blockHeight: u64 });
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
export const tokenAccounts = atSlot(z.array(z.object({ pubkey: address, account: z.object({ owner: address, data: base64Data }) })));
/** With the lamports of each. */
export const ownTokenAccounts = atSlot(z.array(z.object({ pubkey: address, account: z.object({ owner: address, lamports: u64, data: base64Data }) })));
export const mintAccounts = atSlot(z.array(z.object({ owner: address, data: base64Data }).nullable()));
export const latestBlockhash = atSlot(z.object({ blockhash: address, lastValidBlockHeight: u64 }));
export const signatureHistory = z.array(z.object({ signature, slot: u64 }));

const tokenBalance = z.object({
  accountIndex: index,
  mint: address,
  // Nodes of long ago left it out; such an entry belongs to nobody we know.
  owner: address.optional(),
  uiTokenAmount: z.object({ amount: rawAmount }),
});

const instruction = z.object({ programIdIndex: index, accounts: z.array(index), data: z.string().max(20_000) });

export const landedTransaction = z
  .object({
    slot: u64,
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
  })
  .nullable();

/** A transaction that landed, with what it changed; not checked for sense, only for shape. */
export type LandedTransaction = NonNullable<z.output<typeof landedTransaction>>;

/** Returns the first thing a check found wrong, for a message. */
export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'it does not have the expected form';
  const place = issue.path.length === 0 ? 'the result' : printable(issue.path.join('.'), 80);
  return `${place}: ${printable(issue.message)}`;
}
