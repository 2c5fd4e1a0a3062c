import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SwapLayout } from '../../../src/signer/policy/swap-programs.ts';
import { layoutSwap } from '../../../src/signer/policy/swap-programs.ts';
import type { SwapTerms } from '../../../src/signer/policy/instruction.ts';
import { NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/solana/constants.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import type { SimulatedChanges } from '../../../src/signer/policy/simulation.ts';
import { collectGoldens, type Golden } from './goldens.ts';
import { HEAD_LAYOUT, inLayout, LAYOUT_PROGRAM, TAIL_LAYOUT } from './layout-goldens.ts';

const PROGRAM = 'SysvarC1ock11111111111111111111111111111111';
const FIVE = ['user', 'source', 'destination', 'fee', 'in', TOKEN_PROGRAM, 'out', TOKEN_PROGRAM];
const read = layoutSwap([HEAD_LAYOUT, TAIL_LAYOUT]);

function head({ amountIn = 1_000n, quoted = 999n, slippage = 50, fee = 0 } = {}): Buffer {
  const data = Buffer.alloc(26);
  data.set([9, 1]);
  data.writeUInt16LE(fee, 2);
  data.writeBigUInt64LE(amountIn, 8);
  data.writeBigUInt64LE(quoted, 16);
  data.writeUInt16LE(slippage, 24);
  return data;
}

const instruction = (data: Uint8Array, accounts: readonly string[] = FIVE) =>
  ({ index: 0, program: PROGRAM, accounts, data });

function absent(places: readonly number[]): readonly string[] {
  return FIVE.map((account, place) => (places.includes(place) ? PROGRAM : account));
}

describe('a layout', () => {
  test('reads accounts and amounts at their positions, the minimum floored', () => {
    expect(read(instruction(head({ fee: 7 })))).toEqual({
      user: 'user', source: 'source', destination: 'destination', inputMint: 'in', inputProgram: TOKEN_PROGRAM,
      outputMint: 'out', outputProgram: TOKEN_PROGRAM,
      amountIn: 1_000n, minimumOut: 994n, platformFeeBps: 7, feeAccount: 'fee', unproven: undefined,
    });
  });

  test('reads the minimum as its program rounds it, for every quoted output and slippage', () => {
    const roundsUp = layoutSwap([{ ...HEAD_LAYOUT, slippage: { ...HEAD_LAYOUT.slippage!, minimum: 'ceil' } }]);
    const edges = [0n, 1n, 2n, 9_999n, 10_000n, 10_001n, 2n ** 53n + 1n, 2n ** 64n - 10_000n, 2n ** 64n - 1n];
    fc.assert(fc.property(
      fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
      fc.oneof(fc.constantFrom(0, 1, 9_999, 10_000), fc.integer({ min: 0, max: 10_000 })),
      (quoted, slippage) => {
        const minimum = (decode: typeof read): bigint =>
          (decode(instruction(head({ quoted, slippage }))) as SwapTerms).minimumOut;
        const takenOff = (quoted * BigInt(slippage)) / 10_000n;
        expect(minimum(roundsUp)).toBe(quoted - takenOff);
        expect(minimum(read)).toBe((quoted * BigInt(10_000 - slippage)) / 10_000n);
        expect([0n, 1n]).toContain(minimum(roundsUp) - minimum(read));
      },
    ), { numRuns: 2_000 });
    expect(roundsUp(instruction(head({ quoted: edges.at(-1)!, slippage: 0 }))))
      .toMatchObject({ minimumOut: 2n ** 64n - 1n });
    expect(roundsUp(instruction(head({ quoted: 1n, slippage: 9_999 })))).toMatchObject({ minimumOut: 1n });
    expect(roundsUp(instruction(head({ quoted: 1n, slippage: 10_000 })))).toMatchObject({ minimumOut: 0n });
  });

  test('with amounts at the end of the data is read but unproven: further bytes could fake them', () => {
    const data = Buffer.alloc(2 + 5 + 19);
    data.set([9, 2]);
    data.writeBigUInt64LE(8n, 7);
    data.writeBigUInt64LE(10_000n, 15);
    data.writeUInt16LE(100, 23);
    data.writeUInt8(3, 25);
    expect(read(instruction(data))).toMatchObject({
      amountIn: 8n, minimumOut: 9_900n, platformFeeBps: 3, unproven: expect.stringContaining('at the end') as string,
    });
    const faked = Buffer.concat([data, Buffer.alloc(19)]);
    expect(read(instruction(faked)))
      .toMatchObject({ amountIn: 0n, minimumOut: 0n, unproven: expect.stringContaining('at the end') as string });
    for (const program of [TOKEN_2022_PROGRAM, undefined]) {
      const layout = program === undefined
        ? { ...HEAD_LAYOUT, accounts: { ...HEAD_LAYOUT.accounts, outputProgram: undefined } } : HEAD_LAYOUT;
      const terms = layoutSwap([layout])(instruction(head({}), FIVE.with(7, program ?? 'x'))) as SwapTerms;
      expect(terms.unproven).toMatch(/whose mint may withhold part of it/);
    }
  });

  test('treats an account that is the program itself as missing', () => {
    const other: SwapLayout =
      { ...HEAD_LAYOUT, accounts: { ...HEAD_LAYOUT.accounts, otherDestination: 3, feeAccount: undefined } };
    const readOther = layoutSwap([other]);
    expect(readOther(instruction(head()))).toMatchObject({ source: 'source', destination: 'fee' });
    expect(readOther(instruction(head(), absent([3])))).toMatchObject({ destination: 'destination' });
    expect(readOther(instruction(head(), absent([2, 3])))).toMatchObject({ destination: 'user' });
    expect(readOther(instruction(head(), absent([1, 3]))))
      .toMatchObject({ source: 'user', destination: 'destination' });
  });

  test('is opaque for another instruction, and no swap for damaged data or missing accounts', () => {
    expect(read(instruction(Buffer.of(9, 3, 0, 0)))).toBe('opaque');
    expect(read(instruction(Buffer.of(9)))).toBe('opaque');
    expect(read(instruction(Buffer.alloc(0)))).toBe('opaque');
    for (const bad of [
      instruction(head().subarray(0, 25)), instruction(head(), FIVE.slice(0, 7)),
      instruction(head({ slippage: 10_001 })), instruction(head({ fee: 10_001 })),
      instruction(head(), FIVE.with(5, 'x')), instruction(head(), FIVE.with(7, 'x')),
      instruction(Buffer.concat([Buffer.of(9, 2), Buffer.alloc(18)])),
    ]) expect(read(bad)).toBeUndefined();
    // A short one whose amounts would reach into the discriminator.
    expect(read(instruction(Buffer.concat([Buffer.of(9, 2), Buffer.alloc(19)])))).toMatchObject({ amountIn: 0n });
  });
});

describe('swaps in a layout', () => {
  let goldens: readonly Golden[];
  beforeAll(async () => { goldens = await collectGoldens({ count: 44, seed: 6 }); }, 300_000);

  test('with amounts at the end are signed only with a matching simulation', () => {
    const policy = createPolicy([LAYOUT_PROGRAM]);
    const simple = goldens.filter(({ expectation: { receiver, feePayer, wallet, inputMint, outputMint } }) =>
      receiver === undefined && (feePayer ?? wallet) === wallet && inputMint !== NATIVE_MINT
        && outputMint !== NATIVE_MINT);
    const laidOut = simple.flatMap((golden) => inLayout(golden, 'tail') ?? []);
    expect(laidOut.length).toBeGreaterThan(3);
    for (const { bytes, expectation, tables } of laidOut) {
      const { wallet, inputMint, outputMint, amountIn, minimumOut } = expectation;
      const unproven = policy.judge(bytes, expectation, { tables });
      expect(unproven.findings.map(({ code }) => code)).toEqual(['SWAP_UNREADABLE']);
      const state = (mint: string, held: bigint) => ({
        owner: wallet, mint, amount: held, delegate: undefined, delegatedAmount: 0n, closeAuthority: undefined,
        isFrozen: false,
      });
      const changes = (spent: bigint): SimulatedChanges => ({
        wallet: { before: 10n ** 10n, after: 10n ** 10n, programAfter: '11111111111111111111111111111111' },
        tokenAccounts: [
          { address: 'a', before: state(inputMint, 2n * amountIn), after: state(inputMint, 2n * amountIn - spent) },
          { address: 'b', before: state(outputMint, 0n), after: state(outputMint, minimumOut) },
        ],
      });
      expect(policy.judge(bytes, expectation, { tables, simulation: changes(amountIn) }).verdict).toBe('allow');
      // The bytes state one amount, and the program takes another.
      expect(policy.judge(bytes, expectation, { tables, simulation: changes(amountIn + 1n) }).code)
        .toBe('SIMULATION_INPUT_EXCEEDS');
      // And the terms are held against what is written all the same.
      expect(policy.judge(
        bytes, { ...expectation, minimumOut: minimumOut + 10n ** 18n }, { tables, simulation: changes(amountIn) },
      ).findings.map(({ code }) => code)).toContain('SWAP_MINIMUM_BELOW');
    }
  });
});
