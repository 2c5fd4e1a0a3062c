import { Keypair, SystemProgram, Transaction, VersionedTransaction } from '@solana/web3.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { decodeTransaction, UndecodableError } from '../../../src/sandbox/chain/transaction-bytes.ts';
import { createMarketFixture, MINTS, signedTransaction, walletOf } from './market-fixture.ts';
import type { MarketFixture } from './market-fixture.ts';
import { publicKey, swapInstruction } from './web3.ts';

let fixture: MarketFixture;
let samples: Uint8Array[];

beforeAll(() => {
  fixture = createMarketFixture();
  const { chain, user } = fixture;
  const { usd, fresh } = MINTS;
  for (const mint of [usd, fresh]) chain.fundToken({ owner: user.address, mint, amount: 1_000_000n });
  const pool = chain.createPool({ mintA: usd, mintB: fresh, feeBps: 30, reserveA: 10n ** 12n, reserveB: 10n ** 12n });
  const hops = [{ pool: pool.address, inputMint: usd, outputMint: fresh }];
  const table = chain.createLookupTable([pool.address, pool.vaultA, pool.vaultB, usd, fresh]);
  const instruction = swapInstruction({ chain, user: user.address, hops, amountIn: 10n, minimumOut: 1n });
  const unversioned = new Transaction({
    feePayer: publicKey(user.address), recentBlockhash: chain.latestBlockhash('processed').blockhash,
  });
  unversioned.add(SystemProgram.transfer(
    { fromPubkey: publicKey(user.address), toPubkey: Keypair.generate().publicKey, lamports: 1_000_000 },
  ));
  unversioned.sign(user.keypair);
  samples = [
    signedTransaction({ chain, payer: user, instructions: [instruction] }),
    signedTransaction({ chain, payer: user, instructions: [instruction], lookupTables: [table] }),
    unversioned.serialize(),
  ];
});

describe('reading transactions', () => {
  test('gives back the same bytes, for both versions', () => {
    for (const bytes of samples) {
      const decoded = decodeTransaction(bytes);
      expect(Buffer.from(decoded.bytes)).toEqual(Buffer.from(bytes));
      const theirs = VersionedTransaction.deserialize(bytes);
      expect(Buffer.from(decoded.messageBytes)).toEqual(Buffer.from(theirs.message.serialize()));
      expect(decoded.message.staticKeys).toEqual(theirs.message.staticAccountKeys.map((key) => key.toBase58()));
      expect(decoded.message.recentBlockhash).toBe(theirs.message.recentBlockhash);
    }
  });

  test('drops what follows the transaction', () => {
    const longer = Buffer.concat([samples[0]!, Buffer.from('more')]);
    expect(Buffer.from(decodeTransaction(longer).bytes)).toEqual(Buffer.from(samples[0]!));
  });

  test.each([
    ['nothing', () => new Uint8Array()],
    ['three bytes', () => Uint8Array.of(1, 2, 3)],
    ['more than a packet', () => Buffer.concat([samples[0]!, Buffer.alloc(1232)])],
    ['a cut-off transaction', () => samples[0]!.subarray(0, -1)],
    ['an unknown version', () => patched(samples[0]!, 65, 0x81)],
    ['no signature', () => Buffer.concat([Uint8Array.of(0), samples[2]!.subarray(65)])],
    ['a second spelling of a length', () => Buffer.concat([Uint8Array.of(0x81, 0), samples[0]!.subarray(1)])],
    ['fewer signatures than the header wants', () => patched(samples[2]!, 65, 2)],
    ['a payer who is read-only', () => patched(samples[2]!, 66, 1)],
  ])('refuses %s, and the chain rejects it', (_, bytes) => {
    expect(() => decodeTransaction(bytes())).toThrow(UndecodableError);
    expect(fixture.chain.land(bytes())).toEqual({ kind: 'rejected', signature: undefined, error: 'SanitizeFailure' });
    expect(fixture.chain.simulate(bytes()).error).toBe('SanitizeFailure');
  });
});

describe('bytes that went wrong', () => {
  test('never land and never harm the process, in thousands of variations', () => {
    const { chain, user } = fixture;
    const random = seededRandom('mutations');
    const before = chain.balance(user.address);
    const signatures = new Set<string>();
    for (let round = 0; round < 4_000; round++) {
      const mutated = mutate(samples[round % samples.length]!, random);
      chain.simulate(mutated, { replaceRecentBlockhash: true });
      const result = chain.land(mutated);
      if (result.kind === 'landed') signatures.add(result.signature);
    }
    // A mutation may miss (bytes appended, a change that undoes itself); then it is the sample itself, and lands once.
    expect(signatures.size).toBeLessThanOrEqual(samples.length);
    expect(before - chain.balance(user.address)).toBeLessThanOrEqual(1_000_000n + 5_000n * BigInt(samples.length));
  });

  test('signed again, may land or not, but never harm the process', () => {
    const { chain } = fixture;
    const attacker = walletOf('attacker');
    chain.airdrop(attacker.address, 1_000_000_000n);
    const random = seededRandom('signed mutations');
    let executed = 0;
    for (let round = 0; round < 1_500; round++) {
      const mutated = Buffer.from(mutate(samples[round % samples.length]!, random));
      const messageAt = 1 + 64;
      // The attacker pays, so that the change reaches the programs themselves.
      const keysAt = messageAt + (round % samples.length === 2 ? 4 : 5);
      if (mutated.length < keysAt + 32) continue;
      mutated.set(publicKey(attacker.address).toBytes(), keysAt);
      mutated[0] = 1;
      mutated.set(attacker.sign(mutated.subarray(messageAt)), 1);
      if (chain.land(mutated).kind === 'landed') executed += 1;
    }
    expect(executed).toBeGreaterThan(100);
  });
});

function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  const copy = Buffer.from(bytes);
  const at = Math.floor(random() * copy.length);
  const kind = Math.floor(random() * 5);
  if (kind === 0) return copy.subarray(0, at);
  if (kind === 1)
    return Buffer.concat([copy.subarray(0, at), Uint8Array.of(Math.floor(random() * 256)), copy.subarray(at)]);
  if (kind === 2) return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1)]);
  const changes = kind === 3 ? 1 : 1 + Math.floor(random() * 8);
  for (let i = 0; i < changes; i++) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  return copy;
}

function patched(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
}
