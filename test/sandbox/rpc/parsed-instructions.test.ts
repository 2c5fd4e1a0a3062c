import {
  AuthorityType, createApproveInstruction, createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction, createCloseAccountInstruction, createFreezeAccountInstruction,
  createInitializeAccount3Instruction, createInitializeMint2Instruction, createInitializeMintInstruction,
  createInitializeMultisigInstruction, createMintToCheckedInstruction, createRevokeInstruction,
  createSetAuthorityInstruction, createSyncNativeInstruction, createTransferCheckedInstruction,
  createTransferInstruction, TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token';
import { AddressLookupTableProgram, TransactionInstruction } from '@solana/web3.js';
import type { PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { MEMO_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import { parseInstruction } from '../../../src/sandbox/rpc/parsed-instructions.ts';
import { walletOf } from '../chain/market-fixture.ts';
import { publicKey } from '../chain/web3.ts';

const [one, two, mint, owner, other] =
  ['one', 'two', 'mint', 'owner', 'other'].map((name) => walletOf(name).keypair.publicKey) as [
    PublicKey, PublicKey, PublicKey, PublicKey, PublicKey,
  ];

const text = (key: PublicKey): string => key.toBase58();

function parse({ programId, keys, data }: TransactionInstruction): ReturnType<typeof parseInstruction> {
  return parseInstruction(programId.toBase58(), keys.map(({ pubkey }) => pubkey.toBase58()), data);
}

const shown = (amount: string, decimals: number, uiAmountString: string): object =>
  ({ amount, decimals, uiAmount: Number(uiAmountString), uiAmountString });

describe('instructions as the field\u2019s libraries write them', () => {
  it.each<readonly [string, TransactionInstruction, object]>([
    ['transfer', createTransferInstruction(one, two, owner, 5n),
      { source: text(one), destination: text(two), amount: '5', authority: text(owner) }],
    ['transfer', createTransferInstruction(one, two, owner, 5n, [mint, other]), {
      source: text(one), destination: text(two), amount: '5', multisigAuthority: text(owner),
      signers: [text(mint), text(other)],
    }],
    ['transferChecked', createTransferCheckedInstruction(one, mint, two, owner, 1_500n, 3), {
      source: text(one), mint: text(mint), destination: text(two), authority: text(owner),
      tokenAmount: shown('1500', 3, '1.5'),
    }],
    ['approve', createApproveInstruction(one, other, owner, 7n),
      { source: text(one), delegate: text(other), owner: text(owner), amount: '7' }],
    ['revoke', createRevokeInstruction(one, owner), { source: text(one), owner: text(owner) }],
    ['mintToChecked', createMintToCheckedInstruction(mint, one, owner, 10n, 0),
      { mint: text(mint), account: text(one), mintAuthority: text(owner), tokenAmount: shown('10', 0, '10') }],
    ['closeAccount', createCloseAccountInstruction(one, two, owner),
      { account: text(one), destination: text(two), owner: text(owner) }],
    ['freezeAccount', createFreezeAccountInstruction(one, mint, owner),
      { account: text(one), mint: text(mint), freezeAuthority: text(owner) }],
    ['setAuthority', createSetAuthorityInstruction(mint, owner, AuthorityType.MintTokens, null),
      { mint: text(mint), authority: text(owner), authorityType: 'mintTokens', newAuthority: null }],
    ['setAuthority', createSetAuthorityInstruction(one, owner, AuthorityType.CloseAccount, other),
      { account: text(one), authority: text(owner), authorityType: 'closeAccount', newAuthority: text(other) }],
    ['syncNative', createSyncNativeInstruction(one), { account: text(one) }],
    ['initializeAccount3', createInitializeAccount3Instruction(one, mint, owner),
      { account: text(one), mint: text(mint), owner: text(owner) }],
    ['initializeMint', createInitializeMintInstruction(mint, 6, owner, null),
      { mint: text(mint), decimals: 6, mintAuthority: text(owner), rentSysvar: expect.stringMatching(/^SysvarRent/) }],
    ['initializeMint2', createInitializeMint2Instruction(mint, 6, owner, other),
      { mint: text(mint), decimals: 6, mintAuthority: text(owner), freezeAuthority: text(other) }],
    ['initializeMultisig', createInitializeMultisigInstruction(one, [owner, other], 2),
      { multisig: text(one), m: 2, signers: [text(owner), text(other)], rentSysvar: expect.any(String) }],
  ])('have a type, %s, and their terms', (type, instruction, info) => {
    expect(parse(instruction)).toEqual({ program: 'spl-token', parsed: { type, info } });
  });

  it('name their program', () => {
    const transfer = createTransferInstruction(one, two, owner, 5n, [], TOKEN_2022_PROGRAM_ID);
    expect(parse(transfer)).toMatchObject({ program: 'spl-token-2022', parsed: { type: 'transfer' } });
    const made = { source: text(owner), account: text(one), wallet: text(other), mint: text(mint) };
    expect(parse(createAssociatedTokenAccountInstruction(owner, one, other, mint)))
      .toMatchObject({ program: 'spl-associated-token-account', parsed: { type: 'create', info: made } });
    expect(parse(createAssociatedTokenAccountIdempotentInstruction(owner, one, other, mint)))
      .toMatchObject({ parsed: { type: 'createIdempotent', info: made } });
    const data = Buffer.from('h\u00ebllo');
    expect(parse(new TransactionInstruction({ programId: publicKey(MEMO_PROGRAM), keys: [], data })))
      .toEqual({ program: 'spl-memo', parsed: 'h\u00ebllo' });
    const [create, table] =
      AddressLookupTableProgram.createLookupTable({ authority: owner, payer: one, recentSlot: 9 });
    expect(parse(create)).toMatchObject({ program: 'address-lookup-table', parsed: { type: 'createLookupTable', info: {
      lookupTableAccount: text(table), lookupTableAuthority: text(owner), payerAccount: text(one), recentSlot: 9,
    } } });
    expect(parse(AddressLookupTableProgram.extendLookupTable(
      { lookupTable: table, authority: owner, addresses: [one, two] },
    ))).toMatchObject({ parsed: { type: 'extendLookupTable', info: { newAddresses: [text(one), text(two)] } } });
  });

  it('are given as bytes where they are cut, short of accounts, or unknown', () => {
    const { programId, keys, data } = createTransferCheckedInstruction(one, mint, two, owner, 1_500n, 3);
    for (let length = 0; length < data.length; length++)
      expect(parse(new TransactionInstruction({ programId, keys, data: data.subarray(0, length) }))).toBeUndefined();
    for (let count = 0; count < keys.length; count++)
      expect(parse(new TransactionInstruction({ programId, keys: keys.slice(0, count), data }))).toBeUndefined();
    for (let number = 24; number < 256; number++)
      expect(parse(new TransactionInstruction({ programId, keys, data: Buffer.of(number, 0, 0) }))).toBeUndefined();
    expect(parseInstruction(text(one), [], data)).toBeUndefined();
  });
});
