import {
  address, airdropFactory, createKeypairSignerFromBase58, createSolanaClient, createTransaction, generateKeyPairSigner,
  getMinimumBalanceForRentExemption, getOldestSignatureForAddress, insertReferenceKeyToTransactionMessage, lamports,
  lamportsToSol, prepareTransaction, signTransactionMessageWithSigners, transactionFromBase64, transactionToBase64,
} from 'gill';
import type { KeyPairSigner, Signature, SolanaClient } from 'gill';
import { getAddMemoInstruction, getTransferSolInstruction } from 'gill/programs';
import {
  buildCreateTokenTransaction, buildMintTokensTransaction, buildTransferTokensTransaction, fetchTokenAccounts,
  TOKEN_2022_PROGRAM_ADDRESS,
} from 'gill/programs/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';
import type { OutsideSandbox } from './outside-sandbox.ts';

describe.each(PROFILES)('a stranger with gill, on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let client: SolanaClient;
  let me: KeyPairSigner;

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
    const { rpc_url: url, ws_url: wsUrl, wallet } = sandbox.addresses;
    // Its default for a local node is port 8900.
    client = createSolanaClient({
      urlOrMoniker: new URL(url), rpcSubscriptionsConfig: { port: Number(new URL(wsUrl).port) },
    });
    me = await createKeypairSignerFromBase58(wallet.private_key);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  it('prepares, sends and confirms a payment with a memo and a reference, and finds it by the reference', async () => {
    const { rpc, sendAndConfirmTransaction } = client;
    const [friend, reference] = [(await generateKeyPairSigner()).address, (await generateKeyPairSigner()).address];
    const payment = createTransaction({
      version: 0, feePayer: me, instructions: [
        getTransferSolInstruction({ source: me, destination: friend, amount: lamports(10_000_000n) }),
        getAddMemoInstruction({ memo: 'for the coffee' }),
      ],
    });
    const prepared = await prepareTransaction({
      transaction: insertReferenceKeyToTransactionMessage(reference, payment), rpc,
    });
    const signature = await sendAndConfirmTransaction(prepared, { commitment: 'confirmed' });
    const oldest = await getOldestSignatureForAddress(rpc, reference, { commitment: 'confirmed' });
    expect(oldest).toMatchObject({ signature, err: null, memo: '[14] for the coffee' });
    const { value } = await rpc.getBalance(friend, { commitment: 'confirmed' }).send();
    expect(lamportsToSol(value)).toBe('0.01');
    expect(await rpc.getMinimumBalanceForRentExemption(100n).send()).toBe(getMinimumBalanceForRentExemption(100n));
  });

  it('simulates before it sends, and carries a signed transaction as text', async () => {
    const { rpc, simulateTransaction } = client;
    const { value: latestBlockhash } = await rpc.getLatestBlockhash().send();
    const pay = (amount: bigint) => createTransaction({
      version: 'legacy', feePayer: me, latestBlockhash,
      instructions: [getTransferSolInstruction({ source: me, destination: me.address, amount })],
    });
    expect((await simulateTransaction(pay(1n))).value).toMatchObject({ err: null, unitsConsumed: 150n });
    expect((await simulateTransaction(pay(10n ** 17n))).value.err).toEqual({ InstructionError: [0n, { Custom: 1n }] });
    const signed = await signTransactionMessageWithSigners(pay(2n));
    const text = transactionToBase64(signed);
    const signature = await rpc.sendTransaction(text, { encoding: 'base64' }).send();
    expect(transactionFromBase64(text).signatures[me.address]).toEqual(signed.signatures[me.address]);
    expect((await rpc.getSignatureStatuses([signature]).send()).value[0]).toMatchObject({ err: null });
  });

  it('makes a token of the second program with its name, mints it and moves it', async () => {
    const { rpc, sendAndConfirmTransaction } = client;
    const [mint, friend] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
    const tokenProgram = TOKEN_2022_PROGRAM_ADDRESS;
    const latest = async () => (await rpc.getLatestBlockhash().send()).value;
    const confirmed = { commitment: 'confirmed' } as const;
    await sendAndConfirmTransaction(await buildCreateTokenTransaction({
      feePayer: me, latestBlockhash: await latest(), mint, decimals: 2, tokenProgram,
      metadata: { name: 'Shell', symbol: 'SHL', uri: 'https://token.example/shell', isMutable: true },
    }), confirmed);
    await sendAndConfirmTransaction(await buildMintTokensTransaction({
      feePayer: me, latestBlockhash: await latest(), mint, mintAuthority: me, amount: 500, destination: me,
      tokenProgram,
    }), confirmed);
    await sendAndConfirmTransaction(await buildTransferTokensTransaction({
      feePayer: me, latestBlockhash: await latest(), mint, authority: me, amount: 120, destination: friend.address,
      tokenProgram,
    }), confirmed);
    const held = await fetchTokenAccounts(rpc, mint.address, friend.address, confirmed);
    expect(held.totalBalance).toBe(120n);
    const { value } = await rpc.getAccountInfo(mint.address, { ...confirmed, encoding: 'jsonParsed' }).send();
    expect(value!.data).toMatchObject({ parsed: { info: { supply: '500', extensions: [
      { extension: 'metadataPointer', state: { metadataAddress: mint.address } },
      { extension: 'tokenMetadata', state: { name: 'Shell', symbol: 'SHL', mint: mint.address } },
    ] } } });
  });

  it('is paid by the faucet, and adds up the accounts of a traded token', async () => {
    const { address: fresh } = await generateKeyPairSigner();
    const signature: Signature = await airdropFactory(client)(
      { commitment: 'confirmed', lamports: lamports(1_000_000n), recipientAddress: fresh },
    );
    expect(signature.length).toBeGreaterThan(80);
    const { totalBalance, mint } = await fetchTokenAccounts(client.rpc, address(MINTS.usdc), me.address);
    expect(mint.data.decimals).toBe(6);
    expect(totalBalance).toBeGreaterThan(0n);
  });
});
