import { createHash } from 'node:crypto';
import {
  createKeyPairFromBytes, getTransactionDecoder, getTransactionEncoder, partiallySignTransaction,
} from '@solana/kit';
import {
  Keypair, TransactionInstruction, TransactionMessage, VersionedTransaction, type PublicKey,
} from '@solana/web3.js';
import bs58 from 'bs58';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isGannetError } from '../../src/core/errors.ts';
import { seededRandom } from '../../src/core/random.ts';
import { parseSecretKey } from '../../src/signer/key.ts';
import { createSigner } from '../../src/signer/sign.ts';
import { readSignatures } from '../../src/solana/signatures.ts';
import { readTransaction } from '../../src/solana/transaction.ts';
import { mutate, randomBytes, randomKey, randomTransaction } from './random-transaction.ts';
import { randomV1Transaction } from './random-v1-transaction.ts';

const keypair = Keypair.fromSeed(randomBytes(seededRandom('signer'), 32));
const other = Keypair.fromSeed(randomBytes(seededRandom('other'), 32));
const signer = createSigner(parseSecretKey(bs58.encode(keypair.secretKey)));

function transactionOf(options: { payer: PublicKey; signers: readonly PublicKey[] }): VersionedTransaction {
  const random = seededRandom(options.payer.toBase58());
  const instruction = new TransactionInstruction({
    programId: randomKey(random),
    keys: options.signers.map((pubkey) => ({ pubkey, isSigner: true, isWritable: true })),
    data: Buffer.from('swap'),
  });
  const message = new TransactionMessage({
    payerKey: options.payer, recentBlockhash: randomKey(random).toBase58(), instructions: [instruction],
  });
  return new VersionedTransaction(message.compileToV0Message());
}

describe('createSigner', () => {
  test('has the address of its key', () => {
    expect(signer.address).toBe(keypair.publicKey.toBase58());
  });

  test('signs as fee payer the same bytes as the reference library, and its signature is the id', async () => {
    const transaction = transactionOf({ payer: keypair.publicKey, signers: [] });
    const unsigned = transaction.serialize();
    const signed = await signer.sign(unsigned);
    transaction.sign([keypair]);
    expect([...signed.transaction]).toEqual([...transaction.serialize()]);
    expect(signed.signature).toBe(bs58.encode(transaction.signatures[0]!));
    expect(signed.transactionId).toBe(signed.signature);
    expect(signed.messageHash).toBe(createHash('sha256').update(transaction.message.serialize()).digest('hex'));
  });

  test('leaves the given bytes unchanged', async () => {
    const unsigned = transactionOf({ payer: keypair.publicKey, signers: [] }).serialize();
    const before = Buffer.from(unsigned).toString('hex');
    await signer.sign(unsigned);
    expect(Buffer.from(unsigned).toString('hex')).toBe(before);
  });

  test('keeps the signature of another fee payer, and returns it as the id', async () => {
    const transaction = transactionOf({ payer: other.publicKey, signers: [keypair.publicKey] });
    transaction.sign([other]);
    const signed = await signer.sign(transaction.serialize());
    const after = VersionedTransaction.deserialize(signed.transaction);
    expect([...after.signatures[0]!]).toEqual([...transaction.signatures[0]!]);
    expect(bs58.encode(after.signatures[1]!)).toBe(signed.signature);
    expect(signed.transactionId).toBe(bs58.encode(transaction.signatures[0]!));
  });

  test('returns no id before the fee payer has signed', async () => {
    const signed =
      await signer.sign(transactionOf({ payer: other.publicKey, signers: [keypair.publicKey] }).serialize());
    expect(signed.transactionId).toBeUndefined();
  });

  test('agrees with web3.js on any transaction of an earlier version that needs its signature', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const transaction = randomTransaction(seededRandom(seed), [keypair.publicKey]);
        const unsigned = trySerialize(transaction);
        if (unsigned === undefined || unsigned.length > 1_232) return;
        transaction.sign([keypair]);
        expect([...(await signer.sign(unsigned)).transaction]).toEqual([...transaction.serialize()]);
      }),
      { numRuns: 150 },
    );
  });

  test('signs version 1 as kit does, in its slot behind the message', async () => {
    const keys = await createKeyPairFromBytes(keypair.secretKey);
    let signed = 0;
    for (let seed = 0; seed < 60; seed++) {
      const unsigned = randomV1Transaction(seededRandom(seed), [signer.address]);
      if (unsigned === undefined) continue;
      const expected = await partiallySignTransaction([keys], getTransactionDecoder().decode(unsigned));
      const own = await signer.sign(unsigned);
      expect(Buffer.compare(own.transaction, Uint8Array.from(getTransactionEncoder().encode(expected)))).toBe(0);
      expect(own.transactionId).toBe(own.signature);
      const { messageHash, slots } = readSignatures(own.transaction);
      expect([messageHash, slots[0]]).toEqual([
        own.messageHash, { signer: signer.address, signature: own.signature, isValid: true },
      ]);
      signed += 1;
    }
    expect(signed).toBeGreaterThan(40);
  });

  test('changes only its own slot of version 1, or refuses', async () => {
    const counts = { refused: 0, signed: 0 };
    for (let seed = 0; seed < 600; seed++) {
      const random = seededRandom(seed);
      const unsigned = randomV1Transaction(random, [signer.address]);
      if (unsigned === undefined) continue;
      const damaged = mutate(random, unsigned);
      const signed = await signer.sign(damaged).catch((error: unknown) => {
        if (isGannetError(error) && error.code === 'SIGN_REFUSED') return undefined;
        throw error;
      });
      counts[signed === undefined ? 'refused' : 'signed'] += 1;
      if (signed === undefined) continue;
      const { message, signatures, accountKeys } = readTransaction(damaged);
      const slot = accountKeys.findIndex((key) => bs58.encode(key) === signer.address);
      const restored = Uint8Array.from(signed.transaction);
      restored.set(signatures[slot]!, message.length + 64 * slot);
      expect(Buffer.compare(restored, damaged)).toBe(0);
    }
    expect(Math.min(counts.refused, counts.signed)).toBeGreaterThan(50);
  });

  test('changes only the bytes of its own slot, or refuses', async () => {
    const counts = { refused: 0, signed: 0 };
    for (let seed = 0; seed < 1_500; seed++) {
      const random = seededRandom(seed);
      const unsigned = trySerialize(randomTransaction(random, [keypair.publicKey]));
      if (unsigned === undefined) continue;
      const damaged = mutate(random, unsigned);
      const signed = await signer.sign(damaged).catch((error: unknown) => {
        if (isGannetError(error) && error.code === 'SIGN_REFUSED') return undefined;
        throw error;
      });
      counts[signed === undefined ? 'refused' : 'signed'] += 1;
      if (signed === undefined) continue;
      const firstChange = Buffer.from(signed.transaction).findIndex((byte, index) => byte !== damaged[index]);
      const slot = Math.max(0, Math.floor((firstChange - 1) / 64));
      const restored = Uint8Array.from(signed.transaction);
      restored.set(damaged.subarray(1 + 64 * slot, 65 + 64 * slot), 1 + 64 * slot);
      expect(Buffer.compare(restored, damaged)).toBe(0);
    }
    expect(Math.min(counts.refused, counts.signed)).toBeGreaterThan(100);
  });

  test('refuses a transaction that does not need its signature', async () => {
    const foreign = transactionOf({ payer: other.publicKey, signers: [] }).serialize();
    await expect(signer.sign(foreign))
      .rejects.toMatchObject({ code: 'SIGN_REFUSED', message: expect.stringContaining('does not ask') });
  });

  test('refuses a transaction that names it as a non-signer', async () => {
    const instruction = new TransactionInstruction({
      programId: randomKey(seededRandom('program')),
      keys: [{ pubkey: keypair.publicKey, isSigner: false, isWritable: true }],
    });
    const message = new TransactionMessage({
      payerKey: other.publicKey, recentBlockhash: other.publicKey.toBase58(), instructions: [instruction],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    await expect(signer.sign(transaction.serialize())).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
  });

  test('refuses a transaction that names its key twice', async () => {
    const bytes = transactionOf({ payer: keypair.publicKey, signers: [other.publicKey] }).serialize();
    const place = Buffer.from(bytes).indexOf(other.publicKey.toBuffer());
    bytes.set(keypair.publicKey.toBytes(), place);
    await expect(signer.sign(bytes))
      .rejects.toMatchObject({ code: 'SIGN_REFUSED', message: expect.stringContaining('appears 2 times') });
  });

  test('refuses bytes that are no transaction, and says why', async () => {
    await expect(signer.sign(new Uint8Array([1, 2, 3]))).rejects.toMatchObject({
      code: 'SIGN_REFUSED',
      message: 'nothing was signed: transaction: the bytes end within a signature',
    });
  });
});

function trySerialize(transaction: VersionedTransaction): Uint8Array | undefined {
  try {
    return transaction.serialize();
  } catch {
    // Too large for a packet.
    return undefined;
  }
}
