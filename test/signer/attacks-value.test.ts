import { describe, expect, test } from 'vitest';
import { TOKEN_2022_PROGRAM } from '../../src/solana/constants.ts';
import { CONSTANT_PRODUCT_PROGRAM } from '../../src/signer/policy/swap-programs.ts';
import type { Expectation } from '../../src/signer/policy/expectation.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import type { SimulatedChanges } from '../../src/signer/policy/simulation.ts';
import type { TokenAccountState } from '../../src/solana/accounts.ts';
import type { Instruction } from '../../src/sandbox/service/build/instructions.ts';
import {
  accountOf, AMOUNT, expectationOf, honestSwap, NATIVE_MINT, addressOfByte, SYSTEM_PROGRAM, THIEF, TOKEN_PROGRAM,
  transactionOf, USDC, WALLET,
} from './attack-swap.ts';
import { budget, instruction, openAssociated, system, token, u32, u64 } from './policy/raw-instructions.ts';

// What a service that makes transactions may try, and a maker.

const policy = createPolicy();
const PEARL = addressOfByte(31);
const MAKER = addressOfByte(32);
const FRIEND = addressOfByte(33);
const SELL = { inputMint: USDC, outputMint: NATIVE_MINT };
const BUY = { inputMint: NATIVE_MINT, outputMint: USDC };

function codes(
  instructions: readonly Instruction[], expectation: Expectation, options: Parameters<typeof transactionOf>[1] = {},
): readonly string[] {
  const { bytes, tables } = transactionOf(instructions, options);
  expect(bytes.length).toBeLessThanOrEqual(1_232);
  return policy.judge(bytes, expectation, { tables }).findings.map(({ code }) => code);
}

describe('a maker', () => {
  const pays = (program: string): readonly Instruction[] => [
    openAssociated({
      payer: MAKER, account: accountOf(WALLET, PEARL, program), owner: WALLET, mint: PEARL, tokenProgram: program,
    }),
    token(TOKEN_PROGRAM, 12, [u64(AMOUNT), Buffer.of(6)], [
      [accountOf(WALLET, USDC), 'w'], [USDC], [accountOf(MAKER, USDC), 'w'], [WALLET, 's'],
    ]),
    token(program, 12, [u64(AMOUNT), Buffer.of(6)], [
      [accountOf(MAKER, PEARL, program), 'w'], [PEARL], [accountOf(WALLET, PEARL, program), 'w'], [MAKER, 's'],
    ]),
  ];
  const expectation = expectationOf({ inputMint: USDC, outputMint: PEARL }, { maker: MAKER });

  test('that pays in a token of the older program counts by the sent amount', () => {
    expect(codes(pays(TOKEN_PROGRAM), expectation, { payer: MAKER })).toEqual([]);
  });

  test('that pays in a token whose mint may withhold it counts by a simulation alone', () => {
    expect(codes(pays(TOKEN_2022_PROGRAM), expectation, { payer: MAKER })).toEqual(['SWAP_UNREADABLE']);
    const { bytes, tables } = transactionOf(pays(TOKEN_2022_PROGRAM), { payer: MAKER });
    expect(policy.judge(bytes, expectation, { tables, simulation: paid(AMOUNT) }).verdict).toBe('allow');
    expect(policy.judge(bytes, expectation, { tables, simulation: paid(AMOUNT - 1n) }).code)
      .toBe('SIMULATION_OUTPUT_BELOW');
  });

  test('cannot take from the wallet’s account as a former delegate', () => {
    const taking = token(
      TOKEN_PROGRAM, 3, [u64(5n)], [[accountOf(WALLET, PEARL), 'w'], [accountOf(MAKER, PEARL), 'w'], [MAKER, 's']],
    );
    expect(codes([...pays(TOKEN_PROGRAM), taking], expectation, { payer: MAKER })).toContain('TRANSFER_SOURCE');
  });

  test('cannot count the same payment as output and as lent rent', () => {
    const paid = system(2, [u64(AMOUNT)], [[MAKER, 'sw'], [WALLET, 'w']]);
    const given = token(TOKEN_PROGRAM, 12, [u64(AMOUNT), Buffer.of(6)], [
      [accountOf(WALLET, USDC), 'w'], [USDC], [accountOf(MAKER, USDC), 'w'], [WALLET, 's'],
    ]);
    const back = system(2, [u64(1n)], [[WALLET, 'sw'], [MAKER, 'w']]);
    const terms = expectationOf(SELL, { maker: MAKER });
    expect(codes([given, paid], terms, { payer: MAKER })).toEqual([]);
    expect(codes([given, paid, back], terms, { payer: MAKER })).toContain('TRANSFER_EXCEEDS');
    expect(codes([given, paid], { ...terms, minimumOut: AMOUNT + 1n }, { payer: MAKER }))
      .toContain('SWAP_MINIMUM_BELOW');
  });
});

describe('a sponsor', () => {
  test('that claims rent of an existing account is paid within the limit on costs', () => {
    const wrapped = accountOf(WALLET, NATIVE_MINT);
    const lent = openAssociated({
      payer: FRIEND, account: wrapped, owner: WALLET, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM,
    });
    const [, ...rest] = honestSwap(SELL);
    const back = system(2, [u64(2_039_280n)], [[WALLET, 'sw'], [FRIEND, 'w']]);
    const { bytes, tables } = transactionOf([lent, ...rest, back], { payer: FRIEND });
    const { verdict, summary } = policy.judge(bytes, expectationOf(SELL, { feePayer: FRIEND }), { tables });
    expect([verdict, summary?.costs.repaidLamports]).toEqual(['allow', 2_039_280n]);
    expect(codes([lent, ...rest, back, back], expectationOf(SELL, { feePayer: FRIEND }), { payer: FRIEND }))
      .toContain('TRANSFER_EXCEEDS');
  });
});

describe('a service', () => {
  test('gets no lamport beyond the terms by extra instructions around an honest swap', () => {
    const wrapped = accountOf(WALLET, NATIVE_MINT);
    const beside: Readonly<Record<string, Instruction>> = {
      TRANSFER_DESTINATION: system(2, [u64(1n)], [[WALLET, 'sw'], [THIEF, 'w']]),
      TRANSFER_EXCEEDS: system(2, [u64(1n)], [[WALLET, 'sw'], [wrapped, 'w']]),
      ATA_OWNER: openAssociated({
        payer: WALLET, account: accountOf(THIEF, USDC), owner: THIEF, mint: USDC, tokenProgram: TOKEN_PROGRAM,
      }),
      MINT_UNEXPECTED: openAssociated({
        payer: WALLET, account: accountOf(WALLET, PEARL), owner: WALLET, mint: PEARL, tokenProgram: TOKEN_PROGRAM,
      }),
      CLOSE_DESTINATION: token(TOKEN_PROGRAM, 9, [], [[accountOf(WALLET, USDC), 'w'], [THIEF, 'w'], [WALLET, 's']]),
      CLOSE_FORBIDDEN: token(TOKEN_PROGRAM, 9, [], [[accountOf(WALLET, PEARL), 'w'], [WALLET, 'w'], [WALLET, 's']]),
      NONCE_FORBIDDEN: system(4, [], [[THIEF, 'w'], [WALLET, 's']]),
      PROGRAM_UNKNOWN: instruction(THIEF, Buffer.of(1), [[WALLET, 'sw']]),
      SWAP_UNREADABLE: instruction(CONSTANT_PRODUCT_PROGRAM, Buffer.of(9), [[WALLET, 'sw']]),
    };
    expect(codes(honestSwap(BUY), expectationOf(BUY))).toEqual([]);
    for (const [code, extra] of Object.entries(beside)) {
      for (const form of ['legacy', 'written', 'hidden'] as const) {
        for (const all of [[extra, ...honestSwap(BUY)], [...honestSwap(BUY), extra]])
          expect(codes(all, expectationOf(BUY), { form }), `${code}, ${form}`).toContain(code);
      }
    }
  });

  test('cannot raise the fee by an overflowing price, missing limits or repeated settings', () => {
    const max = 2n ** 64n - 1n;
    for (const extra of [
      [budget(3, u64(max))], [budget(2, u32(0xffff_ffff)), budget(3, u64(max))],
      [budget(3, u64(max)), budget(2, u32(1_400_000))],
    ]) {
      expect(codes([...extra, ...honestSwap(BUY)], expectationOf(BUY))).toEqual(['FEE_EXCEEDS']);
    }
    expect(codes([budget(3, u64(0n)), budget(3, u64(max)), ...honestSwap(BUY)], expectationOf(BUY)))
      .toEqual(['BUDGET_INVALID', 'FEE_EXCEEDS']);
    expect(codes([budget(2, u32(1_400_000)), budget(3, u64(725_000n)), ...honestSwap(BUY)], expectationOf(BUY)))
      .toEqual([]);
    expect(codes([budget(2, u32(1_400_000)), budget(3, u64(725_001n)), ...honestSwap(BUY)], expectationOf(BUY)))
      .toEqual(['FEE_EXCEEDS']);
  });

  test('cannot take the wallet’s SOL while a receiver gets the agreed output', () => {
    const blind = createPolicy([{ program: CONSTANT_PRODUCT_PROGRAM }]);
    const { bytes, tables } = transactionOf(honestSwap(SELL));
    const expectation = expectationOf(SELL, { receiver: FRIEND });
    expect(blind.judge(bytes, expectation, { tables, simulation: delivered(50_000_000_000n - 5_000n) }).verdict)
      .toBe('allow');
    expect(blind.judge(bytes, expectation, { tables, simulation: delivered(1n) }).code).toBe('SIMULATION_SOL_EXCEEDS');
  });
});

function held(mint: string, amount: bigint): TokenAccountState {
  return {
    owner: WALLET, mint, amount, delegate: undefined, delegatedAmount: 0n, closeAuthority: undefined, isFrozen: false,
  };
}

/** A simulation in which all of the input goes and so much of the output comes. */
function paid(arrives: bigint): SimulatedChanges {
  return {
    wallet: { before: 10n ** 9n, after: 10n ** 9n, programAfter: SYSTEM_PROGRAM },
    tokenAccounts: [
      { address: 'in', before: held(USDC, AMOUNT), after: held(USDC, 0n) },
      { address: 'out', before: undefined, after: held(PEARL, arrives) },
    ],
  };
}

/** A simulation in which a receiver gets what was agreed, of a wallet that has so many lamports left of 50 SOL. */
function delivered(lamportsAfter: bigint): SimulatedChanges {
  return {
    wallet: { before: 50_000_000_000n, after: lamportsAfter, programAfter: SYSTEM_PROGRAM },
    receiver: { before: 0n, after: AMOUNT },
    tokenAccounts: [{ address: 'in', before: held(USDC, AMOUNT), after: held(USDC, 0n) }],
  };
}
