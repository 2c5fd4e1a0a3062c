import { Keypair, SystemProgram, Transaction, VersionedTransaction } from '@solana/web3.js';
import type { TransactionVersion } from '@solana/web3.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { decodeTransaction, UndecodableError } from '../../../src/sandbox/chain/transaction-bytes.ts';
import { addressNamed, createMarketFixture, MINTS, signedTransaction, walletOf } from './market-fixture.ts';
import type { MarketFixture, Wallet } from './market-fixture.ts';
import { ENOUGH, version1Payment } from './version-1.ts';
import { publicKey, swapInstruction } from './web3.ts';

let fixture: MarketFixture;
let samples: Uint8Array[];

/** Where the keys begin in a message of version 1: behind prefix, header, mask, blockhash and two counts. */
const KEYS_AT = 42;
/** Three accounts, 8 bytes of fee and two limits of 4 bytes stand before the heap. */
const HEAP_AT = KEYS_AT + 3 * 32 + 8 + 4 + 4;

beforeAll(async () => {
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
    await version1Payment({
      chain, payer: user, to: addressNamed('friend'), lamports: 1_000_000n, transfers: 2,
      config: { ...ENOUGH, heapSize: 65_536, priorityFeeLamports: 77n },
    }),
  ];
});

describe('reading transactions', () => {
  test('gives back the same bytes, for each version', () => {
    for (const bytes of samples) {
      const decoded = decodeTransaction(bytes);
      expect(Buffer.from(decoded.bytes)).toEqual(Buffer.from(bytes));
      const theirs = VersionedTransaction.deserialize(bytes);
      const [from, to] = theirs.version === 1 ? [0, -64] : [65, bytes.length];
      expect(Buffer.from(decoded.messageBytes)).toEqual(Buffer.from(bytes.subarray(from, to)));
      expect(decoded.staticKeys).toEqual(theirs.message.staticAccountKeys.map((key) => key.toBase58()));
      expect(decoded.message.recentBlockhash).toBe(theirs.message.recentBlockhash);
    }
  });

  test('reads version 1 up to its limits', () => {
    const { message } = decodeTransaction(version1Of({ signers: 12, accounts: 64, instructions: 64 }));
    expect(message.header.numRequiredSignatures).toBe(12);
    expect(message.staticAccountKeys).toHaveLength(64);
    expect(message.compiledInstructions).toHaveLength(64);
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
    ['version 1 behind its signatures', () => patched(samples[0]!, 65, 0x81)],
    ['an unknown version behind its signatures', () => patched(samples[0]!, 65, 0x82)],
    ['an unknown version before its signatures', () => patched(samples[3]!, 0, 0x82)],
    ['no signature', () => Buffer.concat([Uint8Array.of(0), samples[2]!.subarray(65)])],
    ['a second spelling of a length', () => Buffer.concat([Uint8Array.of(0x81, 0), samples[0]!.subarray(1)])],
    ['fewer signatures than the header wants', () => patched(samples[2]!, 65, 2)],
    ['a payer who is read-only', () => patched(samples[2]!, 66, 1)],
    ['version 1 with an unknown mask bit', () => patched(samples[3]!, 4, 0b11_1111)],
    ['version 1 with a high mask bit', () => patched(samples[3]!, 7, 0x80)],
    ['version 1 with half a priority fee', () => patched(samples[3]!, 4, 0b1_1110)],
    ['version 1 with a heap outside its steps', () => patched(samples[3]!, HEAP_AT, 1)],
    ['version 1 with a heap that is too small', () => patched(samples[3]!, HEAP_AT + 2, 0)],
    ['version 1 with a heap that is too large', () => patched(samples[3]!, HEAP_AT + 2, 5)],
    ['version 1 with 13 signers', () => version1Of({ signers: 13 })],
    ['version 1 with 65 instructions', () => version1Of({ instructions: 65 })],
    ['version 1 with 65 accounts', () => version1Of({ accounts: 65 })],
    ['version 1 with an account twice', () => {
      const copy = Buffer.from(samples[3]!);
      copy.copy(copy, KEYS_AT + 32, KEYS_AT, KEYS_AT + 32);
      return copy;
    }],
    ['version 1 with bytes behind it', () => Buffer.concat([samples[3]!, Buffer.alloc(1)])],
    ['version 1 without its last signature', () => samples[3]!.subarray(0, -64)],
    ['version 1 of more than 4,096 bytes', () => Buffer.concat([samples[3]!, Buffer.alloc(4_096)])],
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
    expect(before - chain.balance(user.address)).toBeLessThanOrEqual(3_000_077n + 5_000n * BigInt(samples.length));
  });

  test('signed again, may land or not, but never harm the process', () => {
    const { chain } = fixture;
    const attacker = walletOf('attacker');
    chain.airdrop(attacker.address, 1_000_000_000n);
    const random = seededRandom('signed mutations');
    const executed = samples.map(() => 0);
    for (let round = 0; round < 2_000; round++) {
      const mutated = Buffer.from(mutate(samples[round % samples.length]!, random));
      if (signAs(attacker, mutated, VersionedTransaction.deserialize(samples[round % samples.length]!).version))
        executed[round % samples.length]! += Number(chain.land(mutated).kind === 'landed');
    }
    for (const count of executed) expect(count).toBeGreaterThan(20);
  });
});

/** Makes the attacker the payer and signs, so that a change reaches the programs; false where no place is left. */
function signAs(attacker: Wallet, bytes: Buffer, version: TransactionVersion): boolean {
  const messageAt = version === 1 ? 0 : 1 + 64;
  const keyAt = version === 1 ? KEYS_AT : messageAt + (version === 0 ? 5 : 4);
  const end = version === 1 ? bytes.length - 64 : bytes.length;
  if (end < keyAt + 32) return false;
  bytes.set(publicKey(attacker.address).toBytes(), keyAt);
  if (version === 1) bytes[1] = 1;
  else bytes[0] = 1;
  bytes.set(attacker.sign(bytes.subarray(messageAt, end)), version === 1 ? end : 1);
  return true;
}

/** Returns a version 1 transaction of empty instructions and signatures. */
function version1Of({ signers = 1, accounts = 14, instructions = 1 }): Uint8Array {
  return Buffer.concat([
    Buffer.of(0x81, signers, 0, 1, 0, 0, 0, 0), Buffer.alloc(32), Buffer.of(instructions, accounts),
    ...Array.from({ length: accounts }, (_, index) => Buffer.alloc(32, index + 1)),
    ...Array.from({ length: instructions }, () => Buffer.of(accounts - 1, 0, 0, 0)), Buffer.alloc(64 * signers),
  ]);
}

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
