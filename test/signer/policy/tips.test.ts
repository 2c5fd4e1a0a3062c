import { describe, expect, test } from 'vitest';
import type { Expectation } from '../../../src/signer/policy/expectation.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import type { Finding } from '../../../src/signer/policy/verdict.ts';
import { NATIVE_MINT } from '../../../src/solana/constants.ts';
import {
  accountOf, addressOfByte, expectationOf, honestSwap, THIEF, TOKEN_PROGRAM, transactionOf, USDC, WALLET,
} from '../attack-swap.ts';
import { system, token, u64 } from './raw-instructions.ts';

const SELL = { inputMint: USDC, outputMint: NATIVE_MINT };
const policy = createPolicy();

/** Judges an honest swap that pays so many lamports to strangers too. */
function tipping(lamports: readonly bigint[], terms: Partial<Expectation> = {}): readonly Finding[] {
  const { bytes, tables } = transactionOf([
    ...honestSwap(SELL),
    ...lamports.map((tip, index) => system(2, [u64(tip)], [[WALLET, 'sw'], [addressOfByte(90 + index), 'w']])),
  ]);
  return policy.judge(bytes, expectationOf(SELL, terms), { tables }).findings;
}

describe('a tip that the service adds by itself', () => {
  test('is allowed up to the limit, to any receiver, all tips of a swap together', () => {
    expect(tipping([10_000n], { maxTipLamports: 100_000n })).toEqual([]);
    expect(tipping([60_000n, 40_000n], { maxTipLamports: 100_000n })).toEqual([]);
    expect(tipping([60_000n, 40_001n], { maxTipLamports: 100_000n })).toMatchObject([{
      code: 'TIP_EXCEEDS', message: '100001 lamports of tips, expected at most 100000 lamports; this looks like a tip: '
        + 'signer.max_tip allows it where it is "0.000100001 SOL" or more',
    }]);
  });

  test('is refused in plain words where none is allowed, with the setting and the amount', () => {
    expect(tipping([10_000n])).toMatchObject([{
      code: 'TRANSFER_DESTINATION', message: `10000 lamports to ${addressOfByte(90)}, which is no expected receiver; `
        + 'this looks like a tip: signer.max_tip allows it where it is "0.00001 SOL" or more',
    }]);
  });

  test('is called no tip beyond what the setting can allow, or where receivers are named', () => {
    for (const maxTipLamports of [0n, 100_000n]) expect(tipping([5_000_001n], { maxTipLamports })).toMatchObject([{
      code: 'TRANSFER_DESTINATION', message: expect.stringMatching(/no expected receiver$/) as string,
    }]);
    expect(tipping([10n], { maxTipLamports: 100_000n, tipAccounts: [THIEF] })).toMatchObject([{
      code: 'TRANSFER_DESTINATION', message: expect.stringMatching(/no expected receiver$/) as string,
    }]);
  });

  test('is SOL alone: tokens to a stranger are not called one', () => {
    const moved = token(TOKEN_PROGRAM, 3, [u64(1n)], [
      [accountOf(WALLET, USDC), 'w'], [accountOf(THIEF, USDC), 'w'], [WALLET, 's'],
    ]);
    const { bytes, tables } = transactionOf([...honestSwap(SELL), moved]);
    const { findings } = policy.judge(bytes, expectationOf(SELL, { maxTipLamports: 100_000n }), { tables });
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.map(({ message }) => message).join()).not.toContain('tip');
  });
});
