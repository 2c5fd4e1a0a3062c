import bs58 from 'bs58';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLandedSwap } from '../../src/chain/landed-swap.ts';
import type { LandedTransaction } from '../../src/chain/rpc-answers.ts';
import { readTransactionError, transactionAnswer } from '../../src/chain/rpc-answers.ts';
import { seededRandom } from '../../src/core/random.ts';
import { SOL_MINT, USDC_MINT, type Mint } from '../../src/market/token.ts';
import { randomAddress } from './random-build.ts';

const random = seededRandom('landed');
const owner = randomAddress(random);
const sponsor = randomAddress(random);
const bonk = randomAddress(random) as Mint;
const SYSTEM = '11111111111111111111111111111111';
const signature = bs58.encode(Uint8Array.from({ length: 64 }, (_, index) => index + 1));
const RENT = 2_039_280n;

/** An account before and after; lamports, and for token accounts the amount (undefined: there is none). */
interface Account {
  readonly address?: string;
  readonly lamports: readonly [bigint, bigint];
  readonly token?: {
    readonly mint: Mint; readonly owner?: string; readonly amount: readonly [bigint | undefined, bigint | undefined];
  };
}

function landed(accounts: readonly Account[], extra: {
  fee?: bigint; err?: unknown; instructions?: readonly object[]; loaded?: number;
} = {}): LandedTransaction {
  const { fee = 5_000n, err = null, instructions = [], loaded = 0 } = extra;
  const keys = accounts.map(({ address }) => address ?? randomAddress(random));
  const tokenBalances = (side: 0 | 1) =>
    accounts.flatMap(({ token }, accountIndex) => {
      const amount = token?.amount[side];
      return amount === undefined ? [] : [
        { accountIndex, mint: token!.mint, owner: token!.owner ?? owner, uiTokenAmount: { amount: amount.toString() } },
      ];
    });
  const parsed = transactionAnswer.parse({
    slot: 9,
    meta: {
      err,
      fee,
      preBalances: accounts.map(({ lamports }) => lamports[0]),
      postBalances: accounts.map(({ lamports }) => lamports[1]),
      preTokenBalances: tokenBalances(0),
      postTokenBalances: tokenBalances(1),
      innerInstructions: [{ index: 0, instructions }],
      loadedAddresses: { writable: keys.slice(keys.length - loaded), readonly: [] },
    },
    transaction: {
      signatures: [signature], message: { accountKeys: keys.slice(0, keys.length - loaded), instructions: [] },
    },
  });
  return parsed as LandedTransaction;
}

/** A System instruction that gives lamports to an account: 0 creates it, 2 transfers. */
function funding(kind: 0 | 2, options: { from: number; to: number; programIdIndex: number }): object {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(kind, 0);
  data.writeBigUInt64LE(RENT, 4);
  return { programIdIndex: options.programIdIndex, accounts: [options.from, options.to], data: bs58.encode(data) };
}

describe('a landed swap', () => {
  test('of SOL through an account that is opened and closed costs only the fee', () => {
    const transaction = landed([
      { address: owner, lamports: [10_000_000_000n, 10_000_000_000n - 1_500_000_000n - 5_000n] },
      { lamports: [0n, 0n] },
      { lamports: [RENT, RENT], token: { mint: USDC_MINT, amount: [7n, 225_000_007n] } },
    ]);
    expect(readLandedSwap(transaction, { owner, inputMint: SOL_MINT, outputMint: USDC_MINT })).toEqual({
      signature, slot: 9n, error: undefined, feeLamports: 5_000n, rentLamports: 0n, amountIn: 1_500_000_000n,
      amountOut: 225_000_000n,
    });
  });

  test('counts the deposit of an account opened for the output, also out of a lookup table', () => {
    const transaction = landed(
      [
        { address: owner, lamports: [5_000_000_000n, 5_000_000_000n - 1_000n - 6_000n - RENT] },
        { lamports: [0n, RENT], token: { mint: bonk, amount: [undefined, 77n] } },
      ],
      { fee: 6_000n, loaded: 1 },
    );
    expect(readLandedSwap(transaction, { owner, inputMint: SOL_MINT, outputMint: bonk })).toMatchObject({
      feeLamports: 6_000n, rentLamports: RENT, amountIn: 1_000n, amountOut: 77n,
    });
  });

  test('into SOL adds wrapped SOL that remains, without its deposit', () => {
    const transaction = landed([
      { address: owner, lamports: [1_000_000_000n, 1_000_000_000n - 5_000n - RENT] },
      { lamports: [0n, RENT + 400n], token: { mint: SOL_MINT, amount: [undefined, 400n] } },
      { lamports: [RENT, RENT], token: { mint: USDC_MINT, amount: [60n, 0n] } },
    ]);
    expect(readLandedSwap(transaction, { owner, inputMint: USDC_MINT, outputMint: SOL_MINT })).toMatchObject({
      rentLamports: RENT, amountIn: 60n, amountOut: 400n,
    });
  });

  test('that unwraps earlier wrapped SOL returns its deposit, and counts that SOL as neither input nor output', () => {
    const transaction = landed([
      { address: owner, lamports: [1_000_000_000n, 1_000_000_000n - 5_000n + RENT + 300n + 900n] },
      { lamports: [RENT + 300n, 0n], token: { mint: SOL_MINT, amount: [300n, undefined] } },
      { lamports: [RENT, RENT], token: { mint: USDC_MINT, amount: [50n, 10n] } },
    ]);
    expect(readLandedSwap(transaction, { owner, inputMint: USDC_MINT, outputMint: SOL_MINT })).toMatchObject({
      rentLamports: -RENT, amountIn: 40n, amountOut: 900n,
    });
  });

  test('with another fee payer has no fee, and no deposit where that payer opened the account', () => {
    const accounts: Account[] = [
      { address: sponsor, lamports: [100_000_000n, 100_000_000n - 10_000n - RENT] },
      { address: owner, lamports: [0n, 0n] },
      { lamports: [0n, RENT], token: { mint: USDC_MINT, amount: [undefined, 5n] } },
      { lamports: [RENT, RENT], token: { mint: bonk, amount: [9n, 0n] } },
      { address: SYSTEM, lamports: [1n, 1n] },
    ];
    const swap = { owner, inputMint: bonk, outputMint: USDC_MINT };
    const expected = { feeLamports: 0n, rentLamports: 0n, amountIn: 9n, amountOut: 5n };
    const byThem = { instructions: [funding(0, { from: 0, to: 2, programIdIndex: 4 })] };
    expect(readLandedSwap(landed(accounts, byThem), swap)).toMatchObject(expected);
    expect(readLandedSwap(landed(accounts), swap)).toMatchObject(expected);
  });

  test('with another fee payer has the deposit that the wallet paid', () => {
    const transaction = landed(
      [
        { address: sponsor, lamports: [100_000_000n, 100_000_000n - 10_000n] },
        { address: owner, lamports: [50_000_000n, 50_000_000n - RENT + 30n] },
        { lamports: [0n, RENT], token: { mint: SOL_MINT, amount: [undefined, 0n] } },
        { lamports: [RENT, RENT], token: { mint: bonk, amount: [9n, 0n] } },
        { address: SYSTEM, lamports: [1n, 1n] },
      ],
      { instructions: [funding(2, { from: 1, to: 2, programIdIndex: 4 })] },
    );
    expect(readLandedSwap(transaction, { owner, inputMint: bonk, outputMint: SOL_MINT })).toMatchObject({
      feeLamports: 0n, rentLamports: RENT, amountIn: 9n, amountOut: 30n,
    });
  });

  test('counts a tip as a fee where neither side is SOL', () => {
    const transaction = landed([
      { address: owner, lamports: [1_000_000n, 1_000_000n - 5_000n - 1_000n] },
      { lamports: [RENT, RENT], token: { mint: bonk, amount: [9n, 0n] } },
      { lamports: [RENT, RENT], token: { mint: USDC_MINT, amount: [0n, 4n] } },
    ]);
    expect(readLandedSwap(transaction, { owner, inputMint: bonk, outputMint: USDC_MINT }))
      .toMatchObject({ feeLamports: 6_000n, rentLamports: 0n });
  });

  test("leaves other people's accounts of the same mint out of it, and adds up several of ours", () => {
    const transaction = landed([
      { address: owner, lamports: [1_000_000n, 995_000n] },
      { lamports: [RENT, RENT], token: { mint: bonk, amount: [9n, 2n] } },
      { lamports: [RENT, RENT], token: { mint: bonk, amount: [5n, 5n] } },
      { lamports: [RENT, RENT], token: { mint: bonk, amount: [5n, 3n] } },
      { lamports: [RENT, RENT], token: { mint: bonk, owner: sponsor, amount: [100n, 109n] } },
      { lamports: [RENT, RENT], token: { mint: USDC_MINT, amount: [0n, 4n] } },
      { lamports: [RENT, RENT], token: { mint: USDC_MINT, owner: sponsor, amount: [50n, 46n] } },
    ]);
    expect(readLandedSwap(transaction, { owner, inputMint: bonk, outputMint: USDC_MINT }))
      .toMatchObject({ amountIn: 9n, amountOut: 4n });
  });

  test('that failed costs the fee and moves nothing', () => {
    const accounts: Account[] = [{ address: owner, lamports: [1_000_000n, 993_000n] }];
    const transaction = landed(accounts, { fee: 7_000n, err: { InstructionError: [3, { Custom: 6_001 }] } });
    expect(readLandedSwap(transaction, { owner, inputMint: SOL_MINT, outputMint: USDC_MINT })).toEqual({
      signature, slot: 9n, feeLamports: 7_000n, rentLamports: 0n, amountIn: 0n, amountOut: 0n,
      error: { code: '6001', message: "instruction 3 failed with the program's error 6001" },
    });
  });

  test('always accounts for every lamport of the wallet', () => {
    const units = fc.bigInt(0n, 2n ** 53n);
    fc.assert(
      fc.property(
        fc.record({
          before: units, moved: units, fee: fc.bigInt(0n, 10_000_000n), wrappedBefore: fc.option(units),
          wrappedAfter: fc.option(units), opens: fc.boolean(), sells: fc.boolean(),
        }),
        ({ before, moved, fee, wrappedBefore, wrappedAfter, opens, sells }) => {
          const wrapped = [wrappedBefore ?? undefined, wrappedAfter ?? undefined] as const;
          const held = (amount: bigint | undefined) => (amount === undefined ? 0n : RENT + amount);
          const deposits = held(wrapped[1]) - held(wrapped[0]) - ((wrapped[1] ?? 0n) - (wrapped[0] ?? 0n))
            + (opens ? RENT : 0n);
          const solChange = (sells ? -moved : moved) - fee - deposits;
          const nativeChange = solChange - ((wrapped[1] ?? 0n) - (wrapped[0] ?? 0n));
          const start = before + 2n ** 55n;
          const other: readonly [bigint, bigint] = sells ? [0n, 5n] : [5n, 0n];
          const transaction = landed(
            [
              { address: owner, lamports: [start, start + nativeChange] },
              { lamports: [held(wrapped[0]), held(wrapped[1])], token: { mint: SOL_MINT, amount: wrapped } },
              {
                lamports: [opens ? 0n : RENT, RENT],
                token: { mint: bonk, amount: opens ? [undefined, other[1]] : other },
              },
            ],
            { fee },
          );
          const [inputMint, outputMint] = sells ? [SOL_MINT, bonk] : [bonk, SOL_MINT];
          fc.pre(!opens || sells);
          const swap = readLandedSwap(transaction, { owner, inputMint, outputMint });
          expect(sells ? swap.amountIn : swap.amountOut).toBe(moved);
          expect(solChange).toBe((sells ? -swap.amountIn : swap.amountOut) - swap.feeLamports - swap.rentLamports);
          expect(swap).toMatchObject({ feeLamports: fee, rentLamports: deposits });
        },
      ),
    );
  });
});

describe('balances that contradict the swap are CHAIN_RESPONSE_INVALID', () => {
  const swap = { owner, inputMint: bonk, outputMint: USDC_MINT };
  const wallet: Account = { address: owner, lamports: [10n, 10n] };

  test('an input balance that rose', () => {
    const transaction = landed([wallet, { lamports: [RENT, RENT], token: { mint: bonk, amount: [1n, 2n] } }]);
    expect(() => readLandedSwap(transaction, swap))
      .toThrow(expect.objectContaining({ code: 'CHAIN_RESPONSE_INVALID' }));
  });

  test('an output balance that fell', () => {
    const transaction = landed([wallet, { lamports: [RENT, RENT], token: { mint: USDC_MINT, amount: [2n, 1n] } }]);
    expect(() => readLandedSwap(transaction, swap))
      .toThrow(expect.objectContaining({ code: 'CHAIN_RESPONSE_INVALID' }));
  });

  test.each([
    'preTokenBalances', 'postTokenBalances',
  ])('none of tokens at all (%s): nothing would have moved', (name) => {
    const transaction = landed([wallet, { lamports: [RENT, RENT], token: { mint: bonk, amount: [1n, 0n] } }]);
    const without = { ...transaction.meta, [name]: null };
    expect(() => readLandedSwap({ ...transaction, meta: without }, swap)).toThrow('token balances');
    expect(readLandedSwap({ ...transaction, meta: { ...without, err: 'AccountInUse', fee: 0n } }, swap))
      .toMatchObject({ amountIn: 0n, amountOut: 0n });
  });

  test('balances of more or fewer accounts than the transaction has', () => {
    const transaction = landed([wallet]);
    const meta = { ...transaction.meta, postBalances: [1n, 2n] };
    expect(() => readLandedSwap({ ...transaction, meta }, swap)).toThrow('balances of 1 accounts');
    const outOfRange = {
      ...transaction.meta, preTokenBalances: [{ accountIndex: 3, mint: bonk, owner, uiTokenAmount: { amount: 1n } }],
    };
    expect(() => readLandedSwap({ ...transaction, meta: outOfRange }, swap)).toThrow('balances of 1 accounts');
  });
});

describe('the error of a transaction', () => {
  test.each<[unknown, string | undefined]>([
    [null, undefined],
    ['BlockhashNotFound', 'BlockhashNotFound'],
    [{ InsufficientFundsForRent: { account_index: 2 } }, 'InsufficientFundsForRent'],
    [{ InstructionError: [0, { Custom: 6_001 }] }, '6001'],
    [{ InstructionError: [0, 'InvalidArgument'] }, 'InvalidArgument'],
    [{ InstructionError: [0, { BorshIoError: 'end' }] }, 'BorshIoError'],
    [{ InstructionError: [0, { Custom: 'six' }] }, 'Custom'],
    [{ InstructionError: 'whatever' }, 'Unknown'],
    [{ InstructionError: [0, {}] }, 'Unknown'],
    [{}, 'Unknown'],
    [17, 'Unknown'],
    ['\u001b[2J', '\\u001b[2J'],
  ])('%j has the code %j', (error, code) => {
    expect(readTransactionError(error)?.code).toBe(code);
  });
});
