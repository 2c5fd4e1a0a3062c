import {
  estimateAndUpdateProvisoryComputeUnitLimitFactory, estimateComputeUnitLimitFactory,
  fillProvisorySetComputeUnitLimitInstruction,
} from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  fetchMint, fetchToken, findAssociatedTokenPda, getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS as TOKEN_PROGRAM,
} from '@solana-program/token';
import {
  address, airdropFactory, appendTransactionMessageInstruction, appendTransactionMessageInstructions,
  assertIsSendableTransaction, assertIsTransactionWithBlockhashLifetime, createSolanaRpcSubscriptions_UNSTABLE,
  createTransactionMessage, createTransactionPlanExecutor, createTransactionPlanner, estimateResourceLimitsFactory,
  generateKeyPairSigner, getBase64EncodedWireTransaction, getSignatureFromTransaction, isSolanaError, lamports, pipe,
  sendAndConfirmTransactionFactory, sequentialInstructionPlan, setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner, setTransactionMessageLifetimeUsingBlockhash, signTransactionMessageWithSigners,
  SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND,
} from '@solana/kit';
import type {
  Address, Base64EncodedWireTransaction, Instruction, Signature, TransactionMessageBytesBase64,
} from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import type { KitClient } from './kit-swaps.ts';
import { kitClient, landBuild, signedOrder, walletChanges } from './kit-swaps.ts';
import type { Build, OutsideSandbox } from './outside-sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';

const { sol, usdc, pearl, buoy } = MINTS;
const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const base64 = { encoding: 'base64' } as const;

type Rpc = KitClient['rpc'];
/** The methods of a node: one is of providers alone, and a mark of the network is no method. */
type NodeMethod = Exclude<keyof Rpc, 'getTransactionsForAddress' | '~cluster'>;

describe.each(PROFILES)('a stranger with kit alone, on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let client: KitClient;
  let rpc: Rpc;
  let me: KitClient['me'];
  let friend: Address;
  let paid: Signature;
  let slot: bigint;

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
    client = await kitClient(sandbox);
    ({ rpc, me } = client);
    friend = (await generateKeyPairSigner()).address;
    paid = await client.send([payment(5_000_000n)]);
    slot = (await rpc.getSignatureStatuses([paid]).send()).value[0]!.slot;
  });

  afterAll(async () => {
    await sandbox.close();
  });

  function payment(amount: bigint): Instruction {
    return getTransferSolInstruction({ source: me, destination: friend, amount });
  }

  async function signed(
    amount: bigint,
  ): Promise<{ wire: Base64EncodedWireTransaction; message: TransactionMessageBytesBase64 }> {
    const { value: latest } = await rpc.getLatestBlockhash().send();
    const transaction = await signTransactionMessageWithSigners(pipe(
      createTransactionMessage({ version: 0 }), (message) => setTransactionMessageFeePayerSigner(me, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(latest, message),
      (message) => appendTransactionMessageInstruction(payment(amount), message),
    ));
    const message = Buffer.from(transaction.messageBytes).toString('base64') as TransactionMessageBytesBase64;
    return { wire: getBase64EncodedWireTransaction(transaction), message };
  }

  /** Each method of a node; the compiler sees that none is missing. */
  const calls: Readonly<Record<NodeMethod, () => Promise<unknown>>> = {
    getAccountInfo: () => rpc.getAccountInfo(address(usdc), { encoding: 'jsonParsed' }).send(),
    getAgGenesisCert: () => rpc.getAgGenesisCert().send(),
    getBalance: () => rpc.getBalance(me.address).send(),
    getBlock: () => rpc.getBlock(slot, { maxSupportedTransactionVersion: 0, transactionDetails: 'signatures' }).send(),
    getBlockCommitment: () => rpc.getBlockCommitment(slot).send(),
    getBlockHeight: () => rpc.getBlockHeight().send(),
    getBlockProduction: () => rpc.getBlockProduction().send(),
    getBlocks: () => rpc.getBlocks(slot - 5n).send(),
    getBlocksWithLimit: () => rpc.getBlocksWithLimit(slot - 5n, 3).send(),
    getBlockTime: () => rpc.getBlockTime(slot).send(),
    getClusterNodes: () => rpc.getClusterNodes().send(),
    getEpochInfo: () => rpc.getEpochInfo().send(),
    getEpochSchedule: () => rpc.getEpochSchedule().send(),
    getFeeForMessage: async () => rpc.getFeeForMessage((await signed(1n)).message).send(),
    getFirstAvailableBlock: () => rpc.getFirstAvailableBlock().send(),
    getGenesisHash: () => rpc.getGenesisHash().send(),
    getHealth: () => rpc.getHealth().send(),
    getHighestSnapshotSlot: () => rpc.getHighestSnapshotSlot().send(),
    getIdentity: () => rpc.getIdentity().send(),
    getInflationGovernor: () => rpc.getInflationGovernor().send(),
    getInflationRate: () => rpc.getInflationRate().send(),
    getInflationReward: () => rpc.getInflationReward([me.address]).send(),
    getLargestAccounts: () => rpc.getLargestAccounts().send(),
    getLatestBlockhash: () => rpc.getLatestBlockhash().send(),
    getLeaderSchedule: () => rpc.getLeaderSchedule(null, { identity: me.address }).send(),
    getMaxRetransmitSlot: () => rpc.getMaxRetransmitSlot().send(),
    getMaxShredInsertSlot: () => rpc.getMaxShredInsertSlot().send(),
    getMinimumBalanceForRentExemption: () => rpc.getMinimumBalanceForRentExemption(165n).send(),
    getMultipleAccounts: () => rpc.getMultipleAccounts([me.address, address(usdc)]).send(),
    getProgramAccounts: () => rpc.getProgramAccounts(TOKEN_PROGRAM, {
      ...base64,
      filters: [{ dataSize: 165n }, { memcmp: { offset: 32n, bytes: me.address, encoding: 'base58' } }],
    }).send(),
    getRecentPerformanceSamples: () => rpc.getRecentPerformanceSamples(2).send(),
    getRecentPrioritizationFees: () => rpc.getRecentPrioritizationFees([me.address]).send(),
    getSignaturesForAddress: () => rpc.getSignaturesForAddress(me.address, { limit: 2 }).send(),
    getSignatureStatuses: () => rpc.getSignatureStatuses([paid], { searchTransactionHistory: true }).send(),
    getSlot: () => rpc.getSlot().send(),
    getSlotLeader: () => rpc.getSlotLeader().send(),
    getSlotLeaders: () => rpc.getSlotLeaders(slot, 2).send(),
    getStakeMinimumDelegation: () => rpc.getStakeMinimumDelegation().send(),
    getSupply: () => rpc.getSupply().send(),
    getTokenAccountBalance: async () => rpc.getTokenAccountBalance(await usdcAccount()).send(),
    getTokenAccountsByDelegate: () =>
      rpc.getTokenAccountsByDelegate(me.address, { programId: TOKEN_PROGRAM }, { encoding: 'jsonParsed' }).send(),
    getTokenAccountsByOwner: () =>
      rpc.getTokenAccountsByOwner(me.address, { programId: TOKEN_2022_PROGRAM }, { encoding: 'jsonParsed' }).send(),
    getTokenLargestAccounts: () => rpc.getTokenLargestAccounts(address(usdc)).send(),
    getTokenSupply: () => rpc.getTokenSupply(address(usdc)).send(),
    getTransaction: () =>
      rpc.getTransaction(paid, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }).send(),
    getTransactionCount: () => rpc.getTransactionCount().send(),
    getVersion: () => rpc.getVersion().send(),
    getVoteAccounts: () => rpc.getVoteAccounts().send(),
    isBlockhashValid: async () =>
      rpc.isBlockhashValid((await rpc.getLatestBlockhash().send()).value.blockhash).send(),
    minimumLedgerSlot: () => rpc.minimumLedgerSlot().send(),
    requestAirdrop: () => rpc.requestAirdrop(friend, lamports(1_000_000n)).send(),
    sendTransaction: async () => rpc.sendTransaction((await signed(2n)).wire, base64).send(),
    simulateTransaction: async () => rpc.simulateTransaction((await signed(3n)).wire, base64).send(),
  };

  async function usdcAccount(): Promise<Address> {
    const [account] = await findAssociatedTokenPda(
      { owner: me.address, mint: address(usdc), tokenProgram: TOKEN_PROGRAM },
    );
    return account;
  }

  it('gets an answer to every method of a node', async () => {
    const failed: string[] = [];
    for (const [name, call] of Object.entries(calls)) {
      const value = await call().catch((error: unknown) => { failed.push(`${name}: ${String(error)}`); });
      if (value === undefined) failed.push(`${name} answered nothing`);
    }
    expect(failed).toEqual([]);
    const refused = await rpc.getTransactionsForAddress(me.address).send().catch((error: unknown) => error);
    expect(isSolanaError(refused, SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND)).toBe(true);
  });

  it('is notified by every subscription', async () => {
    const { subscriptions } = client;
    const unstable = createSolanaRpcSubscriptions_UNSTABLE(sandbox.addresses.ws_url);
    const abort = new AbortController();
    const options = { abortSignal: AbortSignal.any([abort.signal, AbortSignal.timeout(60_000)]) };
    const heard: Record<string, unknown> = {};
    const streams: Promise<void>[] = [];
    const hear = async (name: string, opened: Promise<AsyncIterable<unknown>>): Promise<void> => {
      const stream = await opened;
      streams.push((async () => {
        for await (const notice of stream) heard[name] ??= notice;
      })());
    };
    const confirmed = { commitment: 'confirmed' } as const;
    await Promise.all([
      hear('slot', subscriptions.slotNotifications().subscribe(options)),
      hear('root', subscriptions.rootNotifications().subscribe(options)),
      hear('account', subscriptions.accountNotifications(friend, { ...confirmed, ...base64 }).subscribe(options)),
      hear('logs', subscriptions.logsNotifications({ mentions: [friend] }, confirmed).subscribe(options)),
      hear('program', subscriptions.programNotifications(address('1'.repeat(32)), { ...confirmed, ...base64 })
        .subscribe(options)),
      hear('slot update', unstable.slotsUpdatesNotifications().subscribe(options)),
    ]);
    const signature = await client.send([payment(1_000_000n)]);
    const stages = await subscriptions.signatureNotifications(
      signature, { ...confirmed, enableReceivedNotification: true },
    ).subscribe(options);
    const told: unknown[] = [];
    for await (const { value } of stages) {
      told.push(value);
      if (told.length === 2) break;
    }
    expect(told).toEqual(['receivedSignature', { err: null }]);
    await expect.poll(() => Object.keys(heard).toSorted())
      .toEqual(['account', 'logs', 'program', 'root', 'slot', 'slot update']);
    abort.abort();
    await Promise.all(streams);
    for (const flagged of [unstable.voteNotifications(), unstable.blockNotifications('all')])
      await expect(flagged.subscribe({ abortSignal: AbortSignal.timeout(10_000) })).rejects.toThrow();
  });

  it('is paid by the faucet, and reads tokens by the programs\' own clients', async () => {
    const { address: fresh } = await generateKeyPairSigner();
    await airdropFactory({ rpc, rpcSubscriptions: client.subscriptions })(
      { commitment: 'confirmed', lamports: lamports(3_000_000n), recipientAddress: fresh },
    );
    expect((await rpc.getBalance(fresh, { commitment: 'confirmed' }).send()).value).toBe(3_000_000n);
    expect((await fetchToken(rpc, await usdcAccount())).data.amount).toBeGreaterThan(0n);
    expect((await fetchMint(rpc, address(usdc))).data.decimals).toBe(6);
  });

  it('plans instructions, estimates their compute units, and executes the plan', async () => {
    const estimate = estimateComputeUnitLimitFactory({ rpc });
    const update = estimateAndUpdateProvisoryComputeUnitLimitFactory(estimate);
    const confirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions: client.subscriptions });
    const plan = await createTransactionPlanner({
      createTransactionMessage: async () => pipe(
        createTransactionMessage({ version: 0 }), (message) => setTransactionMessageFeePayerSigner(me, message),
        (message) => fillProvisorySetComputeUnitLimitInstruction(message),
      ),
    })(sequentialInstructionPlan([payment(1n), payment(2n)]));
    const result = await createTransactionPlanExecutor({
      executeTransactionMessage: async (_context, planned) => {
        const { value: latest } = await rpc.getLatestBlockhash().send();
        const message = await update(setTransactionMessageLifetimeUsingBlockhash(latest, planned));
        const transaction = await signTransactionMessageWithSigners(message);
        assertIsSendableTransaction(transaction);
        assertIsTransactionWithBlockhashLifetime(transaction);
        await confirm(transaction, { commitment: 'confirmed' });
        return { signature: getSignatureFromTransaction(transaction) };
      },
    })(plan);
    expect(result).toMatchObject({ kind: 'single', status: 'successful' });
  });

  it('estimates both limits of a version 1 message, and lands it with exactly those', async () => {
    const mint = address(usdc);
    const [ata] = await findAssociatedTokenPda({ owner: friend, mint, tokenProgram: TOKEN_PROGRAM });
    const open = getCreateAssociatedTokenIdempotentInstruction({ payer: me, ata, owner: friend, mint });
    const give = getTransferCheckedInstruction(
      { source: await usdcAccount(), mint, destination: ata, authority: me, amount: 2_500n, decimals: 6 },
    );
    const { value: latest } = await rpc.getLatestBlockhash().send();
    const message = pipe(
      createTransactionMessage({ version: 1 }), (empty) => setTransactionMessageFeePayerSigner(me, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
      (timed) => appendTransactionMessageInstructions([payment(7n), open, give], timed),
    );
    const limits = await estimateResourceLimitsFactory({ rpc })(message);
    const outcomeOf = async (loadedAccountsDataSizeLimit: number): Promise<unknown> => {
      const transaction = await signTransactionMessageWithSigners(
        setTransactionMessageConfig({ ...limits, loadedAccountsDataSizeLimit }, message),
      );
      const wire = getBase64EncodedWireTransaction(transaction);
      return (await rpc.simulateTransaction(wire, { ...base64, innerInstructions: true }).send()).value;
    };
    expect(await outcomeOf(limits.loadedAccountsDataSizeLimit - 1))
      .toMatchObject({ err: 'MaxLoadedAccountsDataSizeExceeded', fee: 5_000n });
    expect(await outcomeOf(limits.loadedAccountsDataSizeLimit)).toMatchObject({
      err: null, fee: 5_000n, innerInstructions: [{ index: 1 }], loadedAddresses: { readonly: [], writable: [] },
      preTokenBalances: [{ owner: me.address }],
      postTokenBalances: expect.arrayContaining([expect.objectContaining({ owner: friend })]) as unknown,
    });
    const transaction = await signTransactionMessageWithSigners(setTransactionMessageConfig(limits, message));
    assertIsSendableTransaction(transaction);
    assertIsTransactionWithBlockhashLifetime(transaction);
    await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions: client.subscriptions })(
      transaction, { commitment: 'confirmed' },
    );
    expect((await fetchToken(rpc, ata, { commitment: 'confirmed' })).data.amount).toBe(2_500n);
  });

  it.each([[sol, usdc, 250_000_000], [usdc, sol, 20_000_000], [usdc, buoy, 5_000_000], [pearl, usdc, 2_000_000]])(
    'swaps %s for %s by order and by build in version 0 and 1, exactly as quoted',
    async (inputMint, outputMint, amount) => {
      const query = { inputMint, outputMint, amount, taker: me.address };
      const order = await sandbox.get('/swap/v2/order', query);
      const { json } = await sandbox.post('/swap/v2/execute', {
        signedTransaction: await signedOrder(me, String(order['transaction'])), requestId: order['requestId'],
      });
      expect(json).toMatchObject({ status: 'Success', totalOutputAmount: order['outAmount'] });
      const ordered = await walletChanges(client, json['signature'] as Signature);
      if (inputMint !== sol) expect(ordered.of(inputMint)).toBe(-BigInt(String(order['inAmount'])));
      if (outputMint !== sol) expect(ordered.of(outputMint)).toBe(BigInt(String(order['outAmount'])));

      for (const version of [0, 1] as const) {
        const build = await sandbox.get('/swap/v2/build', query) as unknown as Build;
        const built = await walletChanges(client, await landBuild(client, build, version));
        const fee = (mint: string): bigint => (mint === sol ? built.fee : 0n);
        expect(built.of(inputMint)).toBe(-BigInt(build.inAmount) - fee(inputMint));
        expect(built.of(outputMint)).toBe(BigInt(build.outAmount) - fee(outputMint));
      }
    },
  );
});
