import {
  addMemo, createAccount, createAssociatedToken, createLut, fetchAddressLookupTable, fetchAllTokenByOwner, fetchMint,
  fetchToken, findAssociatedTokenPda, getMintSize, initializeMint2, mintTokensTo, mplToolbox, setComputeUnitLimit,
  setComputeUnitPrice, transferSol, transferTokens,
} from '@metaplex-foundation/mpl-toolbox';
import {
  generateSigner, isEqualToAmount, keypairIdentity, publicKey, sol, some, transactionBuilder,
} from '@metaplex-foundation/umi';
import type { Signer, Umi } from '@metaplex-foundation/umi';
import { createUmi } from '@metaplex-foundation/umi-bundle-defaults';
import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';
import type { OutsideSandbox } from './outside-sandbox.ts';
import { connect, recentSlot } from './web3js-swaps.ts';

const SYSTEM_PROGRAM = publicKey('1'.repeat(32));

describe.each(PROFILES)('a stranger with umi, on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let umi: Umi;
  let me: Signer;
  let friend: Signer;

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
  });

  beforeEach(() => {
    umi = createUmi(connect(sandbox)).use(mplToolbox());
    const secret = bs58.decode(sandbox.addresses.wallet.private_key);
    umi.use(keypairIdentity(umi.eddsa.createKeypairFromSecretKey(secret)));
    me = umi.identity;
    friend = generateSigner(umi);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  it('reads what its RPC offers', async () => {
    const { rpc } = umi;
    const slot = await rpc.getSlot();
    expect((await rpc.getBalance(me.publicKey)).basisPoints).toBeGreaterThan(0n);
    expect((await rpc.getRent(165)).basisPoints).toBeGreaterThan(0n);
    expect(await rpc.getGenesisHash()).toMatch(/^\w{32,44}$/);
    expect(await rpc.getBlockTime(slot - 2)).toBeGreaterThan(0n);
    expect((await rpc.getLatestBlockhash()).lastValidBlockHeight).toBeGreaterThan(0);
    const [wallet, nothing] = await rpc.getAccounts([me.publicKey, friend.publicKey]);
    expect([wallet!.exists, nothing!.exists]).toEqual([true, false]);
    expect(await rpc.accountExists(publicKey(MINTS.usdc))).toBe(true);
    const [account] = findAssociatedTokenPda(umi, { mint: publicKey(MINTS.usdc), owner: me.publicKey });
    expect((await fetchToken(umi, account)).amount).toBeGreaterThan(0n);
    expect((await fetchAllTokenByOwner(umi, me.publicKey)).length).toBeGreaterThan(1);
  });

  it('is paid by the faucet', async () => {
    await umi.rpc.airdrop(friend.publicKey, sol(0.5));
    expect(isEqualToAmount(await umi.rpc.getBalance(friend.publicKey), sol(0.5))).toBe(true);
  });

  it('pays within a price and a limit, with a memo, and reads the transaction again', async () => {
    const { signature, result } = await transactionBuilder()
      .add(setComputeUnitLimit(umi, { units: 100_000 })).add(setComputeUnitPrice(umi, { microLamports: 1_000 }))
      .add(transferSol(umi, { destination: friend.publicKey, amount: sol(0.01) })).add(addMemo(umi, { memo: 'hello' }))
      .sendAndConfirm(umi);
    expect(result.value.err).toBeNull();
    const landed = await umi.rpc.getTransaction(signature);
    expect(landed!.meta.err).toBeNull();
    expect(landed!.meta.logs.at(-1)).toMatch(/^Program Memo1\w+ success$/);
    const [status] = await umi.rpc.getSignatureStatuses([signature]);
    expect(status!.error).toBeNull();
    expect(isEqualToAmount(await umi.rpc.getBalance(friend.publicKey), sol(0.01))).toBe(true);
    const broken = transferSol(umi, { destination: friend.publicKey, amount: sol(1_000_000) });
    await expect(broken.sendAndConfirm(umi)).rejects.toThrow(/Simulation failed/);
    const simulated = await umi.rpc.simulateTransaction(await broken.buildAndSign(umi));
    expect(simulated.err).not.toBeNull();
  });

  it('makes a token, mints it, and moves it', async () => {
    const mint = generateSigner(umi);
    const [mine] = findAssociatedTokenPda(umi, { mint: mint.publicKey, owner: me.publicKey });
    const [theirs] = findAssociatedTokenPda(umi, { mint: mint.publicKey, owner: friend.publicKey });
    // Its shorter functions need programs that are deployed on the public networks alone.
    await createAccount(umi, {
      newAccount: mint, lamports: await umi.rpc.getRent(getMintSize()), space: getMintSize(),
      programId: umi.programs.getPublicKey('splToken'),
    })
      .add(initializeMint2(
        umi, { mint: mint.publicKey, decimals: 2, mintAuthority: me.publicKey, freezeAuthority: null },
      ))
      .add(createAssociatedToken(umi, { mint: mint.publicKey, owner: me.publicKey }))
      .add(mintTokensTo(umi, { mint: mint.publicKey, token: mine, amount: 500 })).sendAndConfirm(umi);
    await createAssociatedToken(umi, { mint: mint.publicKey, owner: friend.publicKey })
      .add(transferTokens(umi, { source: mine, destination: theirs, amount: 120 })).sendAndConfirm(umi);
    expect(await fetchMint(umi, mint.publicKey))
      .toMatchObject({ supply: 500n, decimals: 2, mintAuthority: some(me.publicKey) });
    expect([(await fetchToken(umi, mine)).amount, (await fetchToken(umi, theirs)).amount]).toEqual([380n, 120n]);
  });

  it('makes accounts and a lookup table, and uses the table', async () => {
    const account = generateSigner(umi);
    await createAccount(umi, {
      newAccount: account, lamports: await umi.rpc.getRent(100), space: 100, programId: SYSTEM_PROGRAM,
    }).sendAndConfirm(umi);
    expect(await umi.rpc.accountExists(account.publicKey)).toBe(true);
    const [create, table] = createLut(umi, {
      recentSlot: await recentSlot(connect(sandbox)), authority: me, addresses: [friend.publicKey],
    });
    await create.sendAndConfirm(umi);
    expect((await fetchAddressLookupTable(umi, table.publicKey)).addresses).toEqual([friend.publicKey]);
    // A table serves from the slot after the one that it was filled in.
    const filled = await umi.rpc.getSlot({ commitment: 'processed' });
    await expect.poll(() => umi.rpc.getSlot({ commitment: 'confirmed' })).toBeGreaterThan(filled);
    const { result } = await transferSol(umi, { destination: friend.publicKey, amount: sol(0.02) })
      .setAddressLookupTables([table]).sendAndConfirm(umi);
    expect(result.value.err).toBeNull();
  });
});
