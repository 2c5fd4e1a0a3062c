import { beforeAll, describe, expect, test } from 'vitest';
import {
  CONSTANT_PRODUCT_PROGRAM, swapPrograms,
} from '../../../src/signer/policy/swap-programs.ts';
import { NATIVE_MINT } from '../../../src/solana/constants.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import type { SimulatedChanges } from '../../../src/signer/policy/simulation.ts';
import type { TokenAccountState } from '../../../src/solana/accounts.ts';
import { collectGoldens, type Golden } from './goldens.ts';

const BLIND = createPolicy([{ program: CONSTANT_PRODUCT_PROGRAM }]);

let goldens: readonly Golden[];
beforeAll(async () => {
  goldens = (await collectGoldens({ count: 44, seed: 4 }))
    .filter(({ expectation: { receiver, maker, wallet, feePayer = wallet } }) =>
      receiver === undefined && maker === undefined && feePayer === wallet);
}, 300_000);

/** What a simulation shows of a swap that goes as agreed; `extra` is what else happens to an account. */
function changesOf({ expectation, bytes, tables }: Golden, extra: Partial<SimulatedChanges> = {}): SimulatedChanges {
  const { wallet, inputMint, outputMint, amountIn, minimumOut } = expectation;
  const { feeLamports, tipLamports } = createPolicy().judge(bytes, expectation, { tables }).summary!.costs;
  const sol = (inputMint === NATIVE_MINT ? -amountIn : 0n) + (outputMint === NATIVE_MINT ? minimumOut : 0n)
    - feeLamports - tipLamports;
  const account = (address: string, mint: string, before: bigint, after: bigint): SimulatedChanges['tokenAccounts'] =>
    (mint === NATIVE_MINT ? [] : [{ address, before: plain(wallet, mint, before), after: plain(wallet, mint, after) }]);
  return {
    wallet: { before: 10n ** 18n, after: 10n ** 18n + sol, programAfter: '11111111111111111111111111111111' },
    tokenAccounts: [
      ...account('input', inputMint, amountIn + 5n, 5n), ...account('output', outputMint, 7n, 7n + minimumOut),
      ...account('other', CONSTANT_PRODUCT_PROGRAM, 3n, 3n),
    ],
    ...extra,
  };
}

function plain(owner: string, mint: string, amount: bigint): TokenAccountState {
  return { owner, mint, amount, delegate: undefined, delegatedAmount: 0n, closeAuthority: undefined, isFrozen: false };
}

function withAccount(changes: SimulatedChanges, address: string, after: Partial<TokenAccountState>): SimulatedChanges {
  return {
    ...changes,
    tokenAccounts: changes.tokenAccounts.map((account) =>
      (account.address === address ? { ...account, after: { ...account.after!, ...after } } : account)),
  };
}

function codeOf(golden: Golden, simulation: SimulatedChanges | undefined): string | undefined {
  const { bytes, expectation, tables } = golden;
  return BLIND.judge(bytes, expectation, { tables, simulation }).code;
}

describe('a swap without a decoder', () => {
  test('is not signed without a simulation', () => {
    expect(goldens.length).toBeGreaterThan(10);
    for (const golden of goldens) expect(codeOf(golden, undefined)).toBe('SWAP_UNREADABLE');
  });

  test('is signed after a simulation whose balance changes fit', () => {
    for (const golden of goldens) expect(codeOf(golden, changesOf(golden))).toBeUndefined();
  });

  test('is not signed where the balance changes differ', () => {
    for (const golden of goldens) {
      const fine = changesOf(golden);
      const { wallet, inputMint, outputMint } = golden.expectation;
      const poorer = { ...fine, wallet: { ...fine.wallet, after: fine.wallet.after - 5_000_000n } };
      expect(codeOf(golden, poorer)).toBe(
        inputMint === NATIVE_MINT ? 'SIMULATION_INPUT_EXCEEDS' : outputMint === NATIVE_MINT ? 'SIMULATION_OUTPUT_BELOW'
          : 'SIMULATION_SOL_EXCEEDS');
      if (inputMint !== NATIVE_MINT)
        expect(codeOf(golden, withAccount(fine, 'input', { amount: 4n }))).toBe('SIMULATION_INPUT_EXCEEDS');
      if (outputMint !== NATIVE_MINT)
        expect(codeOf(golden, withAccount(fine, 'output', { amount: 6n + golden.expectation.minimumOut })))
          .toBe('SIMULATION_OUTPUT_BELOW');
      expect(codeOf(golden, withAccount(fine, 'other', { amount: 2n }))).toBe('SIMULATION_BALANCE_CHANGED');
      for (const taken of [
        { delegate: 'x', delegatedAmount: 1n }, { closeAuthority: 'x' }, { owner: 'x' }, { isFrozen: true },
      ]) {
        expect(codeOf(golden, withAccount(fine, 'other', taken))).toBe('SIMULATION_AUTHORITY_CHANGED');
      }
      expect(codeOf(golden, { ...fine, wallet: { ...fine.wallet, programAfter: wallet } }))
        .toBe('SIMULATION_AUTHORITY_CHANGED');
    }
  });

  test('is judged by its simulation even with a decoder', () => {
    const [golden] = goldens;
    const { bytes, expectation, tables } = golden!;
    const policy = createPolicy(swapPrograms());
    expect(policy.judge(bytes, expectation, { tables, simulation: changesOf(golden!) }).verdict).toBe('allow');
    expect(policy.judge(bytes, expectation, {
      tables, simulation: withAccount(changesOf(golden!), 'other', { amount: 0n }),
    }).code).toBe('SIMULATION_BALANCE_CHANGED');
  });
});

describe('the decoder of the embedded chain’s swaps', () => {
  const decode = swapPrograms()[0]!.decode!;

  test('refuses a wrong length, tag or number of accounts', () => {
    const accounts = Array.from({ length: 11 }, () => 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
    const data = Buffer.alloc(24);
    data.set([1, 1]);
    const base = { index: 0, program: CONSTANT_PRODUCT_PROGRAM, accounts, data };
    expect(decode(base)).toMatchObject({ amountIn: 0n, minimumOut: 0n, platformFeeBps: 0, feeAccount: undefined });
    const bad = [
      { data: Buffer.alloc(0) }, { data: Buffer.concat([data, Buffer.of(0)]) },
      { data: Buffer.from(data).fill(2, 0, 1) }, { data: Buffer.from(data).fill(0, 1, 2) },
      { data: Buffer.from(data).fill(5, 1, 2) }, { data: Buffer.from(data).fill(255, 2, 4) },
      { data: Buffer.from(data).fill(1, 4, 5) }, { accounts: accounts.slice(1) },
    ];
    for (const change of bad) expect(decode({ ...base, ...change })).toBeUndefined();
  });
});
