import {
  createAssociatedTokenAccountIdempotent, getAssociatedTokenAddressSync, getOrCreateAssociatedTokenAccount, transfer,
} from '@solana/spl-token';
import {
  Keypair, PublicKey, sendAndConfirmTransaction, SystemProgram, Transaction, VersionedTransaction,
} from '@solana/web3.js';
import type { Connection } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';
import type { Build, Json, OutsideSandbox } from './outside-sandbox.ts';
import type { Changes } from './web3js-swaps.ts';
import { changesOf, composed, connect } from './web3js-swaps.ts';

const { sol, usdc, pearl, buoy } = MINTS;
const AMOUNT_SOL = 100_000_000;
const AMOUNT_USDC = 20_000_000;
const RENT_OF_TOKEN_ACCOUNT = 2_039_280n;

type Query = Readonly<Record<string, string | number | boolean>>;

const toUsdc = { inputMint: sol, outputMint: usdc, amount: AMOUNT_SOL };
const toSol = { inputMint: usdc, outputMint: sol, amount: AMOUNT_USDC };

const units = (order: Json, member: string): bigint => BigInt((order[member] ?? 0) as string | number);

describe.each(PROFILES)('a stranger with web3.js alone, on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let connection: Connection;
  let wallet: Keypair;
  const receiver = Keypair.generate();
  const payer = Keypair.generate();
  const poor = Keypair.generate();

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
    wallet = Keypair.fromSecretKey(bs58.decode(sandbox.addresses.wallet.private_key));
    connection = connect(sandbox);
    await sendAndConfirmTransaction(connection, new Transaction().add(SystemProgram.transfer({
      fromPubkey: wallet.publicKey, toPubkey: payer.publicKey, lamports: 50_000_000,
    })), [wallet]);
    await fundUsdc(poor.publicKey, 200_000_000n);
    const [mint, wrapped] = [new PublicKey(usdc), new PublicKey(sol)];
    await createAssociatedTokenAccountIdempotent(connection, wallet, mint, receiver.publicKey);
    await createAssociatedTokenAccountIdempotent(connection, wallet, wrapped, receiver.publicKey);
  });

  beforeEach(() => {
    connection = connect(sandbox);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  async function fundUsdc(owner: PublicKey, amount: bigint): Promise<void> {
    const mint = new PublicKey(usdc);
    const { address } = await getOrCreateAssociatedTokenAccount(connection, wallet, mint, owner);
    await transfer(connection, wallet, getAssociatedTokenAddressSync(mint, wallet.publicKey), address, wallet, amount);
  }

  /** Orders, signs and executes; returns the order and what its transaction changed. */
  async function swap(
    query: Query, { signers = [wallet], taker = wallet }: { signers?: Keypair[]; taker?: Keypair } = {},
  ): Promise<{ order: Json; changes: Changes }> {
    const order = await sandbox.get('/swap/v2/order', { taker: taker.publicKey.toBase58(), ...query });
    const transaction = VersionedTransaction.deserialize(Buffer.from(String(order['transaction']), 'base64'));
    transaction.sign(signers);
    const { status, json } = await sandbox.post('/swap/v2/execute', {
      signedTransaction: Buffer.from(transaction.serialize()).toString('base64'), requestId: order['requestId'],
    });
    expect({ status, json }).toMatchObject({
      status: 200, json: { status: 'Success', code: 0, totalOutputAmount: order['outAmount'] },
    });
    return { order, changes: await changesOf(connection, String(json['signature'])) };
  }

  /** Holds what an order's transaction changed against the quote: input, output, and each lamport of the costs. */
  async function swapExactly(
    query: Query, options: { signers?: Keypair[]; taker?: Keypair; receiver?: PublicKey } = {},
  ): Promise<Json> {
    const { order, changes } = await swap(query, options);
    const taker = (options.taker ?? wallet).publicKey;
    const to = options.receiver ?? taker;
    const isPayer = (member: string): boolean => order[member] === taker.toBase58();
    const costs = (isPayer('signatureFeePayer') ? units(order, 'signatureFeeLamports') : 0n)
      + (isPayer('prioritizationFeePayer') ? units(order, 'prioritizationFeeLamports') : 0n)
      + (isPayer('rentFeePayer') ? units(order, 'rentFeeLamports') : 0n);
    const inSol = query['inputMint'] === sol ? units(order, 'inAmount') : 0n;
    const outSol = query['outputMint'] === sol && to === taker ? units(order, 'outAmount') : 0n;
    expect(changes.token(taker, sol)).toBe(outSol - inSol - costs);
    if (inSol === 0n) expect(changes.token(taker, String(query['inputMint']))).toBe(-units(order, 'inAmount'));
    if (query['outputMint'] !== sol || to !== taker)
      expect(changes.token(to, String(query['outputMint']))).toBe(units(order, 'outAmount'));
    return order;
  }

  it.each<readonly [string, Query]>([
    ['SOL', toUsdc], ['for SOL', toSol],
    ['into a token of the second program', { inputMint: usdc, outputMint: buoy, amount: 3_000_000 }],
    ['out of a token of the second program', { inputMint: buoy, outputMint: sol, amount: 3_000_000 }],
    ['without a maker', { ...toSol, excludeRouters: 'rfqz' }],
    ['without the aggregator', { ...toSol, excludeRouters: 'iris' }],
    ['by one router', { ...toSol, excludeRouters: 'rfqz,routerA,routerB' }],
    ['by another router', { ...toSol, excludeRouters: 'iris,rfqz' }],
    ['with a priority fee', { ...toSol, priorityFeeLamports: 77_777 }],
    ['with a tip', { ...toSol, bundleTipLamports: 55_555 }],
    ['with exactly these fees', {
      ...toSol, bundleTipLamports: 5_555, priorityFeeLamports: 66_666, broadcastFeeType: 'exactFee',
    }],
    ['with at most these fees', {
      ...toSol, bundleTipLamports: 5_555, priorityFeeLamports: 66_666, broadcastFeeType: 'maxCap',
    }],
    ['without slippage', { ...toSol, slippageBps: 0 }], ['without a market', { ...toSol, excludeDexes: 'Lagoon' }],
  ])('swaps by an order %s, exactly as quoted', async (_, query) => {
    await swapExactly(query);
  });

  it('swaps by an order for a receiver, its account made on the way', async () => {
    const fresh = Keypair.generate().publicKey;
    const to = { receiver: fresh.toBase58() };
    const order = await swapExactly({ ...toUsdc, ...to }, { receiver: fresh });
    expect(units(order, 'rentFeeLamports')).toBe(RENT_OF_TOKEN_ACCOUNT);
    await swapExactly({ ...toSol, ...to }, { receiver: fresh });
    await swapExactly({ inputMint: usdc, outputMint: buoy, amount: 2_000_000, ...to }, { receiver: fresh });
  });

  it('swaps by an order that another wallet pays for', async () => {
    const order = await swapExactly({ ...toSol, payer: payer.publicKey.toBase58() }, { signers: [wallet, payer] });
    expect(order['signatureFeePayer']).toBe(payer.publicKey.toBase58());
  });

  it('swaps by an order without a lamport of its own, and is told where that is too little', async () => {
    const order = await swapExactly({ ...toSol }, { signers: [poor], taker: poor });
    expect(order['gasless']).toBe(true);
    const small = await sandbox.get('/swap/v2/order', {
      inputMint: usdc, outputMint: pearl, amount: 1_000_000, taker: Keypair.generate().publicKey.toBase58(),
    });
    expect(small).toMatchObject({ transaction: '', errorCode: expect.any(Number), errorMessage: expect.any(String) });
  });

  it('gets the same outcome when it sends the same order again', async () => {
    const order = await sandbox.get('/swap/v2/order', { ...toSol, taker: wallet.publicKey.toBase58() });
    const transaction = VersionedTransaction.deserialize(Buffer.from(String(order['transaction']), 'base64'));
    transaction.sign([wallet]);
    const body = {
      signedTransaction: Buffer.from(transaction.serialize()).toString('base64'), requestId: order['requestId'],
    };
    const answers = [...await Promise.all([1, 2].map(() => sandbox.post('/swap/v2/execute', body))),
      await sandbox.post('/swap/v2/execute', body)];
    expect(new Set(answers.map(({ json }) => json['signature'])).size).toBe(1);
    expect(answers.map(({ json }) => json['status'])).toEqual(['Success', 'Success', 'Success']);
  });

  /** Builds, simulates, composes within the units seen, sends and confirms. */
  async function build(
    query: Query, { by = wallet, signers = [wallet] }: { by?: Keypair; signers?: Keypair[] } = {},
  ): Promise<{ build: Build; changes: Changes }> {
    const answer = await sandbox.get('/swap/v2/build', { taker: wallet.publicKey.toBase58(), ...query });
    const built = answer as unknown as Build;
    const options = { payer: by.publicKey, signers };
    const { value } = await connection.simulateTransaction(composed(built, { ...options, units: 1_400_000 }));
    expect(value.err).toBeNull();
    const transaction = composed(built, { ...options, units: Math.ceil(value.unitsConsumed! * 1.1) });
    const signature = await connection.sendRawTransaction(transaction.serialize());
    const { lastValidBlockHeight } = built.blockhashWithMetadata;
    const { value: { err } } = await connection.confirmTransaction({
      signature, blockhash: transaction.message.recentBlockhash, lastValidBlockHeight,
    });
    expect(err).toBeNull();
    return { build: built, changes: await changesOf(connection, signature) };
  }

  const ofReceiver = (mint: string): string =>
    getAssociatedTokenAddressSync(new PublicKey(mint), receiver.publicKey).toBase58();

  it.each<readonly [string, Query]>([
    ['SOL', toUsdc], ['fast', { ...toUsdc, mode: 'fast' }], ['with few accounts', { ...toUsdc, maxAccounts: 18 }],
    ['that expires soon', { ...toUsdc, blockhashSlotsToExpiry: 120 }],
    ['on two markets', { ...toUsdc, dexes: 'Lagoon,Tidepool' }],
    ['without one market', { ...toUsdc, excludeDexes: 'Lagoon' }],
    ['over several pools', { inputMint: pearl, outputMint: buoy, amount: 5_000_000 }],
    ['of much', { ...toUsdc, amount: 30_000_000_000 }], ['for SOL', toSol],
  ])('swaps by a build %s, exactly as quoted', async (_, query) => {
    const { build: { inAmount, outAmount, otherAmountThreshold }, changes } = await build(query);
    const { inputMint, outputMint } = query as { inputMint: string; outputMint: string };
    const fee = (mint: string): bigint => (mint === sol ? changes.feeLamports : 0n);
    expect(changes.token(wallet.publicKey, inputMint)).toBe(-BigInt(inAmount) - fee(inputMint));
    expect(changes.token(wallet.publicKey, outputMint)).toBe(BigInt(outAmount) - fee(outputMint));
    expect(BigInt(otherAmountThreshold)).toBeLessThanOrEqual(BigInt(outAmount));
  });

  it('swaps by a build that pays a fee to somewhere, out of the output or the input', async () => {
    for (const [mint, what] of [[usdc, 'outAmount'], [sol, 'inAmount']] as const) {
      const { build: built, changes } =
        await build({ ...toUsdc, platformFeeBps: 100, feeAccount: ofReceiver(mint) });
      const paid = mint === sol ? changes.lamports(new PublicKey(ofReceiver(sol)))
        : changes.token(receiver.publicKey, mint);
      const of = what === 'inAmount' ? BigInt(built.inAmount) : BigInt(built.outAmount) + paid;
      expect(paid).toBe(of / 100n);
    }
  });

  it('swaps by a build into an account of another wallet, or into its lamports', async () => {
    const { build: into, changes } = await build({ ...toUsdc, destinationTokenAccount: ofReceiver(usdc) });
    expect(changes.token(receiver.publicKey, usdc)).toBe(BigInt(into.outAmount));
    const native = await build({ ...toSol, nativeDestinationAccount: receiver.publicKey.toBase58() });
    expect(native.changes.lamports(receiver.publicKey)).toBe(BigInt(native.build.outAmount));
  });

  it('swaps by a build that another wallet pays for, and by one that keeps SOL wrapped', async () => {
    const paid = await build(
      { ...toUsdc, payer: payer.publicKey.toBase58() }, { by: payer, signers: [payer, wallet] },
    );
    expect(paid.changes.lamports(payer.publicKey)).toBeLessThanOrEqual(-paid.changes.feeLamports);
    // The payer paid the rent of the account for wrapped SOL, and its owner gets it back.
    expect(paid.changes.token(wallet.publicKey, sol)).toBe(RENT_OF_TOKEN_ACCOUNT - BigInt(paid.build.inAmount));
    const wrapped = getAssociatedTokenAddressSync(new PublicKey(sol), wallet.publicKey);
    await createAssociatedTokenAccountIdempotent(connection, wallet, new PublicKey(sol), wallet.publicKey);
    const kept = await build({ ...toSol, wrapAndUnwrapSol: false });
    expect(kept.changes.lamports(wrapped)).toBe(BigInt(kept.build.outAmount));
  });
});
