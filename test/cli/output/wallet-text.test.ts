import { describe, expect, it } from 'vitest';
import type { WalletTokenAccount } from '../../../src/chain/wallet-contents.ts';
import type { ClosingLine, ShownClosings } from '../../../src/cli/output/wallet-text.ts';
import { closingsJson, closingsText, walletJson, walletText } from '../../../src/cli/output/wallet-text.ts';
import type { Amount, Lamports } from '../../../src/core/amount.ts';
import { stringifyJson } from '../../../src/core/json.ts';
import { FISH, SOL, TOKENS, USDC } from '../../market/tokens.ts';

const RENT = 2_039_280n as Lamports;

function account(change: Partial<WalletTokenAccount> = {}): WalletTokenAccount {
  return {
    address: 'Account', mint: USDC.mint, amount: 0n as Amount, decimals: 6,
    tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', lamports: RENT,
    isFrozen: false, delegate: undefined, delegatedAmount: 0n as Amount, closeAuthority: undefined,
    withheldFee: 0n as Amount, ...change,
  };
}

const wrapped =
  account({ mint: SOL.mint, decimals: 9, amount: 40_000_000n as Amount, lamports: (RENT + 40_000_000n) as Lamports });

type ShownWallet = Parameters<typeof walletText>[0];

function shown(lamports: bigint, accounts: readonly WalletTokenAccount[]): ShownWallet {
  return {
    address: 'Owner', contents: { lamports: lamports as Lamports, accounts }, tokens: TOKENS, solReserve: 50_000_000n,
  };
}

const text = (wallet: ShownWallet): string => walletText(wallet, { colour: false });

describe('the text of a wallet', () => {
  it('has SOL native, wrapped and in sum, each deposit, and what closing would return', () => {
    const words = text(shown(
      100_000_000n, [account({ amount: 5_000_000n as Amount }), account({ mint: FISH.mint, decimals: 5 }), wrapped],
    ));
    expect(words).toContain('0.14 SOL: 0.1 native, 0.04 wrapped');
    expect(words).toContain('0.00611784 SOL in 3 accounts');
    expect(words).toContain('would return 0.00203928 SOL of 1 account,');
    expect(words).toContain('with --unwrap 0.04407856 SOL');
    expect(words).toMatch(/USDC +5 +token +0\.00203928/);
    expect(words).toMatch(/wrapped SOL +0\.04 +token +0\.00203928/);
    expect(words).not.toContain('!!');
  });

  it('reports a missing reserve, and a reserve in wrapped SOL, which pays no fee', () => {
    expect(text(shown(10_000_000n, [])))
      .toMatch(/0\.05 SOL that no strategy may spend !! the wallet is 0\.04 SOL below it/);
    expect(text(shown(20_000_000n, [wrapped]))).toContain('--unwrap" unwraps it');
    expect(text(shown(50_000_000n, []))).not.toContain('!!');
  });

  it('marks accounts that are frozen, delegated, or cannot be closed', () => {
    const words = text(shown(0n, [account({
      isFrozen: true, delegate: 'DelegateDelegateDelegate', withheldFee: 7n as Amount,
      closeAuthority: 'StrangerStrangerStranger', decimals: undefined,
    })]));
    expect(words).toContain('frozen, delegated to Dele…gate, closed by Stra…nger, fees withheld, mint gone');
    expect(words).toContain('Account stays: 7 units of transfer fees');
    expect(words).toContain('nothing to close');
  });
});

describe('the JSON of a wallet', () => {
  it('has every amount as a string in smallest units', () => {
    expect(JSON.parse(stringifyJson(walletJson(shown(10_000_000n, [account(), wrapped]))))).toMatchObject({
      address: 'Owner', sol: { native: '10000000', wrapped: '40000000', total: '50000000' },
      sol_reserve: { lamports: '50000000', missing: '0', under: false },
      deposits_lamports: '4078560',
      accounts: [
        { symbol: 'USDC', amount: '0', decimals: 6, deposit_lamports: '2039280', frozen: false, delegate: null },
        { mint: SOL.mint, amount: '40000000', deposit_lamports: '2039280' },
      ], close_empty: { accounts: ['Account'], lamports: '2039280', kept: [] },
      close_empty_unwrap: { lamports: '44078560' },
    });
  });
});

const line = (state: ClosingLine['state'], reason?: string): ClosingLine =>
  ({ account: account(), state, backLamports: state === 'closed' ? RENT : 0n, signature: undefined, reason });
const closings = (lines: readonly ClosingLine[], change: Partial<ShownClosings> = {}): ShownClosings =>
  ({ address: 'Owner', dryRun: false, lines, kept: [], feeLamports: 5_042n, ...change });

describe('the result of closing accounts', () => {
  it('is a line per account and the sum', () => {
    const words = closingsText(
      closings([line('closed'), line('refused', 'the program would not close it'), line('left', 'interrupted')]),
      TOKENS,
    );
    expect(words.split('\n').slice(0, 4)).toStrictEqual([
      '  USDC Account  closed, 0.00203928 SOL returned', '  USDC Account  not closed: the program would not close it',
      '  USDC Account  not started: interrupted',
      '  1 account closed, 0.00203928 SOL returned, less 0.000005042 SOL of fees',
    ]);
  });

  it('says that there was nothing to close, or that nothing was closed', () => {
    expect(closingsText(closings([], { feeLamports: 0n }), TOKENS)).toBe('  nothing to close\n');
    expect(closingsText(closings([line('failed', 'it failed')]), TOKENS))
      .toContain('nothing closed, 0.000005042 SOL of fees');
    expect(closingsText(closings([], { feeLamports: 0n, kept: [{ account: account(), reason: 'fees' }] }), TOKENS))
      .toContain('USDC Account  stays: fees');
  });

  it('is available as JSON', () => {
    expect(JSON.parse(stringifyJson(closingsJson(closings([line('closed'), line('expired', 'never landed')]), TOKENS))))
      .toMatchObject({
        dry_run: false, back_lamports: '2039280', fee_lamports: '5042',
        accounts: [
          { state: 'closed', back_lamports: '2039280', reason: null },
          { state: 'expired', back_lamports: '0', reason: 'never landed' },
        ], kept: [],
      });
  });
});
