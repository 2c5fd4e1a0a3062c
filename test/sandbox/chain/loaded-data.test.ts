import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import {
  PublicKey, SystemProgram, SYSVAR_CLOCK_PUBKEY, SYSVAR_INSTRUCTIONS_PUBKEY, TransactionInstruction,
} from '@solana/web3.js';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  associatedTokenAddress, COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM, TOKEN_2022_PROGRAM,
} from '../../../src/sandbox/chain/addresses.ts';
import type { Address } from '../../../src/sandbox/chain/addresses.ts';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { SWAP_PROGRAM_ID } from '../../../src/sandbox/chain/pools.ts';
import { createMarketFixture, landed, MINTS, signedTransaction, walletOf } from './market-fixture.ts';
import type { Wallet } from './market-fixture.ts';
import { version1Payment } from './version-1.ts';
import { publicKey, swapInstruction } from './web3.ts';

const PLENTY = 64 * 1024 * 1024;
const TOO_MUCH = 'MaxLoadedAccountsDataSizeExceeded';

let chain: SandboxChain;
let user: Wallet;
const friend = walletOf('friend');
const stranger = walletOf('stranger');

beforeEach(() => {
  ({ chain, user } = createMarketFixture());
  chain.airdrop(friend.address, 1_000_000_000n);
});

/** Pays, and names accounts that the program ignores. */
function pay(to: Address, ...ignored: readonly PublicKey[]): TransactionInstruction {
  const { programId, data, keys } = SystemProgram.transfer(
    { fromPubkey: publicKey(user.address), toPubkey: publicKey(to), lamports: 1_000_000 },
  );
  const more = ignored.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false }));
  return new TransactionInstruction({ programId, data, keys: [...keys, ...more] });
}

function note(): TransactionInstruction {
  return new TransactionInstruction({ programId: publicKey(MEMO_PROGRAM), keys: [], data: Buffer.from('hello') });
}

function limit(bytes: number): TransactionInstruction {
  const data = Buffer.alloc(5, 4);
  data.writeUInt32LE(bytes, 1);
  return new TransactionInstruction({ programId: publicKey(COMPUTE_BUDGET_PROGRAM), keys: [], data });
}

function codeOf(program: Address): PublicKey {
  return new PublicKey(chain.account(program)!.data.subarray(4, 36));
}

function swap(): TransactionInstruction {
  const { usd, fresh } = MINTS;
  const { address } =
    chain.createPool({ mintA: usd, mintB: fresh, feeBps: 30, reserveA: 10n ** 12n, reserveB: 10n ** 13n });
  chain.fundToken({ owner: user.address, mint: usd, amount: 5_000n });
  chain.fundToken({ owner: user.address, mint: fresh, amount: 0n });
  return swapInstruction({
    chain, user: user.address, amountIn: 1_000n, minimumOut: 1n,
    hops: [{ pool: address, inputMint: usd, outputMint: fresh }],
  });
}

function tokenAccount(): TransactionInstruction {
  const account = associatedTokenAddress(friend.address, MINTS.fresh, TOKEN_2022_PROGRAM);
  return createAssociatedTokenAccountIdempotentInstruction(
    publicKey(user.address), publicKey(account), publicKey(friend.address), publicKey(MINTS.fresh),
    publicKey(TOKEN_2022_PROGRAM),
  );
}

describe('the size of loaded data that a simulation answers', () => {
  type Composed = { instructions: TransactionInstruction[]; lookupTables?: Address[] };
  const cases: readonly (readonly [string, () => Composed])[] = [
    ['a payment', () => ({ instructions: [pay(friend.address)] })],
    ['a payment to an account that does not exist yet', () => ({ instructions: [pay(stranger.address)] })],
    ['a program without separate code', () => ({ instructions: [note()] })],
    ['a swap', () => ({ instructions: [swap()] })],
    ['a token account that is created', () => ({ instructions: [tokenAccount()] })],
    ['a program that is not called', () => ({ instructions: [pay(friend.address, publicKey(SWAP_PROGRAM_ID))] })],
    ['the code of a program beside it', () =>
      ({ instructions: [pay(friend.address, publicKey(SWAP_PROGRAM_ID), codeOf(SWAP_PROGRAM_ID))] })],
    ['the code of a program without it', () => ({ instructions: [pay(friend.address, codeOf(SWAP_PROGRAM_ID))] })],
    ['sysvars', () =>
      ({ instructions: [pay(friend.address, SYSVAR_CLOCK_PUBKEY, SYSVAR_INSTRUCTIONS_PUBKEY)] })],
    ['a lookup table', () => ({
      instructions: [pay(friend.address)], lookupTables: [chain.createLookupTable([friend.address, MINTS.usd])],
    })],
    ['two lookup tables', () => ({
      instructions: [pay(friend.address, publicKey(MINTS.big))],
      lookupTables: [chain.createLookupTable([friend.address]), chain.createLookupTable([MINTS.big])],
    })],
  ];

  test.each(cases)('of %s is the least limit that lets it run', (_, compose) => {
    const { instructions, lookupTables = [] } = compose();
    const limited = (bytes: number): Uint8Array =>
      signedTransaction({ chain, payer: user, instructions: [limit(bytes), ...instructions], lookupTables });
    const { error, footprint } = chain.simulate(limited(PLENTY));
    expect(error).toBeNull();
    const size = footprint!.loadedDataSize;
    const less = chain.simulate(limited(size - 1));
    expect(less).toMatchObject({ error: TOO_MUCH, footprint: { loadedDataSize: size - 1 } });
    expect(landed(chain.land(limited(size))).error).toBeNull();
  });

  test('of version 1 is the least limit that lets it run', async () => {
    const limited = (bytes: number): Promise<Buffer> => version1Payment({
      chain, payer: user, to: friend.address, lamports: 1_000n,
      config: { computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: bytes },
    });
    const size = chain.simulate(await limited(PLENTY)).footprint!.loadedDataSize;
    expect(chain.simulate(await limited(size - 1))).toMatchObject({ error: TOO_MUCH });
    expect(landed(chain.land(await limited(size))).error).toBeNull();
  });

  test('is part of what a landed transaction takes of its block', () => {
    // 720 for the signature, 300 for each of two write locks, 3 for 12 bytes of data, 8 for a page of loaded data.
    const paid = landed(chain.land(signedTransaction({ chain, payer: user, instructions: [pay(friend.address)] })));
    expect(chain.transaction(paid.signature)).toMatchObject({ unitsConsumed: 150, costUnits: 150 + 1_331 });
    const size = chain.account(codeOf(SWAP_PROGRAM_ID).toBase58())!.data.length;
    const loading = [pay(friend.address, publicKey(SWAP_PROGRAM_ID))];
    const more = landed(chain.land(signedTransaction({ chain, payer: user, instructions: loading })));
    expect(chain.transaction(more.signature)!.costUnits).toBe(150 + 1_323 + 8 * Math.ceil((size + 500) / 32_768));
  });
});

describe('a transaction that cannot run for what it loads', () => {
  const missing = new TransactionInstruction({ programId: publicKey(stranger.address), keys: [], data: Buffer.of(1) });

  test.each([
    ['a missing program', () => [pay(friend.address), missing], 'ProgramAccountNotFound'],
    ['an account that is no program', () => [
      new TransactionInstruction({ programId: publicKey(friend.address), keys: [], data: Buffer.of(1) }),
    ], 'InvalidProgramForExecution'],
    ['more data than its limit', () => [limit(100), pay(friend.address)], TOO_MUCH],
  ])('for %s lands, moves nothing and pays its fee', (_, instructions, error) => {
    const [before, theirs] = [chain.balance(user.address), chain.balance(friend.address)];
    const bytes = signedTransaction({ chain, payer: user, instructions: instructions() });
    expect(chain.simulate(bytes)).toMatchObject({ error, footprint: { feeLamports: 5_000n } });
    expect(chain.balance(user.address)).toBe(before);
    const result = landed(chain.land(bytes));
    expect(result).toMatchObject({ error, feeLamports: 5_000n, unitsConsumed: 0 });
    expect(chain.balance(user.address)).toBe(before - 5_000n);
    expect(chain.balance(friend.address)).toBe(theirs);
    const { preBalances, postBalances } = chain.transaction(result.signature)!;
    expect(preBalances[0]! - postBalances[0]!).toBe(5_000n);
    expect(chain.land(bytes)).toMatchObject({ kind: 'landed', error });
  });

  test('does not land without a good signature or the lamports for its fee', () => {
    const forged = Buffer.from(signedTransaction({ chain, payer: user, instructions: [missing] }));
    forged[1]! ^= 1;
    expect(chain.land(forged)).toMatchObject({ kind: 'rejected', error: 'SignatureFailure' });
    const heavy = Buffer.from(signedTransaction({ chain, payer: user, instructions: [limit(100), note()] }));
    heavy[1]! ^= 1;
    expect(chain.land(heavy)).toMatchObject({ kind: 'rejected', error: 'SignatureFailure' });
    for (const limits of [[limit(0)], [limit(100), limit(200)]]) {
      const unreadable = signedTransaction({ chain, payer: user, instructions: [...limits, note()] });
      expect(chain.simulate(unreadable)).toMatchObject({ footprint: null });
      const before = chain.balance(user.address);
      expect(chain.land(unreadable)).toMatchObject({ kind: 'rejected', error: chain.simulate(unreadable).error });
      expect(chain.balance(user.address)).toBe(before);
    }
    for (const lamports of [0n, chain.rentExemption(0), chain.rentExemption(0) + 4_999n]) {
      const poor = walletOf(`with ${lamports}`);
      if (lamports > 0n) chain.airdrop(poor.address, lamports);
      const bytes = signedTransaction({ chain, payer: poor, instructions: [missing] });
      expect(chain.land(bytes).kind).toBe('rejected');
      expect(chain.balance(poor.address)).toBe(lamports);
    }
  });
});
