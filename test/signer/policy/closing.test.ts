import {
  TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID, createApproveInstruction, createCloseAccountInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import type { TransactionInstruction } from '@solana/web3.js';
import {
  AddressLookupTableAccount, ComputeBudgetProgram, Keypair, SystemProgram, TransactionMessage, VersionedTransaction,
} from '@solana/web3.js';
import { AccountRole, address, type Instruction, type V1TransactionConfig } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { createPolicy, judgeClosing } from '../../../src/signer/policy/policy.ts';
import { composeV1 } from '../random-v1-transaction.ts';

const keyOf = (byte: number): Keypair => Keypair.fromSeed(new Uint8Array(32).fill(byte));
const WALLET = keyOf(1).publicKey;
const ACCOUNT = keyOf(2).publicKey;
const SECOND = keyOf(3).publicKey;
const THIEF = keyOf(4).publicKey;
const policy = createPolicy();
const CONFIG = { computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1_000_000, priorityFeeLamports: 20n };

function codes(instructions: readonly TransactionInstruction[], { payer = WALLET, tables = [] }: {
  payer?: typeof WALLET; tables?: AddressLookupTableAccount[];
} = {}): (string | undefined)[] {
  const message = new TransactionMessage({
    payerKey: payer, recentBlockhash: keyOf(9).publicKey.toBase58(), instructions: [...instructions],
  }).compileToV0Message(tables);
  return judgeClosing(new VersionedTransaction(message).serialize(), WALLET.toBase58(), policy)
    .findings.map(({ code }) => code);
}

const close = createCloseAccountInstruction(ACCOUNT, WALLET, WALLET);

describe('the policy on closing accounts', () => {
  it('allows closing the wallet’s accounts to the wallet, of both token programs', () => {
    expect(codes([close])).toStrictEqual([]);
    expect(codes([
      ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
      close, createCloseAccountInstruction(SECOND, WALLET, WALLET, [], TOKEN_2022_PROGRAM_ID),
    ])).toStrictEqual([]);
  });

  it.each([
    ['what is set free goes elsewhere', [createCloseAccountInstruction(ACCOUNT, THIEF, WALLET)], ['CLOSE_DESTINATION']],
    ['a transfer comes along', [close, createTransferInstruction(SECOND, THIEF, WALLET, 1n)], ['CLOSING_ONLY']],
    ['an approval comes along', [close, createApproveInstruction(SECOND, THIEF, WALLET, 1n)], ['APPROVAL_FORBIDDEN']],
    [
      'lamports come along', [close, SystemProgram.transfer({ fromPubkey: WALLET, toPubkey: THIEF, lamports: 1 })],
      ['CLOSING_ONLY'],
    ],
    [
      'the wallet is handed over',
      [close, SystemProgram.assign({ accountPubkey: WALLET, programId: TOKEN_PROGRAM_ID })], ['ASSIGN_FORBIDDEN'],
    ],
    [
      'an unknown program is called', [close, { programId: THIEF, keys: [], data: Buffer.alloc(0) }],
      ['PROGRAM_UNKNOWN'],
    ],
    ['the fee is beyond all reason', [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000_000 }), close,
    ], ['FEE_EXCEEDS']],
    ['nothing is closed', [ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 })], ['CLOSING_ONLY']],
  ])('is denied where %s', (_name, instructions, expected) => {
    expect(codes(instructions)).toStrictEqual(expected);
  });

  it('denies closing another owner’s account, and another fee payer', () => {
    expect(codes([createCloseAccountInstruction(ACCOUNT, WALLET, THIEF)]))
      .toStrictEqual(['SIGNER_UNKNOWN', 'CLOSE_FORBIDDEN']);
    expect(codes([close], { payer: THIEF })).toStrictEqual(['FEE_PAYER_FOREIGN', 'SIGNER_UNKNOWN']);
  });

  it('denies accounts out of a lookup table', () => {
    const table = new AddressLookupTableAccount({ key: keyOf(8).publicKey, state: {
      deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: [ACCOUNT],
    } });
    expect(codes([close], { tables: [table] })).toStrictEqual(['TABLE_UNREAD']);
  });

  it.each<readonly [name: string, config: V1TransactionConfig, extra: readonly Instruction[], expected: string[]]>([
    ['is allowed', CONFIG, [], []],
    ['is denied where the priority is beyond all reason', { ...CONFIG, priorityFeeLamports: 1_015_001n }, [],
      ['FEE_EXCEEDS']],
    ['is denied without a limit of units', { ...CONFIG, computeUnitLimit: 0 }, [], ['BUDGET_INVALID']],
    ['is denied with an instruction for the compute budget', CONFIG,
      [{ programAddress: address(ComputeBudgetProgram.programId.toBase58()), data: Uint8Array.of(2, 1, 0, 0, 0) }],
      ['BUDGET_INVALID']],
  ])('in version 1 %s', (_name, config, extra, expected) => {
    const closing = {
      programAddress: address(TOKEN_PROGRAM_ID.toBase58()), data: close.data,
      accounts: close.keys.map(({ pubkey, isSigner }) => ({
        address: address(pubkey.toBase58()), role: isSigner ? AccountRole.WRITABLE_SIGNER : AccountRole.WRITABLE,
      })),
    };
    const bytes = composeV1({
      payer: WALLET.toBase58(), blockhash: keyOf(9).publicKey.toBase58(), config, instructions: [...extra, closing],
    });
    const { findings, feeLamports } = judgeClosing(bytes, WALLET.toBase58(), policy);
    expect(findings.map(({ code }) => code)).toStrictEqual(expected);
    expect(feeLamports).toBe(5_000n + (config.priorityFeeLamports ?? 0n));
  });

  it('denies other transactions', () => {
    expect(judgeClosing(new Uint8Array(10), WALLET.toBase58(), policy).verdict).toBe('deny');
  });
});
