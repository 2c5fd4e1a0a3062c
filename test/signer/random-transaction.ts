import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Random } from '../../src/core/random.ts';

/** Returns a number of `from` to `to`, both included. */
export function integer(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

export function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => integer(random, 0, 255));
}

export function randomKey(random: Random): PublicKey {
  return new PublicKey(randomBytes(random, 32));
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[integer(random, 0, items.length - 1)]!;
}

/**
 * Returns a transaction as the reference library makes it: either version, tables or none, some signatures filled in.
 */
export function randomTransaction(random: Random, signers: readonly PublicKey[] = []): VersionedTransaction {
  const tableKeys = Array.from({ length: integer(random, 0, 40) }, () => randomKey(random));
  const loose = Array.from({ length: integer(random, 1, 5) }, () => randomKey(random));
  const cosigners = [...signers, ...Array.from({ length: integer(random, 0, 2) }, () => randomKey(random))];
  const payer = cosigners[0] ?? randomKey(random);
  const programs = Array.from({ length: integer(random, 1, 3) }, () => randomKey(random));
  const instructions = Array.from({ length: integer(random, 1, 4) }, () => {
    const accounts = Array.from({ length: integer(random, 0, 8) }, () => {
      const pubkey = pick(random, [...loose, ...tableKeys, payer]);
      return { pubkey, isSigner: false, isWritable: random() < 0.5 };
    });
    const signing = cosigners.map((pubkey) => ({ pubkey, isSigner: true, isWritable: random() < 0.5 }));
    const keys = random() < 0.5 ? [...signing, ...accounts] : accounts;
    return new TransactionInstruction({
      programId: pick(random, programs), keys, data: Buffer.from(randomBytes(random, integer(random, 0, 60))),
    });
  });
  const asking = new TransactionInstruction({
    programId: programs[0]!,
    keys: cosigners.map((pubkey) => ({ pubkey, isSigner: true, isWritable: false })),
  });
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: randomKey(random).toBase58(),
    instructions: [...instructions, asking],
  });
  const compiled = random() < 0.3 ? message.compileToLegacyMessage()
    : message.compileToV0Message(tables(random, tableKeys));
  const transaction = new VersionedTransaction(compiled);
  transaction.signatures = transaction.signatures.map((empty) => (random() < 0.3 ? randomBytes(random, 64) : empty));
  return transaction;
}

function tables(random: Random, keys: readonly PublicKey[]): AddressLookupTableAccount[] {
  const half = integer(random, 0, keys.length);
  return [keys.slice(0, half), keys.slice(half)].map(
    (addresses) =>
      new AddressLookupTableAccount({
        key: randomKey(random),
        state: { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses },
      }),
  );
}

/**
 * Returns the bytes with something done to them: a byte changed, a bit turned, cut, lengthened, or a piece repeated.
 */
export function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  const at = integer(random, 0, bytes.length - 1);
  switch (integer(random, 0, 5)) {
    case 0: return Uint8Array.from(bytes, (byte, index) => (index === at ? integer(random, 0, 255) : byte));
    case 1: return Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ (1 << integer(random, 0, 7)) : byte));
    case 2: return bytes.subarray(0, at);
    case 3: return Uint8Array.from([...bytes, ...randomBytes(random, integer(random, 1, 40))]);
    case 4: return Uint8Array.from([...bytes.subarray(0, at), ...randomBytes(random, 1), ...bytes.subarray(at)]);
    default: return Uint8Array.from([
      ...bytes.subarray(0, at), ...bytes.subarray(Math.max(0, at - 32), at), ...bytes.subarray(at),
    ]);
  }
}
