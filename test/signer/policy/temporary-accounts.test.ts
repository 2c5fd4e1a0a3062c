import { beforeAll, describe, expect, test } from 'vitest';
import { NATIVE_MINT, seededAddress, TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import {
  closeTokenAccount, createSeededAccount, initializeTokenAccount, transferTokens, type Instruction,
} from '../../../src/sandbox/service/build/instructions.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import { decompile, recompile, type Parts } from './decompile.ts';
import { collectGoldens, type Golden } from './goldens.ts';
import { isSwap } from './victim.ts';

const RENT = 2_039_280n;
const SOL = { mint: NATIVE_MINT, decimals: 9, tokenProgram: TOKEN_PROGRAM };

let golden: Golden;
let parts: Parts;
beforeAll(async () => {
  golden = (await collectGoldens({ count: 44, seed: 5 })).find(({ kind }) => kind === 'build, native')!;
  parts = decompile(golden.bytes, golden.tables);
}, 300_000);

function temporary(seed: string): { account: string; opening: Instruction[] } {
  const { wallet } = golden.expectation;
  const account = seededAddress(wallet, seed, TOKEN_PROGRAM);
  return {
    account,
    opening: [
      createSeededAccount({
        payer: wallet, base: wallet, seed, account, lamports: RENT, bytes: 165, owner: TOKEN_PROGRAM,
      }),
      initializeTokenAccount({ account, owner: wallet, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }),
    ],
  };
}

function judge(instructions: readonly Instruction[]): readonly string[] {
  const { bytes, tables } = recompile({ ...parts, instructions }, 'shared');
  expect(bytes.length).toBeLessThanOrEqual(1_232);
  return createPolicy().judge(bytes, golden.expectation, { tables }).findings.map(({ code }) => code);
}

describe('temporary accounts', () => {
  test('cannot pay their rents to the receiver by moving them to each other first', () => {
    const { wallet, receiver } = golden.expectation;
    const swap = parts.instructions.find(isSwap)!;
    const [a, b] = [temporary('a'), temporary('b')];
    const half = (account: string): Instruction => {
      const data = Buffer.from(swap.data);
      for (const offset of [8, 16]) data.writeBigUInt64LE(data.readBigUInt64LE(offset) / 2n, offset);
      return { ...swap, data, accounts: swap.accounts.with(2, { pubkey: account, isSigner: false, isWritable: true }) };
    };
    const give = (from: string, to: string): Instruction =>
      transferTokens({ from, to, owner: wallet, token: SOL, amount: RENT });
    const close = (account: string): Instruction =>
      closeTokenAccount({ account, destination: receiver!, owner: wallet, tokenProgram: TOKEN_PROGRAM });
    const codes = judge([
      ...a.opening, ...b.opening, half(a.account), half(b.account), give(a.account, b.account),
      give(b.account, a.account), close(a.account), close(b.account),
    ]);
    expect(codes.filter((code) => code === 'RENT_EXCEEDS')).toHaveLength(2);
  });

  test('cannot be closed to the receiver before the swap has paid, nor stay open', () => {
    const { wallet, receiver } = golden.expectation;
    const { account, opening } = temporary('c');
    const close = (destination: string): Instruction =>
      closeTokenAccount({ account, destination, owner: wallet, tokenProgram: TOKEN_PROGRAM });
    expect(judge([...opening, close(receiver!), ...parts.instructions]))
      .toEqual(['CLOSE_DESTINATION', 'ACCOUNT_UNFINISHED']);
    expect(judge([...opening, ...parts.instructions])).toEqual(['ACCOUNT_UNFINISHED']);
    expect(judge([...opening, ...parts.instructions, close(wallet)])).toEqual([]);
  });
});
