import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OwnedTokenAccount } from '../../src/chain/close-accounts.ts';
import { closableAccounts, depositOf } from '../../src/chain/close-accounts.ts';
import { createClosingComposer } from '../../src/chain/compose-closing.ts';
import { createBalances } from '../../src/chain/balances.ts';
import type { WalletContents, WalletTokenAccount } from '../../src/chain/wallet-contents.ts';
import { createFinality } from '../../src/chain/finality.ts';
import type { RpcClient } from '../../src/chain/rpc-client.ts';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { createPolicy, judgeClosing } from '../../src/signer/policy/policy.ts';
import { wallClock } from './hostile-node.ts';
import { NEWER_MINT, startChainFixture, TOKEN_2022, type ChainFixture } from './chain-fixture.ts';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const RENT = 2_039_280n;

const walletFrom = (rpc: RpcClient, owner: string): Promise<WalletContents> =>
  createBalances({ rpc, ...createFinality(rpc, wallClock) }).wallet(owner);

const key = (byte: number): Buffer => Buffer.alloc(32, byte);

let fixture: ChainFixture;
beforeAll(async () => { fixture = await startChainFixture(); });
afterAll(() => fixture.close());

/** A wallet with 5 USDC, an empty account of the newer token, and half a SOL wrapped. */
async function furnished(): Promise<{
  readonly address: string; readonly accounts: readonly WalletTokenAccount[];
  readonly sign: (bytes: Uint8Array) => Promise<{ readonly transaction: Uint8Array; readonly signature: string }>;
}> {
  const { address, signer } = fixture.wallet();
  fixture.node.fundToken({ owner: address, mint: USDC_MINT, amount: 5_000_000n });
  fixture.node.fundToken({ owner: address, mint: NEWER_MINT, amount: 0n });
  fixture.node.fundToken({ owner: address, mint: SOL_MINT, amount: 500_000_000n });
  fixture.node.advanceSlots(2);
  return { address, accounts: (await fixture.chain.wallet(address)).accounts, sign: (bytes) => signer.sign(bytes) };
}

const mintsOf = (accounts: readonly OwnedTokenAccount[]): string[] => accounts.map(({ mint }) => mint).sort();

describe('reading a wallet', () => {
  it('returns its native SOL, and every token account with its deposit, empty ones too', async () => {
    const { address, accounts } = await furnished();
    const { lamports } = await fixture.chain.wallet(address);
    expect(lamports).toBe(fixture.node.balance(address));
    const byMint = new Map(accounts.map((account) => [account.mint as string, account]));
    expect(byMint.get(USDC_MINT)).toMatchObject({
      amount: 5_000_000n, decimals: 6, tokenProgram: TOKEN, lamports: RENT, isFrozen: false, delegate: undefined,
      closeAuthority: undefined, withheldFee: 0n,
    });
    expect(byMint.get(NEWER_MINT)).toMatchObject({ amount: 0n, decimals: 5, tokenProgram: TOKEN_2022 });
    const wrapped = byMint.get(SOL_MINT)!;
    expect(wrapped).toMatchObject({ amount: 500_000_000n, lamports: RENT + 500_000_000n });
    expect([depositOf(wrapped), depositOf(byMint.get(USDC_MINT)!)]).toStrictEqual([RENT, RENT]);
  });

  it('returns withheld fees, delegate, close authority and frozen state of an account', async () => {
    const { address } = fixture.wallet();
    const account = (...extension: number[]): { readonly pubkey: string; readonly account: object } => {
      const data = Buffer.alloc(166 + extension.length);
      new PublicKey(NEWER_MINT).toBuffer().copy(data, 0);
      new PublicKey(address).toBuffer().copy(data, 32);
      data.writeUInt32LE(1, 72);
      key(7).copy(data, 76);
      data[108] = 2;
      data.writeBigUInt64LE(3n, 121);
      data.writeUInt32LE(1, 129);
      key(8).copy(data, 133);
      data[165] = 2;
      data.set(extension, 166);
      return {
        pubkey: address, account: { owner: TOKEN_2022, lamports: 5, data: [data.toString('base64'), 'base64'] },
      };
    };
    const given = (answer: ReturnType<typeof account>): RpcClient => ({
      close: async () => undefined,
      call: async (method, params, shape) => {
        const [, filter] = params as readonly [unknown, { readonly programId?: string } | undefined];
        const value = method === 'getBalance' ? 9 : method === 'getMultipleAccounts' ? [null]
          : filter?.programId === TOKEN_2022 ? [answer] : [];
        return shape.parse({ context: { slot: 1 }, value });
      },
    });
    expect(await walletFrom(given(account(2, 0, 8, 0, 6, 0, 0, 0, 0, 0, 0, 0)), address)).toMatchObject({
      lamports: 9n, accounts: [{
        withheldFee: 6n, delegate: new PublicKey(key(7)).toBase58(), delegatedAmount: 3n,
        closeAuthority: new PublicKey(key(8)).toBase58(), isFrozen: true, decimals: undefined,
      }],
    });
    for (const cut of [[2, 0, 8, 0, 6], [2, 0, 4, 0, 6, 0, 0, 0]])
      await expect(walletFrom(given(account(...cut)), address))
        .rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
  });

  it('refuses a token account that belongs to another wallet', async () => {
    const other = await furnished();
    const { address } = fixture.wallet();
    const rpc = {
      call: async (method: string, params: readonly unknown[], shape: { parse(value: unknown): unknown }) => {
        const asked = method === 'getTokenAccountsByOwner' ? [other.address, ...params.slice(1)] : params;
        const answer = await fetch(fixture.rpcUrl, {
          method: 'POST', headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: asked }),
        });
        return shape.parse(((await answer.json()) as { readonly result: unknown }).result);
      },
      close: async () => undefined,
    } as RpcClient;
    await expect(walletFrom(rpc, address)).rejects.toMatchObject({
      code: 'CHAIN_RESPONSE_INVALID', message: expect.stringContaining(`belongs to ${other.address}`) as string,
    });
  });
});

describe('closableAccounts', () => {
  it('returns empty accounts, and wrapped SOL only with the option to unwrap', async () => {
    const { address, accounts } = await furnished();
    expect(mintsOf(closableAccounts(accounts, { owner: address, unwrap: false }).closable)).toStrictEqual([NEWER_MINT]);
    expect(mintsOf(closableAccounts(accounts, { owner: address, unwrap: true }).closable))
      .toStrictEqual([NEWER_MINT, SOL_MINT].sort());
  });

  it('keeps accounts with withheld fees or a foreign close authority, with the reason', () => {
    const empty: OwnedTokenAccount = {
      address: 'a', mint: USDC_MINT, amount: 0n as Amount, tokenProgram: TOKEN, lamports: RENT as Lamports,
      closeAuthority: undefined, withheldFee: 0n as Amount,
    };
    const { closable, kept } = closableAccounts([
      { ...empty, withheldFee: 7n as Amount }, { ...empty, closeAuthority: 'stranger' },
      { ...empty, closeAuthority: 'owner' }, { ...empty, amount: 1n as Amount },
      { ...empty, mint: SOL_MINT, amount: 1n as Amount, closeAuthority: 'stranger' },
    ], { owner: 'owner', unwrap: true });
    expect(closable).toStrictEqual([{ ...empty, closeAuthority: 'owner' }]);
    expect(kept.map(({ reason }) => reason)).toStrictEqual([
      expect.stringContaining('7 units of transfer fees'), expect.stringContaining('only stranger'),
      expect.stringContaining('only stranger'),
    ]);
  });
});

describe('a transaction that closes accounts', () => {
  it('passes the signer’s policy, lands, and returns all deposits and the wrapped SOL', async () => {
    const { address, accounts, sign } = await furnished();
    const { closable } = closableAccounts(accounts, { owner: address, unwrap: true });
    const { composed, refused } = await fixture.chain.composeClosing(address, closable);
    expect(refused).toStrictEqual([]);
    expect(judgeClosing(composed!.transaction, address, createPolicy()))
      .toMatchObject({ verdict: 'allow', feeLamports: composed!.feeLamports });
    const before = fixture.node.balance(address);
    const { transaction, signature } = await sign(composed!.transaction);
    expect(await fixture.chain.send(transaction)).toStrictEqual({ kind: 'accepted' });
    fixture.node.advanceSlots(3);
    expect(await fixture.chain.signatureStatus(signature, { searchHistory: false }))
      .toMatchObject({ error: undefined });
    const back = closable.reduce((sum, { lamports }) => sum + lamports, 0n);
    expect(fixture.node.balance(address)).toBe(before + back - composed!.feeLamports);
    expect(mintsOf((await fixture.chain.wallet(address)).accounts)).toStrictEqual([USDC_MINT]);
  });

  it('leaves out an account with tokens, with the program’s error', async () => {
    const { address, accounts } = await furnished();
    const { accounts: rest, composed, refused } = await fixture.chain.composeClosing(address, accounts);
    expect(mintsOf(rest)).toStrictEqual([NEWER_MINT, SOL_MINT].sort());
    expect(refused).toMatchObject([
      { account: { mint: USDC_MINT }, code: '11', message: expect.stringContaining('error 11') as string },
    ]);
    expect(composed!.feeLamports).toBeLessThan(10_000n);
    const usdc = accounts.filter(({ mint }) => mint === USDC_MINT);
    expect(await fixture.chain.composeClosing(address, usdc))
      .toMatchObject({ accounts: [], composed: undefined, refused: [{ code: '11' }] });
  });

  it('fits 15 accounts of both token programs into one packet', async () => {
    const owner = fixture.wallet().address;
    const mints = Array.from({ length: 15 }, (_, index) => new PublicKey(new Uint8Array(32).fill(100 + index)));
    const accounts = mints.map((mint, index): OwnedTokenAccount => ({
      address: createAssociatedTokenAccountIdempotentInstruction(mint, mint, mint, mint).keys[1]!.pubkey.toBase58(),
      mint: mint.toBase58() as OwnedTokenAccount['mint'], amount: 0n as Amount,
      tokenProgram: index % 2 === 0 ? TOKEN : TOKEN_2022, lamports: RENT as Lamports, closeAuthority: undefined,
      withheldFee: 0n as Amount,
    }));
    const composer = createClosingComposer({
      simulate: async (transaction) => ({ unitsConsumed: BigInt(transaction.length), logs: [] }),
      latestBlockhash: async () => ({ blockhash: owner, lastValidBlockHeight: 1n }),
    });
    const { composed } = await composer(owner, accounts);
    expect(composed!.transaction.length).toBeLessThanOrEqual(1_232);
    await expect(composer(owner, [...accounts, ...accounts])).rejects.toThrow('1 to 15 accounts');
  });

  it('fails where accounts close one by one, but not together', async () => {
    const { address, accounts } = await furnished();
    const composer = createClosingComposer({
      simulate: async (transaction) => ({ unitsConsumed: 1n, logs: [], error: transaction.length > 330
        ? { code: 'Strange', message: 'only one at a time' } : undefined }),
      latestBlockhash: async () => ({ blockhash: address, lastValidBlockHeight: 1n }),
    });
    await expect(composer(address, accounts)).rejects.toMatchObject({
      code: 'CHAIN_SIMULATION_FAILED', message: expect.stringContaining('not together') as string,
    });
  });
});
