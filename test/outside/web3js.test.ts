import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  AddressLookupTableProgram, Connection, Keypair, LAMPORTS_PER_SOL, NONCE_ACCOUNT_LENGTH, PublicKey,
  sendAndConfirmTransaction, SystemProgram, Transaction, TransactionMessage, VersionedTransaction,
} from '@solana/web3.js';
import type { ParsedAccountData } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';
import type { OutsideSandbox } from './outside-sandbox.ts';
import { connect, recentSlot } from './web3js-swaps.ts';

// web3.js checks the shape of most answers itself, so that an answer that it takes has the shape of a node's.

const version = { maxSupportedTransactionVersion: 0 } as const;
/** What nodes served once, and the library still asks for. */
const REMOVED_FROM_NODES = [
  'getStakeActivation', 'getFeeCalculatorForBlockhash', 'getConfirmedSignaturesForAddress',
  'getConfirmedSignaturesForAddress2',
];
/** They make no request of their own. */
const INTERNAL = /^(?:getCancellationPromise|getTransactionConfirmationPromise|confirmTransactionUsing)/;

describe.each(PROFILES)('web3.js on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let connection: Connection;
  let wallet: Keypair;
  let me: PublicKey;
  /** A payment that is there before the tests. */
  let paid: { signature: string; slot: number; blockhash: string };
  const friend = Keypair.generate().publicKey;
  const usdc = new PublicKey(MINTS.usdc);

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
    wallet = Keypair.fromSecretKey(bs58.decode(sandbox.addresses.wallet.private_key));
    me = wallet.publicKey;
    connection = connect(sandbox);
    const { blockhash } = await connection.getLatestBlockhash();
    const signature = await pay(5_000_000);
    paid = { signature, slot: (await connection.getSignatureStatus(signature)).value!.slot, blockhash };
  });

  beforeEach(() => {
    connection = connect(sandbox);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  function transfer(lamports: number): Transaction {
    return new Transaction().add(SystemProgram.transfer({ fromPubkey: me, toPubkey: friend, lamports }));
  }

  function pay(lamports: number): Promise<string> {
    return sendAndConfirmTransaction(connection, transfer(lamports), [wallet]);
  }

  async function versioned(lamports: number): Promise<VersionedTransaction> {
    const { blockhash } = await connection.getLatestBlockhash();
    const instructions = [SystemProgram.transfer({ fromPubkey: me, toPubkey: friend, lamports })];
    const message = new TransactionMessage({ payerKey: me, recentBlockhash: blockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([wallet]);
    return transaction;
  }

  /** Each method of a connection, with the parameters that people give. */
  function calls(): Readonly<Record<string, (() => Promise<unknown>)[]>> {
    const c = connection;
    const account = getAssociatedTokenAddressSync(usdc, me);
    const filters = [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: me.toBase58() } }];
    const { signature, slot, blockhash } = paid;
    return {
      getBalanceAndContext: [() => c.getBalanceAndContext(me)],
      getBalance: [() => c.getBalance(me), () => c.getBalance(me, 'processed')],
      getBlockTime: [() => c.getBlockTime(slot)],
      getMinimumLedgerSlot: [() => c.getMinimumLedgerSlot()],
      getFirstAvailableBlock: [() => c.getFirstAvailableBlock()],
      getSupply: [() => c.getSupply()],
      getTotalSupply: [() => c.getTotalSupply()],
      getTokenSupply: [() => c.getTokenSupply(usdc)],
      getTokenAccountBalance: [() => c.getTokenAccountBalance(account)],
      getTokenAccountsByOwner: [
        () => c.getTokenAccountsByOwner(me, { mint: usdc }),
        () => c.getTokenAccountsByOwner(me, { programId: TOKEN_2022_PROGRAM_ID }),
      ],
      getParsedTokenAccountsByOwner: [
        () => c.getParsedTokenAccountsByOwner(me, { programId: TOKEN_PROGRAM_ID }),
        () => c.getParsedTokenAccountsByOwner(me, { programId: TOKEN_2022_PROGRAM_ID }),
      ],
      getLargestAccounts: [() => c.getLargestAccounts(), () => c.getLargestAccounts({ filter: 'nonCirculating' })],
      getTokenLargestAccounts: [() => c.getTokenLargestAccounts(usdc)],
      getAccountInfoAndContext: [() => c.getAccountInfoAndContext(account)],
      getParsedAccountInfo: [() => c.getParsedAccountInfo(usdc), () => c.getParsedAccountInfo(me)],
      getAccountInfo: [() => c.getAccountInfo(account, { dataSlice: { offset: 0, length: 32 } })],
      getMultipleParsedAccounts: [() => c.getMultipleParsedAccounts([account, usdc])],
      getMultipleAccountsInfoAndContext: [() => c.getMultipleAccountsInfoAndContext([account, usdc])],
      getMultipleAccountsInfo: [() => c.getMultipleAccountsInfo([account])],
      getProgramAccounts: [
        () => c.getProgramAccounts(TOKEN_PROGRAM_ID, { filters }),
        () => c.getProgramAccounts(TOKEN_PROGRAM_ID, { filters, withContext: true }),
      ],
      getParsedProgramAccounts: [() => c.getParsedProgramAccounts(TOKEN_PROGRAM_ID, { filters })],
      confirmTransaction: [() => c.confirmTransaction(signature)],
      getClusterNodes: [() => c.getClusterNodes()],
      getVoteAccounts: [() => c.getVoteAccounts()],
      getSlot: [() => c.getSlot(), () => c.getSlot({ minContextSlot: 1 })],
      getSlotLeader: [() => c.getSlotLeader()],
      getSlotLeaders: [() => c.getSlotLeaders(slot, 3)],
      getSignatureStatus: [() => c.getSignatureStatus(signature, { searchTransactionHistory: true })],
      getSignatureStatuses: [() => c.getSignatureStatuses([signature, bs58.encode(Buffer.alloc(64, 3))])],
      getTransactionCount: [() => c.getTransactionCount()],
      getInflationGovernor: [() => c.getInflationGovernor()],
      getInflationReward: [() => c.getInflationReward([me])],
      getInflationRate: [() => c.getInflationRate()],
      getEpochInfo: [() => c.getEpochInfo()],
      getEpochSchedule: [() => c.getEpochSchedule()],
      getMinimumBalanceForRentExemption: [() => c.getMinimumBalanceForRentExemption(165)],
      getRecentBlockhashAndContext: [() => c.getRecentBlockhashAndContext()],
      getRecentBlockhash: [() => c.getRecentBlockhash()],
      getRecentPerformanceSamples: [() => c.getRecentPerformanceSamples(5)],
      getFeeForMessage: [async () => c.getFeeForMessage((await versioned(1)).message)],
      getRecentPrioritizationFees: [() => c.getRecentPrioritizationFees({ lockedWritableAccounts: [me] })],
      getLatestBlockhash: [() => c.getLatestBlockhash('finalized')],
      getLatestBlockhashAndContext: [() => c.getLatestBlockhashAndContext()],
      isBlockhashValid: [() => c.isBlockhashValid(blockhash)],
      getVersion: [() => c.getVersion()],
      getGenesisHash: [() => c.getGenesisHash()],
      getBlock: [
        () => c.getBlock(slot, version), () => c.getBlock(slot, { ...version, transactionDetails: 'accounts' }),
        () => c.getBlock(slot, { ...version, transactionDetails: 'none', rewards: false }),
      ],
      getParsedBlock: [() => c.getParsedBlock(slot, version)],
      getBlockProduction: [() => c.getBlockProduction()],
      getTransaction: [() => c.getTransaction(signature, version), () => c.getTransaction(signature)],
      getTransactions: [() => c.getTransactions([signature], version)],
      getParsedTransaction: [() => c.getParsedTransaction(signature, version)],
      getParsedTransactions: [() => c.getParsedTransactions([signature, signature], version)],
      getConfirmedBlock: [() => c.getConfirmedBlock(slot)],
      getBlocks: [() => c.getBlocks(slot - 5, slot)],
      getBlockSignatures: [() => c.getBlockSignatures(slot)],
      getConfirmedBlockSignatures: [() => c.getConfirmedBlockSignatures(slot)],
      getConfirmedTransaction: [() => c.getConfirmedTransaction(signature)],
      getParsedConfirmedTransaction: [() => c.getParsedConfirmedTransaction(signature)],
      getParsedConfirmedTransactions: [() => c.getParsedConfirmedTransactions([signature])],
      getSignaturesForAddress: [() => c.getSignaturesForAddress(me, { limit: 3 })],
      getAddressLookupTable: [() => c.getAddressLookupTable(Keypair.generate().publicKey)],
      requestAirdrop: [() => c.requestAirdrop(friend, LAMPORTS_PER_SOL)],
      getStakeMinimumDelegation: [() => c.getStakeMinimumDelegation()],
      simulateTransaction: [
        async () => c.simulateTransaction(await versioned(1), {
          sigVerify: false, replaceRecentBlockhash: true, innerInstructions: true,
          accounts: { encoding: 'base64', addresses: [friend.toBase58()] },
        }),
        () => c.simulateTransaction(new Transaction({ feePayer: me }).add(transfer(1)), [wallet], [friend]),
      ],
      sendTransaction: [async () => c.sendTransaction(await versioned(2))],
      sendRawTransaction: [async () => c.sendRawTransaction((await versioned(3)).serialize())],
      sendEncodedTransaction: [async () =>
        c.sendEncodedTransaction(Buffer.from((await versioned(4)).serialize()).toString('base64'))],
    };
  }

  it('gets an answer that it takes to every method', async () => {
    const called = calls();
    const failed: string[] = [];
    for (const [name, asked] of Object.entries(called)) {
      for (const ask of asked) {
        const value = await ask().catch((error: unknown) => { failed.push(`${name}: ${String(error)}`); });
        if (value === undefined) failed.push(`${name} answered nothing`);
      }
    }
    expect(failed).toEqual([]);
    // The library takes a second to check a leader schedule; the tests of the RPC ask for one.
    const elsewhere = ['getNonce', 'getNonceAndContext', 'getLeaderSchedule'];
    const known = new Set([...Object.keys(called), ...REMOVED_FROM_NODES, ...elsewhere]);
    const methods = Object.getOwnPropertyNames(Connection.prototype)
      .filter((name) => /^(?:get|send|simulate|request|is|confirm)/.test(name) && !INTERNAL.test(name));
    expect(methods.filter((name) => !known.has(name))).toEqual([]);
  });

  it('is told that nodes no longer have a method, in their words', async () => {
    for (const ask of [
      () => connection.getStakeActivation(me), () => connection.getFeeCalculatorForBlockhash(paid.blockhash),
      () => connection.getConfirmedSignaturesForAddress2(me, { limit: 1 }),
    ]) await expect(ask()).rejects.toThrow('Method not found');
  });

  it('is notified by every subscription, and no more once it ends', async () => {
    const heard = new Map<string, number>();
    const hear = (name: string) => (): void => { heard.set(name, (heard.get(name) ?? 0) + 1); };
    const ends = [
      connection.onLogs('all', hear('logs')), connection.onLogs(friend, hear('logs of an account')),
      connection.onAccountChange(friend, hear('account')),
      connection.onAccountChange(friend, hear('parsed account'), { commitment: 'confirmed', encoding: 'jsonParsed' }),
      connection.onProgramAccountChange(SystemProgram.programId, hear('program')),
      connection.onSlotChange(hear('slot')), connection.onSlotUpdate(hear('slot update')),
      connection.onRootChange(hear('root')),
    ];
    await expect.poll(() => heard.get('slot')).toBeGreaterThan(0);
    const signature = await connection.sendTransaction(await versioned(1_234_567));
    connection.onSignature(signature, hear('signature'));
    const stages: string[] = [];
    connection.onSignatureWithOptions(signature, (told) => stages.push(told.type),
      { commitment: 'confirmed', enableReceivedNotification: true });
    const all = [
      'logs', 'logs of an account', 'account', 'parsed account', 'program', 'slot', 'slot update', 'root', 'signature',
    ];
    await expect.poll(() => all.filter((name) => !heard.has(name))).toEqual([]);
    // The library ends such a subscription with its first notification.
    await expect.poll(() => stages).toEqual(['received']);
    expect(heard.get('signature')).toBe(1);
    const [logs, mentions, account, parsed, program, slot, update, root] = ends as [
      number, number, number, number, number, number, number, number,
    ];
    await Promise.all([
      connection.removeOnLogsListener(logs), connection.removeOnLogsListener(mentions),
      connection.removeAccountChangeListener(account), connection.removeAccountChangeListener(parsed),
      connection.removeProgramAccountChangeListener(program), connection.removeSlotChangeListener(slot),
      connection.removeSlotUpdateListener(update), connection.removeRootChangeListener(root),
    ]);
    const before = [...heard];
    await pay(1_000_000);
    expect([...heard]).toEqual(before);
    expect(stages).toEqual(['received']);
  });

  it('waits for each commitment, and reads why a transaction is refused', async () => {
    const latest = await connection.getLatestBlockhash();
    const signature = await connection.sendTransaction(await versioned(7));
    const { value } = await connection.confirmTransaction({ signature, ...latest }, 'finalized');
    expect(value.err).toBeNull();
    await expect(connection.sendTransaction(await versioned(10 ** 15)))
      .rejects.toThrow(/Simulation failed[^]*custom program error: 0x1[^]*insufficient lamports/);
  });

  it('makes a lookup table and a nonce account, reads both, parsed too, and pays by the nonce', async () => {
    const [made, table] = AddressLookupTableProgram.createLookupTable({
      authority: me, payer: me, recentSlot: await recentSlot(connection),
    });
    const nonce = Keypair.generate();
    const lamports = await connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH);
    await sendAndConfirmTransaction(connection, new Transaction().add(
      made,
      AddressLookupTableProgram.extendLookupTable({ lookupTable: table, authority: me, payer: me, addresses: [usdc] }),
      SystemProgram.createNonceAccount(
        { fromPubkey: me, noncePubkey: nonce.publicKey, authorizedPubkey: me, lamports },
      ),
    ), [wallet, nonce]);
    const { value: held } = await connection.getAddressLookupTable(table);
    expect(held!.state.addresses.map(String)).toEqual([MINTS.usdc]);
    const [parsedTable, parsedNonce] = (await connection.getMultipleParsedAccounts([table, nonce.publicKey])).value
      .map((account) => account!.data as ParsedAccountData);
    expect(parsedTable!.parsed).toMatchObject({ type: 'lookupTable', info: { addresses: [MINTS.usdc] } });
    const value = await connection.getNonce(nonce.publicKey);
    expect(value!.authorizedPubkey.equals(me)).toBe(true);
    expect((await connection.getNonceAndContext(nonce.publicKey)).value!.nonce).toBe(value!.nonce);
    expect(parsedNonce!.parsed).toMatchObject({ type: 'initialized', info: { blockhash: value!.nonce } });
    const nonceInstruction = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: me });
    // A nonce advances to the hash of a later block.
    const height = await connection.getBlockHeight('processed');
    await expect.poll(() => connection.getBlockHeight('processed')).toBeGreaterThan(height + 1);
    const durable = new Transaction({ feePayer: me, nonceInfo: { nonce: value!.nonce, nonceInstruction } });
    const minContextSlot = await connection.getSlot();
    const signature = await sendAndConfirmTransaction(
      connection, Object.assign(durable.add(transfer(9)), { minNonceContextSlot: minContextSlot }), [wallet],
    );
    expect((await connection.getSignatureStatus(signature)).value).toMatchObject({ err: null });
    expect((await connection.getNonce(nonce.publicKey))!.nonce).not.toBe(value!.nonce);
  });
});
