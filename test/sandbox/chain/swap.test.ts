import { createApproveInstruction } from '@solana/spl-token';
import { TransactionInstruction } from '@solana/web3.js';
import type { AccountMeta } from '@solana/web3.js';
import { beforeEach, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import type { Random } from '../../../src/core/random.ts';
import { associatedTokenAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { Address } from '../../../src/sandbox/chain/addresses.ts';
import type { Pool, SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { platformFee, quoteHop } from '../../../src/sandbox/chain/swap-math.ts';
import {
  createMarketFixture, customCode, landed, MINTS, signedTransaction, SWAP_ERRORS, walletOf,
} from './market-fixture.ts';
import type { Wallet } from './market-fixture.ts';
import { publicKey, swapInstruction } from './web3.ts';

const { usd, big, fresh, extra, sol } = MINTS;

let chain: SandboxChain;
let user: Wallet;

beforeEach(() => {
  ({ chain, user } = createMarketFixture());
});

type SwapHop = Parameters<typeof swapInstruction>[0]['hops'][number];
type SwapOptions = Omit<Parameters<typeof swapInstruction>[0], 'chain' | 'user'>;

function swap(options: SwapOptions): TransactionInstruction {
  return swapInstruction({ chain, user: user.address, ...options });
}

function land(instruction: TransactionInstruction, signers: readonly Wallet[] = []): ReturnType<SandboxChain['land']> {
  return chain.land(signedTransaction({ chain, payer: user, signers, instructions: [instruction] }));
}

/** Makes a route through the mints with one pool a step, and the user's accounts at its ends. */
function createRoute(
  mints: readonly Address[], pools: Partial<Pool & { reserveA: bigint; reserveB: bigint }> = {},
): SwapHop[] {
  for (const mint of [mints[0]!, mints.at(-1)!]) chain.fundToken({ owner: user.address, mint, amount: 0n });
  return mints.slice(1).map((outputMint, index) => {
    const inputMint = mints[index]!;
    const pool = chain.createPool({
      mintA: inputMint, mintB: outputMint, feeBps: 30, reserveA: 10n ** 12n, reserveB: 10n ** 13n, ...pools,
    });
    return { pool: pool.address, inputMint, outputMint };
  });
}

/** A route may come through one pool twice, and then finds it as its first passage left it. */
function quoteRoute(hops: readonly SwapHop[], amountIn: bigint): bigint {
  const reserves = new Map<Address, { a: bigint; b: bigint }>();
  return hops.reduce((amount, hop) => {
    const { reserveA, reserveB, feeBps } = chain.readPool(hop.pool);
    const { a, b } = reserves.get(hop.pool) ?? { a: reserveA, b: reserveB };
    const forward = chain.pool(hop.pool).mintA === hop.inputMint;
    const out = quoteHop({ reserveIn: forward ? a : b, reserveOut: forward ? b : a, feeBps, amountIn: amount });
    reserves.set(hop.pool, forward ? { a: a + amount, b: b - out } : { a: a - out, b: b + amount });
    return out;
  }, amountIn);
}

function held(mint: Address, owner = user.address): bigint {
  return chain.tokenBalance({ owner, mint });
}

describe('a swap', () => {
  test.each([
    ['one hop', [usd, big]],
    ['one hop against the pool, to Token-2022', [big, fresh]],
    ['two hops', [usd, fresh, big]],
    ['three hops through both token programs and wrapped SOL', [extra, sol, fresh, usd]],
    ['four hops', [usd, sol, fresh, extra, big]],
    ['a round trip', [usd, big, usd]],
  ])('of %s pays what was quoted, to the unit', (_, mints) => {
    const hops = createRoute(mints);
    chain.fundToken({ owner: user.address, mint: mints[0]!, amount: 5_000_000n });
    const quote = quoteRoute(hops, 1_000_000n);
    const before = held(mints.at(-1)!);
    const result = landed(land(swap({ hops, amountIn: 1_000_000n, minimumOut: quote })));
    expect(result.error).toBeNull();
    const spent = mints.at(-1) === mints[0] ? 1_000_000n : 0n;
    expect(held(mints.at(-1)!) - before + spent).toBe(quote);
    expect(held(mints[0]!) + 1_000_000n - (spent > 0n ? quote : 0n)).toBe(5_000_000n);
  });

  test('leaves the user without an account of the mints between', () => {
    const hops = createRoute([usd, fresh, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000n });
    landed(land(swap({ hops, amountIn: 1_000n, minimumOut: 1n })));
    expect(chain.accountExists(associatedTokenAddress(user.address, fresh, TOKEN_2022_PROGRAM))).toBe(false);
  });

  test('runs a pool backwards as well', () => {
    const [hop] = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: big, amount: 1_000_000n });
    const back = [{ pool: hop!.pool, inputMint: big, outputMint: usd }];
    const quote = quoteRoute(back, 1_000_000n);
    expect(landed(land(swap({ hops: back, amountIn: 1_000_000n, minimumOut: quote }))).error).toBeNull();
    expect(held(usd)).toBe(quote);
  });

  test('moves the reserves by exactly what went in and out', () => {
    const hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000_000n });
    const quote = quoteRoute(hops, 1_000_000n);
    landed(land(swap({ hops, amountIn: 1_000_000n, minimumOut: 0n })));
    expect(chain.readPool(hops[0]!.pool))
      .toEqual({ reserveA: 10n ** 12n + 1_000_000n, reserveB: 10n ** 13n - quote, feeBps: 30 });
  });

  test('pays out to another token account when told to', () => {
    const hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000n });
    const friend = walletOf('friend').address;
    const destination = chain.fundToken({ owner: friend, mint: big, amount: 0n });
    const quote = quoteRoute(hops, 1_000n);
    landed(land(swap({ hops, amountIn: 1_000n, minimumOut: quote, destination })));
    expect([held(big, friend), held(big)]).toEqual([quote, 0n]);
  });

  test('finds as many pools of one pair as were made', () => {
    const first = createRoute([usd, big])[0]!.pool;
    const second = createRoute([usd, big])[0]!.pool;
    expect(first).not.toBe(second);
    chain.writeReserves(second, { reserveA: 10n ** 9n, reserveB: 10n ** 9n });
    expect(chain.readPool(first).reserveA).toBe(10n ** 12n);
  });
});

describe('the chain pays what quoteHop says', () => {
  const random = seededRandom('swap-properties');

  test('for random reserves up to 2^62, fees, amounts and routes', () => {
    const mints = [usd, big, fresh, extra];
    const pools = mints.flatMap((mintA, index) =>
      mints.slice(index + 1).map((mintB, position) => chain.createPool({
        mintA, mintB, feeBps: [0, 1, 30, 250, 9_999][(index + position) % 5]!, reserveA: 1n, reserveB: 1n,
      })),
    );
    let filled = 0;
    for (let round = 0; filled < 150; round++) {
      expect(round).toBeLessThan(1_000);
      // A new user every time: holdings of many rounds would leave u64.
      user = walletOf(`user ${round}`);
      chain.airdrop(user.address, 1_000_000_000n);
      for (const pool of pools)
        chain.writeReserves(pool.address, { reserveA: magnitude(random, 20), reserveB: magnitude(random, 20) });
      const hops = randomRoute({ random, mints, pools, count: 1 + Math.floor(random() * 3) });
      const amountIn = round % 2 === 0 ? magnitude(random, 8) : shareOfReserve(hops[0]!, random);
      const input = hops[0]!.inputMint;
      const output = hops.at(-1)!.outputMint;
      chain.fundToken({ owner: user.address, mint: input, amount: amountIn });
      chain.fundToken({ owner: user.address, mint: output, amount: 0n });
      const quote = quoteRoute(hops, amountIn);
      const before = { input: held(input), output: held(output) };
      const result = landed(land(swap({ hops, amountIn, minimumOut: quote })));
      if (quote === 0n) {
        expect(customCode(result)).toBe(SWAP_ERRORS.liquidityInsufficient);
        continue;
      }
      expect({ round, error: result.error }).toEqual({ round, error: null });
      expect(held(input)).toBe(before.input - amountIn + (input === output ? quote : 0n));
      expect(held(output)).toBe(before.output + quote - (input === output ? amountIn : 0n));
      filled += 1;
    }
  });
});

/** An order that fits the pool it comes to. */
function shareOfReserve(hop: SwapHop, random: Random): bigint {
  const { reserveA, reserveB } = chain.readPool(hop.pool);
  const reserveIn = chain.pool(hop.pool).mintA === hop.inputMint ? reserveA : reserveB;
  return (reserveIn >> BigInt(Math.floor(random() * 12))) + 1n;
}

/** Sizes of every order from 2^leastBits to 2^62. */
function magnitude(random: Random, leastBits: number): bigint {
  const bits = BigInt(leastBits + Math.floor(random() * (62 - leastBits + 1)));
  return (BigInt(Math.floor(random() * 2 ** 53)) << 9n) % 2n ** bits + 1n;
}

function randomRoute(
  options: { random: Random; mints: readonly Address[]; pools: readonly Pool[]; count: number },
): SwapHop[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(options.random() * items.length)]!;
  let inputMint = pick(options.mints);
  return Array.from({ length: options.count }, () => {
    const pool = pick(options.pools.filter(({ mintA, mintB }) => mintA === inputMint || mintB === inputMint));
    const outputMint = pool.mintA === inputMint ? pool.mintB : pool.mintA;
    const hop = { pool: pool.address, inputMint, outputMint };
    inputMint = outputMint;
    return hop;
  });
}

describe('protection of the user', () => {
  test('one unit below the minimum fails with 6001, costs the fee and moves nothing', () => {
    const hops = createRoute([usd, fresh, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000_000n });
    const quote = quoteRoute(hops, 1_000_000n);
    const lamports = chain.balance(user.address);
    const result = landed(land(swap({ hops, amountIn: 1_000_000n, minimumOut: quote + 1n })));
    expect(result.error).toEqual({ InstructionError: [0, { Custom: 6001 }] });
    expect(result.logs.join('\n')).toContain('custom program error: 0x1771');
    expect([held(usd), held(big)]).toEqual([1_000_000n, 0n]);
    expect(chain.balance(user.address)).toBe(lamports - 5_000n);
    expect(chain.readPool(hops[0]!.pool).reserveA).toBe(10n ** 12n);
  });

  test('a price that moved between quote and landing fails with 6001', () => {
    const hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000_000n });
    const instruction = swap({ hops, amountIn: 1_000_000n, minimumOut: quoteRoute(hops, 1_000_000n) });
    chain.writeReserves(hops[0]!.pool, { reserveA: 10n ** 12n, reserveB: 10n ** 13n - 10n ** 9n });
    expect(customCode(land(instruction))).toBe(SWAP_ERRORS.belowMinimum);
  });

  test('the minimum is of what the user receives after the platform fee', () => {
    const hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 3_000_000n });
    const platform = walletOf('platform').address;
    const account = chain.fundToken({ owner: platform, mint: big, amount: 0n });
    const quote = quoteRoute(hops, 1_000_000n);
    const fee = platformFee(quote, 85);
    const options = { hops, amountIn: 1_000_000n, platformFee: { bps: 85, account } };
    expect(customCode(land(swap({ ...options, minimumOut: quote - fee + 1n })))).toBe(SWAP_ERRORS.belowMinimum);
    expect(landed(land(swap({ ...options, minimumOut: quote - fee }))).error).toBeNull();
    expect([held(big), held(big, platform)]).toEqual([quote - fee, fee]);
  });

  test('a platform fee to an account of another mint is refused', () => {
    const hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000_000n });
    const account = chain.fundToken({ owner: walletOf('platform').address, mint: usd, amount: 0n });
    const result =
      landed(land(swap({ hops, amountIn: 1_000_000n, minimumOut: 0n, platformFee: { bps: 85, account } })));
    expect(result.error).not.toBeNull();
    expect(held(usd)).toBe(1_000_000n);
  });

  test('too few tokens fail with the token program\'s own error', () => {
    const hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 999n });
    expect(customCode(land(swap({ hops, amountIn: 1_000n, minimumOut: 0n })))).toBe(1);
  });
});

describe('what the program refuses', () => {
  let hops: SwapHop[];
  let valid: TransactionInstruction;

  beforeEach(() => {
    hops = createRoute([usd, big]);
    chain.fundToken({ owner: user.address, mint: usd, amount: 1_000_000n });
    valid = swap({ hops, amountIn: 1_000n, minimumOut: 0n });
  });

  function withKey(position: number, change: Partial<AccountMeta>): TransactionInstruction {
    const keys = valid.keys.map((key, index) => (index === position ? { ...key, ...change } : key));
    return new TransactionInstruction({ programId: valid.programId, keys, data: valid.data });
  }

  function withData(change: (data: Buffer) => Buffer | void): TransactionInstruction {
    const data = Buffer.from(valid.data);
    return new TransactionInstruction({ programId: valid.programId, keys: valid.keys, data: change(data) ?? data });
  }

  test('another one\'s money: the owner of the source account must sign', () => {
    const thief = walletOf('thief');
    chain.fundToken({ owner: thief.address, mint: big, amount: 0n });
    const source = associatedTokenAddress(user.address, usd, TOKEN_PROGRAM);
    const foreign = swapInstruction({ chain, user: thief.address, hops, amountIn: 1_000n, minimumOut: 0n });
    foreign.keys[1]!.pubkey = publicKey(source);
    chain.airdrop(thief.address, 1_000_000_000n);
    const result = chain.land(signedTransaction({ chain, payer: thief, instructions: [foreign] }));
    expect(customCode(result)).toBe(4);
    expect(held(usd)).toBe(1_000_000n);
  });

  test('a user who did not sign', () => {
    const other = walletOf('other').address;
    expect(customCode(land(withKey(0, { pubkey: publicKey(other), isSigner: false })))).toBe(SWAP_ERRORS.signerMissing);
  });

  test('a delegate beyond what the owner allowed', () => {
    const delegate = walletOf('delegate');
    chain.fundToken({ owner: delegate.address, mint: big, amount: 0n });
    const source = associatedTokenAddress(user.address, usd, TOKEN_PROGRAM);
    landed(
      land(createApproveInstruction(publicKey(source), publicKey(delegate.address), publicKey(user.address), 1_500n)),
    );
    const instruction = swapInstruction({ chain, user: delegate.address, hops, amountIn: 1_000n, minimumOut: 0n });
    instruction.keys[1]!.pubkey = publicKey(source);
    expect(landed(land(instruction, [delegate])).error).toBeNull();
    chain.advanceSlots(2);
    expect(landed(land(instruction, [delegate])).error).not.toBeNull();
    expect(held(usd)).toBe(1_000_000n - 1_000n);
  });

  test.each([
    [
      'a pool of another program', 8, () => associatedTokenAddress(user.address, usd, TOKEN_PROGRAM),
      SWAP_ERRORS.poolInvalid,
    ],
    ['another pool of other mints', 8, () => createRoute([usd, extra])[0]!.pool, SWAP_ERRORS.mintMismatch],
    [
      'a vault that is not the pool\'s', 9, () => associatedTokenAddress(user.address, big, TOKEN_PROGRAM),
      SWAP_ERRORS.vaultMismatch,
    ],
    ['a mint of another pool', 6, () => fresh, SWAP_ERRORS.mintUnsupported],
    ['a token program that is none', 5, () => walletOf('no program').address, SWAP_ERRORS.tokenProgramUnsupported],
    ['the wrong one of the token programs', 5, () => TOKEN_2022_PROGRAM, SWAP_ERRORS.mintUnsupported],
  ])('%s', (_, position, address, code) => {
    expect(customCode(land(withKey(position, { pubkey: publicKey(address()) })))).toBe(code);
    expect(held(usd)).toBe(1_000_000n);
  });

  test('a pool it may not write to', () => {
    expect(customCode(land(withKey(8, { isWritable: false })))).toBe(SWAP_ERRORS.poolInvalid);
  });

  test.each([
    ['an unknown tag', (data: Buffer) => void data.writeUInt8(2, 0)],
    ['no hops', (data: Buffer) => void data.writeUInt8(0, 1)],
    ['five hops', (data: Buffer) => void data.writeUInt8(5, 1)],
    ['a fee above the whole', (data: Buffer) => void data.writeUInt16LE(10_001, 2)],
    ['reserved bytes in use', (data: Buffer) => void data.writeUInt32LE(1, 4)],
    ['nothing to swap', (data: Buffer) => void data.writeBigUInt64LE(0n, 8)],
    ['data too short', (data: Buffer) => data.subarray(0, 23)],
    ['data too long', (data: Buffer) => Buffer.concat([data, Buffer.alloc(1)])],
  ])('%s', (_, change) => {
    expect(customCode(land(withData(change)))).toBe(SWAP_ERRORS.instructionMalformed);
  });

  test('a number of accounts that does not fit the hops', () => {
    const short =
      new TransactionInstruction({ programId: valid.programId, keys: valid.keys.slice(0, -1), data: valid.data });
    const long = new TransactionInstruction({
      programId: valid.programId, keys: [...valid.keys, valid.keys[0]!], data: valid.data,
    });
    for (const instruction of [short, long]) expect(customCode(land(instruction))).toBe(SWAP_ERRORS.accountsMalformed);
  });

  test('an order of which nothing would come out', () => {
    chain.writeReserves(hops[0]!.pool, { reserveA: 10n ** 15n, reserveB: 10n });
    expect(customCode(land(valid))).toBe(SWAP_ERRORS.liquidityInsufficient);
  });
});
