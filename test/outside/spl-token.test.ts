import {
  amountToUiAmount, approve, approveChecked, AuthorityType, burn, closeAccount, createAccount,
  createAssociatedTokenAccountIdempotent, createInitializeMintInstruction, createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction, createMint, createMultisig, createWrappedNativeAccount, ExtensionType,
  freezeAccount, getAccount, getMint, getMintLen, getMultisig, getOrCreateAssociatedTokenAccount, getTransferFeeAmount,
  getTransferFeeConfig, harvestWithheldTokensToMint, mintTo, revoke, setAuthority, syncNative, thawAccount,
  TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID, TokenAccountNotFoundError, transferChecked, transferCheckedWithFee,
  uiAmountToAmount, withdrawWithheldTokensFromMint,
} from '@solana/spl-token';
import { Keypair, PublicKey, sendAndConfirmTransaction, SystemProgram, Transaction } from '@solana/web3.js';
import type { Connection, ParsedAccountData } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';
import type { OutsideSandbox } from './outside-sandbox.ts';
import { connect } from './web3js-swaps.ts';

describe.each(PROFILES)('a stranger with spl-token, on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let connection: Connection;
  let wallet: Keypair;
  let me: PublicKey;
  const friend = Keypair.generate();

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
    wallet = Keypair.fromSecretKey(bs58.decode(sandbox.addresses.wallet.private_key));
    me = wallet.publicKey;
    connection = connect(sandbox);
    await send(new Transaction().add(
      SystemProgram.transfer({ fromPubkey: me, toPubkey: friend.publicKey, lamports: 100_000_000 }),
    ));
  });

  beforeEach(() => {
    connection = connect(sandbox);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  function send(transaction: Transaction, signers: Keypair[] = []): Promise<string> {
    return sendAndConfirmTransaction(connection, transaction, [wallet, ...signers]);
  }

  it.each([['first', TOKEN_PROGRAM_ID], ['second', TOKEN_2022_PROGRAM_ID]])(
    'makes, mints, moves, lends, burns, freezes and closes a token of the %s program',
    async (_, program) => {
      const confirm = {};
      const mint = await createMint(connection, wallet, me, me, 6, undefined, confirm, program);
      const { address: mine } =
        await getOrCreateAssociatedTokenAccount(connection, wallet, mint, me, false, 'confirmed', confirm, program);
      const theirs = await createAssociatedTokenAccountIdempotent(
        connection, wallet, mint, friend.publicKey, confirm, program,
      );
      await mintTo(connection, wallet, mint, mine, wallet, 1_000n, [], confirm, program);
      await transferChecked(connection, wallet, mine, mint, theirs, wallet, 100n, 6, [], confirm, program);
      await approve(connection, wallet, mine, friend.publicKey, wallet, 50n, [], confirm, program);
      await transferChecked(connection, wallet, mine, mint, theirs, friend, 20n, 6, [], confirm, program);
      expect(await getAccount(connection, mine, 'confirmed', program))
        .toMatchObject({ amount: 880n, delegate: friend.publicKey, delegatedAmount: 30n });
      await revoke(connection, wallet, mine, wallet, [], confirm, program);
      await approveChecked(connection, wallet, mint, mine, friend.publicKey, wallet, 7n, 6, [], confirm, program);
      await burn(connection, wallet, mine, mint, wallet, 80n, [], confirm, program);
      await freezeAccount(connection, wallet, theirs, mint, wallet, [], confirm, program);
      await expect(transferChecked(connection, wallet, mine, mint, theirs, wallet, 1n, 6, [], confirm, program))
        .rejects.toThrow(/0x11/);
      await thawAccount(connection, wallet, theirs, mint, wallet, [], confirm, program);
      await transferChecked(connection, friend, theirs, mint, mine, friend, 120n, 6, [], confirm, program);
      await closeAccount(connection, wallet, theirs, me, friend, [], confirm, program);
      await expect(getAccount(connection, theirs, 'confirmed', program)).rejects.toThrow(TokenAccountNotFoundError);
      await setAuthority(connection, wallet, mint, wallet, AuthorityType.MintTokens, null, [], confirm, program);
      expect(await getMint(connection, mint, 'confirmed', program))
        .toMatchObject({ supply: 920n, decimals: 6, mintAuthority: null });
      expect(await amountToUiAmount(connection, wallet, mint, 1_500n, program)).toBe('0.0015');
      expect(await uiAmountToAmount(connection, wallet, mint, '0.0015', program)).toBe(1_500n);
    },
  );

  it('finds a fee on a token, pays it, and collects it', async () => {
    const program = TOKEN_2022_PROGRAM_ID;
    const mint = Keypair.generate();
    const length = getMintLen([ExtensionType.TransferFeeConfig, ExtensionType.PermanentDelegate]);
    await send(new Transaction().add(
      SystemProgram.createAccount({
        fromPubkey: me, newAccountPubkey: mint.publicKey, space: length, programId: program,
        lamports: await connection.getMinimumBalanceForRentExemption(length),
      }),
      createInitializeTransferFeeConfigInstruction(mint.publicKey, me, me, 250, 1_000n, program),
      createInitializePermanentDelegateInstruction(mint.publicKey, me, program),
      createInitializeMintInstruction(mint.publicKey, 6, me, null, program),
    ), [mint]);
    const token = mint.publicKey;
    const fees = getTransferFeeConfig(await getMint(connection, token, 'confirmed', program));
    expect(fees?.newerTransferFee).toMatchObject({ transferFeeBasisPoints: 250, maximumFee: 1_000n });
    const { value } = await connection.getParsedAccountInfo(token);
    const names = ((value!.data as ParsedAccountData).parsed as { info: { extensions: { extension: string }[] } })
      .info.extensions.map(({ extension }) => extension);
    expect(names).toEqual(['transferFeeConfig', 'permanentDelegate']);
    const [mine, theirs] = [
      await createAssociatedTokenAccountIdempotent(connection, wallet, token, me, {}, program),
      await createAssociatedTokenAccountIdempotent(connection, wallet, token, friend.publicKey, {}, program),
    ];
    await mintTo(connection, wallet, token, mine, wallet, 100_000n, [], {}, program);
    await transferCheckedWithFee(connection, wallet, mine, token, theirs, wallet, 10_000n, 6, 250n, [], {}, program);
    const received = await getAccount(connection, theirs, 'confirmed', program);
    expect(received.amount).toBe(9_750n);
    expect(getTransferFeeAmount(received)?.withheldAmount).toBe(250n);
    await harvestWithheldTokensToMint(connection, wallet, token, [theirs], {}, program);
    await withdrawWithheldTokensFromMint(connection, wallet, token, mine, wallet, [], {}, program);
    expect((await getAccount(connection, mine, 'confirmed', program)).amount).toBe(90_250n);
  });

  it('wraps SOL, adds to it, and unwraps it', async () => {
    const wrapped = await createWrappedNativeAccount(connection, wallet, me, 5_000_000, Keypair.generate());
    await send(new Transaction().add(
      SystemProgram.transfer({ fromPubkey: me, toPubkey: wrapped, lamports: 1_000_000 }),
    ));
    await syncNative(connection, wallet, wrapped);
    expect(await getAccount(connection, wrapped)).toMatchObject({ amount: 6_000_000n, isNative: true });
    await closeAccount(connection, wallet, wrapped, me, wallet);
    await expect(getAccount(connection, wrapped)).rejects.toThrow(TokenAccountNotFoundError);
  });

  it('holds a token by several signers', async () => {
    const [one, two] = [Keypair.generate(), Keypair.generate()];
    const owners = await createMultisig(connection, wallet, [one.publicKey, two.publicKey], 2);
    expect(await getMultisig(connection, owners)).toMatchObject({ m: 2, n: 2, isInitialized: true });
    const mint = await createMint(connection, wallet, owners, null, 0);
    const account = await createAccount(connection, wallet, mint, friend.publicKey);
    await expect(mintTo(connection, wallet, mint, account, owners, 1n, [one])).rejects.toThrow();
    await mintTo(connection, wallet, mint, account, owners, 1n, [one, two]);
    expect((await getAccount(connection, account)).amount).toBe(1n);
  });

  it('reads the tokens that are traded here', async () => {
    const plain = await getMint(connection, new PublicKey(MINTS.usdc));
    expect(plain).toMatchObject({ decimals: 6, isInitialized: true });
    const { address } = await getOrCreateAssociatedTokenAccount(connection, wallet, new PublicKey(MINTS.usdc), me);
    expect((await getAccount(connection, address)).amount).toBeGreaterThan(0n);
    expect((await getMint(connection, new PublicKey(MINTS.buoy), 'confirmed', TOKEN_2022_PROGRAM_ID)).decimals)
      .toBeGreaterThan(0);
  });
});
