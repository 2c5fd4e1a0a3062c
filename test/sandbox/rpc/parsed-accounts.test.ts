import {
  AccountState, createAmountToUiAmountInstruction, createAssociatedTokenAccountInstruction,
  createEnableCpiGuardInstruction, createEnableRequiredMemoTransfersInstruction,
  createInitializeDefaultAccountStateInstruction, createInitializeGroupInstruction,
  createInitializeGroupMemberPointerInstruction, createInitializeGroupPointerInstruction, createInitializeInstruction,
  createInitializeInterestBearingMintInstruction, createInitializeMemberInstruction,
  createInitializeMetadataPointerInstruction, createInitializeMintCloseAuthorityInstruction,
  createInitializeMintInstruction, createInitializeMultisigInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction, createInitializePermanentDelegateInstruction,
  createInitializeScaledUiAmountConfigInstruction, createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction, createMintToInstruction, createReallocateInstruction,
  createTransferCheckedInstruction, ExtensionType, getAssociatedTokenAddressSync, getMintLen, MULTISIG_SIZE,
  TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableProgram, Connection, Keypair, NONCE_ACCOUNT_LENGTH, PublicKey, SystemProgram,
  SYSVAR_CLOCK_PUBKEY, SYSVAR_RENT_PUBKEY, SYSVAR_SLOT_HASHES_PUBKEY, Transaction, TransactionInstruction,
  TransactionMessage, VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { tokenExtensions } from '../../../src/sandbox/rpc/token-extensions.ts';
import { createMarketFixture, walletOf } from '../chain/market-fixture.ts';

// Every account here is made by the programs themselves, from instructions of the field's libraries.

const PROGRAM = TOKEN_2022_PROGRAM_ID;
const DECIMALS = 6;
/** The program's instruction that the library has no function for. */
const CONFIDENTIAL_TRANSFER = 27;
const ALL_SYSVARS = [
  'C1ock11111111111111111111111111111111', 'EpochSchedu1e111111111111111111111111',
  'Rent111111111111111111111111111111111', 'RecentB1ockHashes11111111111111111111',
  'S1otHashes111111111111111111111111111', 'S1otHistory11111111111111111111111111',
  'StakeHistory1111111111111111111111111', 'LastRestartS1ot1111111111111111111111',
  'EpochRewards1111111111111111111111111',
].map((name) => `Sysvar${name}`);

let chain: SandboxChain;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;
const owner = walletOf('user').keypair;
const me = owner.publicKey;
const other = walletOf('other').keypair.publicKey;

beforeAll(async () => {
  ({ chain } = createMarketFixture());
  chain.advanceSlots(100);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'processed', wsEndpoint: rpc.wsUrl });
});

afterAll(async () => {
  await rpc.close();
});

interface Parsed {
  readonly program: string;
  readonly parsed: { readonly type: string; readonly info: Readonly<Record<string, unknown>> };
  readonly space: number;
}

async function parsed(address: PublicKey): Promise<Parsed> {
  const { value } = await connection.getParsedAccountInfo(address);
  expect(value?.data).not.toBeInstanceOf(Buffer);
  return value!.data as Parsed;
}

async function run(instructions: TransactionInstruction[], signers: Keypair[] = []): Promise<string> {
  const transaction = new Transaction({ ...await connection.getLatestBlockhash(), feePayer: me }).add(...instructions);
  transaction.sign(owner, ...signers);
  return connection.sendRawTransaction(transaction.serialize());
}

async function create(
  key: Keypair, space: number, programId: PublicKey, rentOf = space,
): Promise<TransactionInstruction> {
  const lamports = await connection.getMinimumBalanceForRentExemption(rentOf);
  return SystemProgram.createAccount({
    fromPubkey: me, newAccountPubkey: key.publicKey, space, lamports, programId,
  });
}

/** Makes a mint with extensions; what is set up behind the mint itself grows the account. */
async function mintWith(
  extensions: ExtensionType[], before: (mint: PublicKey) => TransactionInstruction[],
  behind: (mint: PublicKey) => TransactionInstruction[] = () => [],
): Promise<PublicKey> {
  const mint = Keypair.generate();
  const length = getMintLen(extensions);
  await run([
    await create(mint, length, PROGRAM, length + 500), ...before(mint.publicKey),
    createInitializeMintInstruction(mint.publicKey, DECIMALS, me, me, PROGRAM), ...behind(mint.publicKey),
  ], [mint]);
  return mint.publicKey;
}

/** Makes the associated account of a mint with `amount` raw units in it. */
async function accountOf(mint: PublicKey, amount = 0n, holder = me): Promise<PublicKey> {
  const account = getAssociatedTokenAddressSync(mint, holder, false, PROGRAM);
  await run([
    createAssociatedTokenAccountInstruction(me, account, holder, mint, PROGRAM),
    ...(amount === 0n ? [] : [createMintToInstruction(mint, account, me, amount, [], PROGRAM)]),
  ]);
  return account;
}

async function extensionsOf(address: PublicKey): Promise<unknown> {
  return (await parsed(address)).parsed.info['extensions'];
}

const mine = (): string => me.toBase58();

describe('jsonParsed', () => {
  it('names the fee of a Token-2022 mint, and what an account of it withholds', async () => {
    const mint = await mintWith(
      [ExtensionType.TransferFeeConfig, ExtensionType.PermanentDelegate, ExtensionType.MintCloseAuthority],
      (key) => [
        createInitializeTransferFeeConfigInstruction(key, me, null, 250, 1_000n, PROGRAM),
        createInitializePermanentDelegateInstruction(key, other, PROGRAM),
        createInitializeMintCloseAuthorityInstruction(key, me, PROGRAM),
      ],
    );
    const fee = { epoch: expect.any(Number), maximumFee: 1_000, transferFeeBasisPoints: 250 };
    const { program, parsed: { type, info }, space } = await parsed(mint);
    expect({ program, type, space }).toEqual({ program: 'spl-token-2022', type: 'mint', space: expect.any(Number) });
    expect(info['extensions']).toEqual([
      { extension: 'transferFeeConfig', state: {
        transferFeeConfigAuthority: mine(), withdrawWithheldAuthority: null, withheldAmount: 0,
        olderTransferFee: fee, newerTransferFee: fee,
      } },
      { extension: 'permanentDelegate', state: { delegate: other.toBase58() } },
      { extension: 'mintCloseAuthority', state: { closeAuthority: mine() } },
    ]);
    const from = await accountOf(mint, 10_000n);
    const to = await accountOf(mint, 0n, other);
    await run([createTransferCheckedInstruction(from, mint, to, me, 1_000n, DECIMALS, [], PROGRAM)]);
    expect(await extensionsOf(to)).toEqual([
      { extension: 'immutableOwner' }, { extension: 'transferFeeAmount', state: { withheldAmount: 25 } },
    ]);
  });

  it('names every other extension of a mint that the program makes, with its state', async () => {
    const mint = await mintWith(
      [
        ExtensionType.DefaultAccountState, ExtensionType.TransferHook, ExtensionType.NonTransferable,
        ExtensionType.PausableConfig, ExtensionType.MetadataPointer, ExtensionType.GroupPointer,
        ExtensionType.GroupMemberPointer,
      ],
      (key) => [
        createInitializeDefaultAccountStateInstruction(key, AccountState.Frozen, PROGRAM),
        createInitializeTransferHookInstruction(key, me, other, PROGRAM),
        createInitializeNonTransferableMintInstruction(key, PROGRAM),
        createInitializePausableConfigInstruction(key, me, PROGRAM),
        createInitializeMetadataPointerInstruction(key, me, key, PROGRAM),
        createInitializeGroupPointerInstruction(key, me, key, PROGRAM),
        createInitializeGroupMemberPointerInstruction(key, me, key, PROGRAM),
      ],
      (key) => [
        createInitializeInstruction({
          programId: PROGRAM, metadata: key, updateAuthority: me, mint: key, mintAuthority: me, name: 'Näme',
          symbol: 'N', uri: 'https://token.example/n',
        }),
        createInitializeGroupInstruction({
          programId: PROGRAM, group: key, mint: key, mintAuthority: me, updateAuthority: null, maxSize: 3n,
        }),
      ],
    );
    const address = mint.toBase58();
    expect(await extensionsOf(mint)).toEqual([
      { extension: 'defaultAccountState', state: { accountState: 'frozen' } },
      { extension: 'transferHook', state: { authority: mine(), programId: other.toBase58() } },
      { extension: 'nonTransferable' },
      { extension: 'pausableConfig', state: { authority: mine(), paused: false } },
      { extension: 'metadataPointer', state: { authority: mine(), metadataAddress: address } },
      { extension: 'groupPointer', state: { authority: mine(), groupAddress: address } },
      { extension: 'groupMemberPointer', state: { authority: mine(), memberAddress: address } },
      { extension: 'tokenMetadata', state: {
        updateAuthority: mine(), mint: address, name: 'Näme', symbol: 'N', uri: 'https://token.example/n',
        additionalMetadata: [],
      } },
      { extension: 'tokenGroup', state: { updateAuthority: null, mint: address, size: 0, maxSize: 3 } },
    ]);
    expect(await extensionsOf(await accountOf(mint))).toEqual([
      { extension: 'immutableOwner' }, { extension: 'transferHookAccount', state: { transferring: false } },
      { extension: 'nonTransferableAccount' }, { extension: 'pausableAccount' },
    ]);
  });

  it('names the members of a group, and the guards that an owner puts on an account', async () => {
    const group = await mintWith([ExtensionType.GroupPointer],
      (key) => [createInitializeGroupPointerInstruction(key, me, key, PROGRAM)],
      (key) => [createInitializeGroupInstruction({
        programId: PROGRAM, group: key, mint: key, mintAuthority: me, updateAuthority: me, maxSize: 3n,
      })]);
    const member = await mintWith([ExtensionType.GroupMemberPointer],
      (key) => [createInitializeGroupMemberPointerInstruction(key, me, key, PROGRAM)],
      (key) => [createInitializeMemberInstruction({
        programId: PROGRAM, member: key, memberMint: key, memberMintAuthority: me, group, groupUpdateAuthority: me,
      })]);
    expect(await extensionsOf(member)).toContainEqual({
      extension: 'tokenGroupMember',
      state: { mint: member.toBase58(), group: group.toBase58(), memberNumber: 1 },
    });
    const account = await accountOf(member);
    const guards = [ExtensionType.MemoTransfer, ExtensionType.CpiGuard];
    await run([
      createReallocateInstruction(account, me, guards, me, [], PROGRAM),
      createEnableRequiredMemoTransfersInstruction(account, me, [], PROGRAM),
      createEnableCpiGuardInstruction(account, me, [], PROGRAM),
    ]);
    expect(await extensionsOf(account)).toEqual([
      { extension: 'immutableOwner' },
      { extension: 'memoTransfer', state: { requireIncomingTransferMemos: true } },
      { extension: 'cpiGuard', state: { lockCpi: true } },
    ]);
  });

  it('names a mint for confidential transfers', async () => {
    const initialize = (mint: PublicKey): TransactionInstruction => new TransactionInstruction({
      programId: PROGRAM, keys: [{ pubkey: mint, isSigner: false, isWritable: true }],
      data: Buffer.concat([Buffer.of(CONFIDENTIAL_TRANSFER, 0), me.toBuffer(), Buffer.of(1), Buffer.alloc(32)]),
    });
    const mint = Keypair.generate();
    // The library knows the extension's number, and not its length of 65 bytes.
    const length = getMintLen([]) + 84 + 4 + 65;
    await run([
      await create(mint, length, PROGRAM), initialize(mint.publicKey),
      createInitializeMintInstruction(mint.publicKey, DECIMALS, me, null, PROGRAM),
    ], [mint]);
    expect(await extensionsOf(mint.publicKey)).toEqual([{ extension: 'confidentialTransferMint', state: {
      authority: mine(), autoApproveNewAccounts: true, auditorElgamalPubkey: null,
    } }]);
  });

  it('shows interest and scales as the program itself computes them', async () => {
    const interest = await mintWith([ExtensionType.InterestBearingConfig],
      (key) => [createInitializeInterestBearingMintInstruction(key, me, 32_000, PROGRAM)]);
    const scaled = await mintWith([ExtensionType.ScaledUiAmountConfig],
      (key) => [createInitializeScaledUiAmountConfigInstruction(key, me, 1.000_000_3, PROGRAM)]);
    expect(await extensionsOf(scaled)).toEqual([{ extension: 'scaledUiAmountConfig', state: {
      authority: mine(), multiplier: '1.0000003', newMultiplierEffectiveTimestamp: expect.any(Number),
      newMultiplier: '1.0000003',
    } }]);
    expect(await extensionsOf(interest)).toMatchObject([{ extension: 'interestBearingConfig', state: {
      rateAuthority: mine(), preUpdateAverageRate: 32_000, currentRate: 32_000,
    } }]);
    for (const mint of [interest, scaled]) {
      const account = await accountOf(mint, 1_234_567_891n);
      chain.advanceSlots(300_000);
      for (const seen of [
        (await parsed(account)).parsed.info['tokenAmount'] as { uiAmountString: string; uiAmount: number },
        (await connection.getTokenAccountBalance(account)).value, (await connection.getTokenSupply(mint)).value,
        (await connection.getTokenLargestAccounts(mint)).value[0]!,
      ]) {
        expect(seen.uiAmountString).toBe(await shownByProgram(mint, 1_234_567_891n));
        expect(seen.uiAmountString).not.toBe('1234.567891');
        expect(seen.uiAmount).toBe(Number(seen.uiAmountString));
      }
    }
  });

  it('describes lookup tables, open and frozen', async () => {
    chain.advanceSlots(1);
    const [made, table] = AddressLookupTableProgram.createLookupTable({
      authority: me, payer: me, recentSlot: chain.slot - 1,
    });
    await run([made, AddressLookupTableProgram.extendLookupTable({
      lookupTable: table, authority: me, payer: me, addresses: [me, other],
    })]);
    const open = await parsed(table);
    expect(open).toEqual({ program: 'address-lookup-table', space: 56 + 64, parsed: { type: 'lookupTable', info: {
      deactivationSlot: '18446744073709551615', lastExtendedSlot: String(chain.slot), lastExtendedSlotStartIndex: 0,
      authority: mine(), addresses: [mine(), other.toBase58()],
    } } });
    await run([AddressLookupTableProgram.freezeLookupTable({ lookupTable: table, authority: me })]);
    expect((await parsed(table)).parsed.info).not.toHaveProperty('authority');
  });

  it('describes nonce accounts, and gives the bytes of other System accounts', async () => {
    const nonce = Keypair.generate();
    await run(SystemProgram.createNonceAccount({
      fromPubkey: me, noncePubkey: nonce.publicKey, authorizedPubkey: other,
      lamports: await connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH),
    }).instructions, [nonce]);
    const held = await connection.getNonce(nonce.publicKey);
    expect(await parsed(nonce.publicKey)).toEqual({ program: 'nonce', space: 80, parsed: {
      type: 'initialized',
      info: { authority: other.toBase58(), blockhash: held!.nonce, feeCalculator: { lamportsPerSignature: '5000' } },
    } });
    const plain = await connection.getParsedAccountInfo(me);
    expect(plain.value!.data).toEqual(Buffer.alloc(0));
    const unused = Keypair.generate();
    await run([await create(unused, NONCE_ACCOUNT_LENGTH, SystemProgram.programId)], [unused]);
    expect((await connection.getParsedAccountInfo(unused.publicKey)).value!.data).toBeInstanceOf(Buffer);
  });

  it('describes signers in common, programs and sysvars', async () => {
    const multisig = Keypair.generate();
    await run([
      await create(multisig, MULTISIG_SIZE, TOKEN_PROGRAM_ID),
      createInitializeMultisigInstruction(multisig.publicKey, [me, other], 2),
    ], [multisig]);
    expect(await parsed(multisig.publicKey)).toEqual({ program: 'spl-token', space: 355, parsed: {
      type: 'multisig', info: {
        numRequiredSigners: 2, numValidSigners: 2, isInitialized: true, signers: [mine(), other.toBase58()],
      },
    } });
    const program = await parsed(TOKEN_PROGRAM_ID);
    expect(program).toMatchObject({ program: 'bpf-upgradeable-loader', parsed: { type: 'program' } });
    const code = await parsed(new PublicKey(program.parsed.info['programData'] as string));
    expect(code.parsed).toMatchObject({ type: 'programData', info: { data: [expect.any(String), 'base64'] } });
    expect((await parsed(SYSVAR_CLOCK_PUBKEY)).parsed).toMatchObject({ type: 'clock', info: { slot: chain.slot } });
    expect((await parsed(SYSVAR_RENT_PUBKEY)).parsed).toEqual({ type: 'rent', info: { lamportsPerByte: '6960' } });
    const hashes = (await parsed(SYSVAR_SLOT_HASHES_PUBKEY)).parsed.info as unknown as { slot: number }[];
    expect(hashes[0]!.slot).toBeLessThan(chain.slot);
    for (const sysvar of ALL_SYSVARS)
      expect(await parsed(new PublicKey(sysvar)), sysvar).toMatchObject({ program: 'sysvar' });
  });

  it('gives the bytes where data is cut, of an unknown kind, or its mint is gone', () => {
    const mint = Buffer.alloc(300);
    mint[165] = 1;
    const put = (type: number, length: number): Buffer => {
      const copy = Buffer.from(mint);
      copy.writeUInt16LE(type, 166);
      copy.writeUInt16LE(length, 168);
      return copy;
    };
    const unreadable = [{ extension: 'unparseableExtension' }];
    expect(tokenExtensions(put(1, 108))).toMatchObject([{ extension: 'transferFeeConfig' }]);
    expect(tokenExtensions(put(1, 107))).toEqual(unreadable);
    expect(tokenExtensions(put(1, 60_000))).toEqual(unreadable);
    expect(tokenExtensions(put(999, 4))).toEqual(unreadable);
    expect(tokenExtensions(put(19, 70))).toEqual(unreadable);
    expect(tokenExtensions(mint)).toEqual([]);
    expect(tokenExtensions(mint.subarray(0, 168))).toEqual([]);
    for (let type = 1; type < 30; type++)
      for (let length = 0; length < 130; length++) expect(tokenExtensions(put(type, length))).toHaveLength(1);
  });
});

/** Asks the token program by a simulation. */
async function shownByProgram(mint: PublicKey, amount: bigint): Promise<string> {
  const message = new TransactionMessage({
    payerKey: me, recentBlockhash: (await connection.getLatestBlockhash()).blockhash,
    instructions: [createAmountToUiAmountInstruction(mint, amount, PROGRAM)],
  }).compileToV0Message();
  const { value } = await connection.simulateTransaction(new VersionedTransaction(message));
  expect(value.err).toBeNull();
  return Buffer.from(value.returnData!.data[0], 'base64').toString('utf8');
}
