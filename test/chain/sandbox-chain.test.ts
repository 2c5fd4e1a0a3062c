import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChain } from '../../src/chain/chain.ts';
import { lamports } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import { SOL_MINT, USDC_MINT, type Mint } from '../../src/market/token.ts';
import { associatedTokenAddress } from '../../src/sandbox/chain/addresses.ts';
import type { SwapBuild } from '../../src/trading/swap-terms.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import { asV1 } from '../signer/policy/v1-goldens.ts';
import { wallClock } from './hostile-node.ts';
import { integer } from './random-build.ts';
import { NEWER_MINT, quote, startChainFixture, type ChainFixture } from './chain-fixture.ts';
import { readable } from './readable.ts';

let fixture: ChainFixture;
type Wallet = ReturnType<ChainFixture['wallet']>;

beforeAll(async () => {
  fixture = await startChainFixture();
});
afterAll(() => fixture.close());

/** Composes, signs and sends; the slot after, it is confirmed. */
async function land(build: SwapBuild, wallet: Wallet) {
  const { chain, node } = fixture;
  const composed = await chain.compose(build, wallet.address);
  const signed = await wallet.signer.sign(composed.transaction);
  expect(await chain.send(signed.transaction)).toEqual({ kind: 'accepted' });
  node.advanceSlots(2);
  const { inputMint, outputMint } = build;
  const landed = await chain.landedSwap({ signature: signed.signature, owner: wallet.address, inputMint, outputMint });
  return { composed, signed, landed: readable(landed)! };
}

describe('a swap that is composed, signed, sent and landed', () => {
  test('pays the quoted amounts at the composed cost, and accounts for every lamport', async () => {
    const { chain, node } = fixture;
    const wallet = fixture.wallet();
    const build =
      fixture.build({ wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 1_000_000_000n });
    const before = node.balance(wallet.address);
    const { composed, signed, landed } = await land(build, wallet);
    expect(landed).toMatchObject({
      signature: signed.signature,
      error: undefined,
      amountIn: 1_000_000_000n,
      amountOut: build.outAmount,
      feeLamports: 5_000n + composed.priorityFeeLamports,
      rentLamports: 2_039_280n,
    });
    expect(composed.priorityFeeLamports).toBeGreaterThan(0n);
    expect(node.balance(wallet.address) - before).toBe(-landed.amountIn - landed.feeLamports - landed.rentLamports);
    expect(await chain.signatureStatus(signed.signature, { searchHistory: false }))
      .toMatchObject({ confirmation: 'confirmed', error: undefined });
    expect(await chain.balances(wallet.address))
      .toEqual(new Map([[SOL_MINT, node.balance(wallet.address)], [USDC_MINT, build.outAmount]]));
  });

  test('in version 1 is allowed by the policy, signed, landed and read like any other', async () => {
    const { chain, node } = fixture;
    const wallet = fixture.wallet();
    const build =
      fixture.build({ wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 1_000_000_000n });
    const expectation = {
      wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: build.inAmount,
      minimumOut: build.threshold, maxFeeLamports: 100_000n, route: 'build' as const,
    };
    const { transaction } = await chain.compose(build, wallet.address);
    const [{ bytes }] = asV1({ kind: 'a swap', bytes: transaction, expectation, tables: new Map() })!;
    expect(bytes[0]).toBe(0x81);
    const verdict = createPolicy().judge(bytes, expectation, { tables: new Map() });
    expect(verdict).toMatchObject({ verdict: 'allow', summary: { version: 1 } });
    const signed = await wallet.signer.sign(bytes);
    expect(await chain.send(signed.transaction)).toEqual({ kind: 'accepted' });
    node.advanceSlots(2);
    const landed = await chain.landedSwap({
      signature: signed.signature, owner: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT,
    });
    expect(readable(landed)).toMatchObject({
      error: undefined, amountIn: build.inAmount, amountOut: build.outAmount,
      feeLamports: verdict.summary!.costs.feeLamports,
    });
  });

  test('into SOL and back, with tokens of either program, accounts for every lamport each time', async () => {
    const { chain } = fixture;
    const wallet = fixture.wallet();
    const random = seededRandom('swaps');
    for (let round = 0; round < 24; round++) {
      const token = round % 2 === 0 ? USDC_MINT : NEWER_MINT;
      const held = (await chain.balances(wallet.address)).get(token) ?? 0n;
      const sells = held === 0n || random() < 0.5;
      const [inputMint, outputMint]: [Mint, Mint] = sells ? [SOL_MINT, token] : [token, SOL_MINT];
      const amountIn = sells ? BigInt(integer(random, 1_000, 200_000_000))
        : 1n + (held * BigInt(integer(random, 1, 99))) / 100n;
      const build =
        fixture.build({ wallet: wallet.address, inputMint, outputMint, amountIn, keepWrapped: random() < 0.4 });
      const before = (await chain.balances(wallet.address)).get(SOL_MINT)!;
      const { landed } = await land(build, wallet);
      const after = (await chain.balances(wallet.address)).get(SOL_MINT)!;
      expect(landed).toMatchObject({ error: undefined, amountIn, amountOut: build.outAmount });
      const sol = sells ? -landed.amountIn : landed.amountOut;
      expect(after - before).toBe(sol - landed.feeLamports - landed.rentLamports);
    }
  });

  test('finds its accounts in a lookup table', async () => {
    const { node } = fixture;
    const wallet = fixture.wallet();
    const options = { wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 50_000_000n };
    const { vaultA, vaultB, address } = fixture.pools.get(USDC_MINT)!;
    const held = [vaultB, USDC_MINT, address, SOL_MINT, vaultA];
    const table = node.createLookupTable(held);
    node.advanceSlots(2);
    const without = await fixture.chain.compose(fixture.build(options), wallet.address);
    const { composed, landed } = await land(fixture.build({ ...options, lookupTables: { [table]: held } }), wallet);
    expect(landed.error).toBeUndefined();
    expect(composed.transaction.length).toBeLessThan(without.transaction.length - 3 * 31);
  });

  test('requests enough compute units, and not many more', async () => {
    const wallet = fixture.wallet();
    const build =
      fixture.build({ wallet: wallet.address, inputMint: SOL_MINT, outputMint: NEWER_MINT, amountIn: 7_000_000n });
    const { composed, signed } = await land(build, wallet);
    const used = fixture.node.transaction(signed.signature)!.unitsConsumed;
    expect(composed.unitLimit).toBeGreaterThan(used);
    expect(composed.unitLimit).toBeLessThan(used * 1.3);
  });

  test('pays no more for priority than the cap', async () => {
    const wallet = fixture.wallet();
    const maxPriorityFeeLamports = lamports(1_234n);
    const capped = createChain({ rpcUrl: fixture.rpcUrl, clock: wallClock, maxPriorityFeeLamports });
    const build = fixture.build({
      wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 7_000_000n,
      microLamports: 82_000_000_000n,
    });
    const composed = await capped.compose(build, wallet.address);
    await capped.close();
    const signed = await wallet.signer.sign(composed.transaction);
    await fixture.chain.send(signed.transaction);
    fixture.node.advanceSlots(2);
    const landed = await fixture.chain.landedSwap({
      signature: signed.signature, owner: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT,
    });
    expect(landed).toMatchObject({ feeLamports: 5_000n + composed.priorityFeeLamports });
    expect(composed.priorityFeeLamports).toBeLessThanOrEqual(1_234n);
    expect(composed.priorityFeeLamports).toBeGreaterThan(1_100n);
  });
});

describe('a swap after its price moved', () => {
  test('fails in the simulation with the program’s error code', async () => {
    const wallet = fixture.wallet();
    const pool = fixture.pools.get(USDC_MINT)!;
    const fair = quote(fixture.node, pool, { inputMint: SOL_MINT, amountIn: 5_000_000n });
    const build = fixture.build({
      wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 5_000_000n, minimumOut: fair + 1n,
    });
    await expect(fixture.chain.compose(build, wallet.address))
      .rejects.toMatchObject({ code: 'CHAIN_SIMULATION_FAILED', details: { code: '6001' } });
  });

  test('lands as a failure where the price moves after the simulation: only the fee is paid', async () => {
    const { chain, node } = fixture;
    const wallet = fixture.wallet();
    const pool = fixture.pools.get(USDC_MINT)!;
    const build =
      fixture.build({ wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 5_000_000n });
    const composed = await chain.compose(build, wallet.address);
    const { reserveA, reserveB } = node.readPool(pool.address);
    node.writeReserves(pool.address, { reserveA: reserveA * 2n, reserveB });
    const before = node.balance(wallet.address);
    const signed = await wallet.signer.sign(composed.transaction);
    expect(await chain.send(signed.transaction)).toEqual({ kind: 'accepted' });
    node.advanceSlots(2);
    node.writeReserves(pool.address, { reserveA, reserveB });
    expect(await chain.signatureStatus(signed.signature, { searchHistory: true }))
      .toMatchObject({ error: { code: '6001' } });
    const landed = await chain.landedSwap({
      signature: signed.signature, owner: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT,
    });
    expect(landed).toMatchObject({ error: { code: '6001' }, amountIn: 0n, amountOut: 0n, rentLamports: 0n });
    expect(node.balance(wallet.address) - before).toBe(-readable(landed)!.feeLamports);
  });

  test('fails in the simulation where the wallet has too little', async () => {
    const wallet = fixture.wallet();
    const build =
      fixture.build({ wallet: wallet.address, inputMint: USDC_MINT, outputMint: SOL_MINT, amountIn: 5_000_000n });
    await expect(fixture.chain.compose(build, wallet.address))
      .rejects.toMatchObject({ code: 'CHAIN_SIMULATION_FAILED', details: { code: '1' } });
  });
});

describe('a transaction that never arrives', () => {
  test('is proven to be expired after its last valid block, and not before', async () => {
    const { chain, node } = fixture;
    const wallet = fixture.wallet();
    const build =
      fixture.build({ wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 5_000_000n });
    const { signature, transaction } =
      await wallet.signer.sign((await chain.compose(build, wallet.address)).transaction);
    expect(await chain.finalizedBlockHeight()).toBeLessThan(build.lastValidBlockHeight);
    node.advanceSlots(40);
    const { blockhash } = chain.readTransaction(transaction);
    expect(blockhash).toBe(build.blockhash);
    expect(await chain.isBlockhashValid(blockhash)).toBe(true);
    node.advanceSlots(200);
    expect(await chain.finalizedBlockHeight()).toBeGreaterThan(build.lastValidBlockHeight);
    expect(await chain.isBlockhashValid(blockhash)).toBe(false);
    expect(await chain.signatureStatus(signature, { searchHistory: true })).toBeUndefined();
    expect(await chain.landedSwap({ signature, owner: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT }))
      .toBeUndefined();
    await chain.send(transaction);
    node.advanceSlots(2);
    expect(await chain.signatureStatus(signature, { searchHistory: true })).toBeUndefined();
  });

  test('with invalid bytes is rejected by the node', async () => {
    expect(await fixture.chain.send(new Uint8Array([1, 2, 3]))).toMatchObject({ kind: 'rejected', code: '-32602' });
  });

  test('lands once when it is sent twice', async () => {
    const { chain, node } = fixture;
    const wallet = fixture.wallet();
    const build =
      fixture.build({ wallet: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 5_000_000n });
    const { transaction } = await wallet.signer.sign((await chain.compose(build, wallet.address)).transaction);
    await chain.send(transaction);
    await chain.send(transaction);
    node.advanceSlots(2);
    expect((await chain.balances(wallet.address)).get(USDC_MINT)).toBe(build.outAmount);
  });
});

describe('a transaction with another fee payer', () => {
  test('is found by the wallet’s signature, and costs the wallet only its input', async () => {
    const { chain, node } = fixture;
    const wallet = fixture.wallet();
    const sponsor = fixture.wallet();
    const to =
      new PublicKey(associatedTokenAddress(sponsor.address, USDC_MINT, 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'));
    const message = new TransactionMessage({
      payerKey: sponsor.keypair.publicKey,
      recentBlockhash: node.latestBlockhash().blockhash,
      instructions: [
        SystemProgram.transfer({ fromPubkey: wallet.keypair.publicKey, toPubkey: to, lamports: 3_000_000n }),
      ],
    });
    const theirs = new VersionedTransaction(message.compileToV0Message());
    theirs.sign([sponsor.keypair]);
    const signed = await wallet.signer.sign(theirs.serialize());
    expect(chain.readTransaction(signed.transaction).signers).toEqual([sponsor.address, wallet.address]);
    const sought = { owner: wallet.address, transaction: signed.transaction };
    expect(await chain.findBySigner(sought)).toBeUndefined();
    await chain.send(signed.transaction);
    node.advanceSlots(2);
    const id = await chain.findBySigner(sought);
    expect(id).toBe(signed.transactionId);
    expect(id).toBe(bs58.encode(theirs.signatures[0]!));
    const landed =
      await chain.landedSwap({ signature: id!, owner: wallet.address, inputMint: SOL_MINT, outputMint: USDC_MINT });
    expect(landed).toMatchObject({ feeLamports: 0n, rentLamports: 0n, amountIn: 3_000_000n, amountOut: 0n });
  });
});

describe('version, network and mints', () => {
  test('are read over the same connection', async () => {
    const { chain, node } = fixture;
    expect(await chain.mintDecimals(USDC_MINT)).toBe(6);
    expect(await chain.mintDecimals(NEWER_MINT)).toBe(5);
    expect(await chain.mintDecimals(SOL_MINT)).toBe(9);
    await expect(chain.mintDecimals(fixture.wallet().address as Mint)).rejects.toMatchObject({ code: 'MINT_INVALID' });
    expect(await chain.genesisHash()).toBe(node.genesisHash);
    expect(await chain.version()).toMatch(/^\d+\.\d+/);
  });
});
