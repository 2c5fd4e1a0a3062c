import { ComputeBudgetProgram, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import {
  createAssociatedTokenAccountIdempotentInstruction, createCloseAccountInstruction, createSyncNativeInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  associatedTokenAddress, MEMO_PROGRAM, NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM,
} from '../../../src/sandbox/chain/addresses.ts';
import type { Landed, SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { createMarketFixture, landed, MINTS, signedTransaction, walletOf } from './market-fixture.ts';
import type { Wallet } from './market-fixture.ts';
import { publicKey } from './web3.ts';

let chain: SandboxChain;
let user: Wallet;
const friend = walletOf('friend');

beforeEach(() => {
  ({ chain, user } = createMarketFixture());
});

function pay(lamports: number, from = user): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: publicKey(from.address), toPubkey: publicKey(friend.address), lamports });
}

function payment(lamports: number, blockhash?: string): Uint8Array {
  return signedTransaction({
    chain, payer: user, instructions: [pay(lamports)], ...(blockhash === undefined ? {} : { blockhash }),
  });
}

describe('landing', () => {
  test('a transfer moves lamports and costs 5000 a signature', () => {
    const before = chain.balance(user.address);
    const result = landed(chain.land(payment(2_000_000)));
    expect(result).toMatchObject({ error: null, slot: chain.slot, feeLamports: 5_000n });
    expect(chain.balance(friend.address)).toBe(2_000_000n);
    expect(chain.balance(user.address)).toBe(before - 2_005_000n);
  });

  test('the same bytes again give the first result and move nothing', () => {
    const bytes = payment(2_000_000);
    const first = chain.land(bytes);
    chain.advanceSlots(3);
    expect(chain.land(bytes)).toEqual(first);
    chain.advanceSlots(500);
    expect(chain.land(bytes)).toEqual(first);
    expect(chain.balance(friend.address)).toBe(2_000_000n);
  });

  test('the same message under another valid signature does not execute either', () => {
    const bytes = payment(2_000_000);
    landed(chain.land(bytes));
    // Not even a well-formed signature is needed: the message itself is known.
    const resigned = Buffer.from(bytes);
    resigned.set(resigned.subarray(1, 33).map((byte) => byte ^ 1), 1);
    expect(chain.land(resigned)).toMatchObject({ kind: 'rejected', error: 'AlreadyProcessed' });
    expect(chain.balance(friend.address)).toBe(2_000_000n);
  });

  test('a failure on chain lands and costs its fee; a failure before it costs nothing', () => {
    const before = chain.balance(user.address);
    const failed = landed(chain.land(payment(10 ** 12)));
    expect(failed.error).toEqual({ InstructionError: [0, { Custom: 1 }] });
    expect(failed.feeLamports).toBe(5_000n);
    expect(chain.balance(user.address)).toBe(before - 5_000n);
    expect(chain.transaction(failed.signature)).toMatchObject({ error: failed.error, feeLamports: 5_000n });

    const poor = walletOf('without lamports');
    const unpaid = signedTransaction({ chain, payer: poor, instructions: [pay(1, poor)] });
    expect(chain.land(unpaid)).toMatchObject({ kind: 'rejected', error: 'AccountNotFound' });
    chain.airdrop(poor.address, 4_000n + chain.rentExemption(0));
    expect(chain.land(signedTransaction({ chain, payer: poor, instructions: [pay(1, poor)] })).kind).toBe('rejected');
  });

  test('a payer who has less than the fee is rejected', () => {
    const poor = walletOf('poor');
    chain.airdrop(poor.address, chain.rentExemption(0));
    const dear = [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000_000 }), pay(1, poor)];
    const result = chain.land(signedTransaction({ chain, payer: poor, instructions: dear }));
    expect(result).toMatchObject({ kind: 'rejected', error: 'InsufficientFundsForFee' });
  });

  test('rejects a signature of another wallet, and a missing one', () => {
    const forged = signedTransaction({ chain, payer: user, instructions: [pay(1), pay(1, friend)] });
    expect(chain.land(forged)).toMatchObject({ kind: 'rejected', error: 'SignatureFailure' });
    const tampered = Buffer.from(payment(1_000_000));
    tampered[tampered.length - 8]! ^= 1;
    expect(chain.land(tampered)).toMatchObject({ kind: 'rejected', error: 'SignatureFailure' });
    expect(chain.balance(friend.address)).toBe(0n);
  });

  test('listeners hear of what landed, failed or not, until they stop', () => {
    const heard: Landed[] = [];
    const stop = chain.onLanded((result) => heard.push(result));
    landed(chain.land(payment(2_000_000)));
    landed(chain.land(payment(10 ** 12)));
    chain.land(new Uint8Array(3));
    stop();
    landed(chain.land(payment(2_000_001)));
    expect(heard.map(({ error }) => error === null)).toEqual([true, false]);
  });

  test('two chains of the same options give the same results', () => {
    const twin = createMarketFixture();
    for (const each of [chain, twin.chain]) each.advanceSlots(40);
    expect(twin.chain.latestBlockhash()).toEqual(chain.latestBlockhash());
    const [ours, theirs] = [chain, twin.chain]
      .map((each) => each.land(signedTransaction({ chain: each, payer: user, instructions: [pay(2_000_000)] })));
    expect(theirs).toEqual(ours);
  });
});

describe('fees', () => {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 });
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_234_567 });
  const memo = new TransactionInstruction({ programId: publicKey(MEMO_PROGRAM), keys: [], data: Buffer.from('hello') });

  test.each([
    ['a price without a limit, built-in instructions only', () => [price, pay(1_000_000)]],
    ['a price without a limit, other programs among them', () => [price, pay(1_000_000), memo, memo]],
    ['a limit and a price', () => [limit, price, pay(1_000_000), memo]],
    ['a limit beyond the maximum', () => [ComputeBudgetProgram.setComputeUnitLimit({ units: 9_000_000 }), price, memo]],
    ['a limit alone', () => [limit, pay(1_000_000)]],
    ['two signatures', () => [
      price, limit, pay(1_000_000),
      SystemProgram.transfer({ fromPubkey: publicKey(friend.address), toPubkey: publicKey(user.address), lamports: 0 }),
    ]],
  ])('of %s are what the payer loses', (_, instructions) => {
    chain.airdrop(friend.address, 1_000_000_000n);
    const before = chain.balance(user.address) + chain.balance(friend.address);
    const { feeLamports, error } =
      landed(chain.land(signedTransaction({ chain, payer: user, signers: [friend], instructions: instructions() })));
    expect(error).toBeNull();
    expect(before - chain.balance(user.address) - chain.balance(friend.address)).toBe(feeLamports);
  });

  test('of a compute budget that cannot be read are not charged: it never lands', () => {
    const broken =
      new TransactionInstruction({ programId: ComputeBudgetProgram.programId, keys: [], data: Buffer.from([99]) });
    const before = chain.balance(user.address);
    expect(chain.land(signedTransaction({ chain, payer: user, instructions: [broken, pay(1_000_000)] })).kind)
      .toBe('rejected');
    expect(chain.balance(user.address)).toBe(before);
  });
});

describe('time', () => {
  test('a blockhash lands for 150 blocks and not one longer', () => {
    ({ chain, user } = createMarketFixture({ skippedSlots: 0 }));
    const { blockhash, lastValidBlockHeight } = chain.latestBlockhash('processed');
    chain.advanceSlots(150);
    expect(chain.blockHeight).toBe(lastValidBlockHeight);
    expect(chain.isBlockhashValid(blockhash)).toBe(true);
    landed(chain.land(payment(2_000_000, blockhash)));
    const late = payment(2_000_001, blockhash);
    chain.advanceSlots(1);
    expect(chain.isBlockhashValid(blockhash)).toBe(false);
    expect(chain.land(late)).toMatchObject({ kind: 'rejected', error: 'BlockhashNotFound' });
    expect(chain.isBlockhashValid(blockhash, 'finalized')).toBe(true);
    chain.advanceSlots(32);
    expect(chain.isBlockhashValid(blockhash, 'finalized')).toBe(false);
  });

  test('an unknown blockhash does not land', () => {
    expect(chain.land(payment(1, friend.address))).toMatchObject({ error: 'BlockhashNotFound' });
  });

  test('slots advance exactly, and height falls behind them', () => {
    const { slot, blockHeight } = chain;
    chain.advanceSlots(1_000);
    expect(chain.slot).toBe(slot + 1_000);
    expect(chain.blockHeight).toBeLessThan(blockHeight + 1_000);
    expect(chain.blockHeight).toBeGreaterThan(blockHeight + 940);
    expect(chain.blockHeight).toBeLessThan(chain.slot - 1_000_000);
  });

  test('a leap of a million slots is over at once and expires everything', () => {
    const { blockhash } = chain.latestBlockhash();
    const { slot } = chain;
    chain.advanceSlots(1_000_000);
    expect(chain.slot).toBe(slot + 1_000_000);
    expect(chain.isBlockhashValid(blockhash)).toBe(false);
    expect(landed(chain.land(payment(2_000_000))).slot).toBe(chain.slot);
  });

  test('a transaction never lands in a slot without a block', () => {
    ({ chain, user } = createMarketFixture({ skippedSlots: 0.9 }));
    for (let i = 0; i < 20; i++) {
      chain.advanceSlots(1);
      const { slot } = landed(chain.land(payment(2_000_000 + i)));
      expect(chain.blockAt('processed').slot).toBe(slot);
    }
  });

  test('block times follow the slots', () => {
    chain.advanceSlots(250);
    const { signature } = landed(chain.land(payment(2_000_000)));
    expect(chain.transaction(signature)!.unixSeconds).toBe(1_780_000_000 + 100);
  });

  test('the confirmed view is one slot behind, the finalized one 32, with the accounts of their slot', () => {
    chain.advanceSlots(40);
    landed(chain.land(payment(2_000_000)));
    const balances = (): (bigint | undefined)[] => (['processed', 'confirmed', 'finalized'] as const)
      .map((commitment) => chain.account(friend.address, commitment)?.lamports);
    expect(balances()).toEqual([2_000_000n, undefined, undefined]);
    chain.advanceSlots(1);
    landed(chain.land(payment(1)));
    expect(balances()).toEqual([2_000_001n, 2_000_000n, undefined]);
    chain.advanceSlots(31);
    expect(balances()).toEqual([2_000_001n, 2_000_001n, 2_000_000n]);
    chain.advanceSlots(1);
    expect(balances()).toEqual([2_000_001n, 2_000_001n, 2_000_001n]);
  });

  test('a closed account stays visible in the views of earlier slots', () => {
    chain.advanceSlots(40);
    const tokens = chain.fundToken({ owner: user.address, mint: MINTS.usd, amount: 0n });
    chain.advanceSlots(40);
    landed(chain.land(signedTransaction({ chain, payer: user, instructions: [
      createCloseAccountInstruction(publicKey(tokens), publicKey(user.address), publicKey(user.address)),
    ] })));
    expect(chain.accountExists(tokens)).toBe(false);
    expect(chain.programAccounts(TOKEN_PROGRAM, 'finalized').has(tokens)).toBe(true);
    expect(chain.programAccounts(TOKEN_PROGRAM, 'processed').has(tokens)).toBe(false);
  });

  test('a chain may start at any slot', () => {
    const early = createMarketFixture({ genesisSlot: 500_000_000 });
    expect(early.chain.slot).toBe(500_000_000);
  });
});

describe('tokens', () => {
  test.each([
    ['Token', MINTS.usd, 6, TOKEN_PROGRAM],
    ['Token-2022', MINTS.fresh, 8, TOKEN_2022_PROGRAM],
  ])('of %s move by real transfers into accounts made by the associated-token program', (
    _, mint, decimals, program,
  ) => {
    const source = chain.fundToken({ owner: user.address, mint, amount: 1_000n });
    const [payer, owner, target] = [
      publicKey(user.address), publicKey(friend.address),
      publicKey(associatedTokenAddress(friend.address, mint, program)),
    ];
    const create =
      createAssociatedTokenAccountIdempotentInstruction(payer, target, owner, publicKey(mint), publicKey(program));
    const transfer = createTransferCheckedInstruction(
      publicKey(source), publicKey(mint), target, payer, 400n, decimals, [], publicKey(program),
    );
    const { signature, error } =
      landed(chain.land(signedTransaction({ chain, payer: user, instructions: [create, transfer] })));
    expect(error).toBeNull();
    expect([chain.tokenBalance({ owner: user.address, mint }), chain.tokenBalance({ owner: friend.address, mint })])
      .toEqual([600n, 400n]);

    const transaction = chain.transaction(signature)!;
    const positionOf = (key: string): number => transaction.accountKeys.indexOf(key);
    expect(transaction.preTokenBalances).toEqual([
      { accountIndex: positionOf(source), mint, owner: user.address, tokenProgram: program, amount: 1_000n, decimals },
    ]);
    expect(transaction.postTokenBalances.find(({ owner: holder }) => holder === friend.address)).toEqual({
      accountIndex: positionOf(target.toBase58()), mint, owner: friend.address, tokenProgram: program, amount: 400n,
      decimals,
    });
    const rent = transaction.postBalances[positionOf(target.toBase58())]!;
    expect(transaction.preBalances[0]! - transaction.postBalances[0]!).toBe(rent + transaction.feeLamports);
  });

  test('an account we make equals one the associated-token program makes, byte for byte', () => {
    for (const [mint, program] of [
      [MINTS.usd, TOKEN_PROGRAM], [MINTS.fresh, TOKEN_2022_PROGRAM], [NATIVE_MINT, TOKEN_PROGRAM],
    ] as const) {
      const made = chain.fundToken({ owner: user.address, mint, amount: 0n });
      const target = associatedTokenAddress(friend.address, mint, program);
      const create = createAssociatedTokenAccountIdempotentInstruction(
        publicKey(user.address), publicKey(target), publicKey(friend.address), publicKey(mint), publicKey(program),
      );
      landed(chain.land(signedTransaction({ chain, payer: user, instructions: [create] })));
      const [ours, theirs] = [chain.account(made)!, chain.account(target)!];
      const expected = Buffer.from(theirs.data);
      expected.set(publicKey(user.address).toBytes(), 32);
      expect(Buffer.from(ours.data).toString('hex')).toBe(expected.toString('hex'));
      expect(ours.lamports).toBe(theirs.lamports);
    }
  });

  test('wrapped SOL wraps and unwraps, and funded wrapped SOL is backed by lamports', () => {
    const wrapped = chain.fundToken({ owner: user.address, mint: NATIVE_MINT, amount: 5_000n });
    const [owner, account] = [publicKey(user.address), publicKey(wrapped)];
    const wrap = [
      SystemProgram.transfer({ fromPubkey: owner, toPubkey: account, lamports: 1_000 }),
      createSyncNativeInstruction(account),
    ];
    expect(landed(chain.land(signedTransaction({ chain, payer: user, instructions: wrap }))).error).toBeNull();
    expect(chain.tokenBalance({ owner: user.address, mint: NATIVE_MINT })).toBe(6_000n);
    const before = chain.balance(user.address);
    const held = chain.balance(wrapped);
    expect(landed(chain.land(
      signedTransaction({ chain, payer: user, instructions: [createCloseAccountInstruction(account, owner, owner)] }),
    )).error).toBeNull();
    expect(chain.balance(user.address)).toBe(before + held - 5_000n);
    expect(held).toBe(6_000n + chain.rentExemption(165));
  });

  test('an address without a mint is refused by name', () => {
    expect(() => chain.mint(friend.address)).toThrow(friend.address);
    expect(() => chain.fundToken({ owner: user.address, mint: 'nonsense', amount: 1n }))
      .toThrow('expected the base58 of 32 bytes');
  });
});

describe('lookup tables', () => {
  const receivers = Array.from({ length: 12 }, (_, index) => walletOf(`receiver ${index}`).address);

  function payments(): TransactionInstruction[] {
    return receivers.map((receiver) => SystemProgram.transfer({
      fromPubkey: publicKey(user.address), toPubkey: publicKey(receiver), lamports: 1_000_000,
    }));
  }

  test('let a transaction name its accounts by index', () => {
    const table = chain.createLookupTable(receivers);
    const bytes = signedTransaction({ chain, payer: user, instructions: payments(), lookupTables: [table] });
    expect(bytes.length).toBeLessThan(signedTransaction({ chain, payer: user, instructions: payments() }).length - 300);
    const { signature, error } = landed(chain.land(bytes));
    expect(error).toBeNull();
    expect(receivers.map((receiver) => chain.balance(receiver))).toEqual(receivers.map(() => 1_000_000n));
    const { loadedAddresses, accountKeys, postBalances } = chain.transaction(signature)!;
    expect(loadedAddresses).toEqual({ writable: receivers, readonly: [] });
    expect(postBalances[accountKeys.indexOf(receivers[11]!)]).toBe(1_000_000n);
  });

  test('that do not exist, or are too short, keep a transaction from landing', () => {
    const table = chain.createLookupTable(receivers);
    const bytes = signedTransaction({ chain, payer: user, instructions: payments(), lookupTables: [table] });
    const elsewhere = createMarketFixture().chain;
    expect(elsewhere.land(bytes)).toMatchObject({ kind: 'rejected', error: 'AddressLookupTableNotFound' });
    elsewhere.createLookupTable(receivers.slice(0, 3));
    expect(elsewhere.land(bytes)).toMatchObject({ kind: 'rejected', error: 'InvalidAddressLookupTableIndex' });
  });

  test('get different addresses each', () => {
    expect(chain.createLookupTable(receivers)).not.toBe(chain.createLookupTable(receivers));
  });
});

describe('simulating', () => {
  test('shows what would happen and changes nothing', () => {
    const before = chain.balance(user.address);
    const result = chain.simulate(payment(2_000_000));
    expect(result).toMatchObject({ error: null, unitsConsumed: 150 });
    expect(result.accountsAfter.get(friend.address)?.lamports).toBe(2_000_000n);
    expect(chain.balance(user.address)).toBe(before);
    expect(chain.accountExists(friend.address)).toBe(false);
  });

  test('checks signatures only when asked to, and landing checks them again afterwards', () => {
    const unsigned =
      signedTransaction({ chain, payer: user, signers: [], instructions: [pay(2_000_000), pay(0, friend)] });
    chain.airdrop(friend.address, 1_000_000_000n);
    expect(chain.simulate(unsigned).error).toBeNull();
    expect(chain.simulate(unsigned, { sigVerify: true }).error).toBe('SignatureFailure');
    expect(chain.land(unsigned)).toMatchObject({ kind: 'rejected', error: 'SignatureFailure' });
  });

  test('knows an expired blockhash and what has landed already, unless told to replace it', () => {
    const bytes = payment(2_000_000);
    landed(chain.land(bytes));
    expect(chain.simulate(bytes).error).toBe('AlreadyProcessed');
    expect(chain.simulate(bytes, { replaceRecentBlockhash: true }).error).toBeNull();
    chain.advanceSlots(200);
    expect(chain.simulate(bytes).error).toBe('BlockhashNotFound');
  });
});
