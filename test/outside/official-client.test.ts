import { Configuration, SwapApi, type QuoteGetRequest, type SwapInstructionsResponse } from '@jup-ag/api';
import {
  Connection, Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction,
  type AddressLookupTableAccount,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { PROFILES } from '../../src/sandbox/service/context.ts';
import { dialectNames, loadDialect } from '../../src/service/wire/dialect.ts';

/** The dialect that the client speaks: that of the service's public host. */
const DIALECT = dialectNames().find((name) => loadDialect(name).hosts.length > 0)!;
const STILL_SLOT_MS = 60_000;
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const KELP = 'Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4';

/** Ten quotes, with every option that the client has. */
const QUOTES: readonly (readonly [says: string, request: QuoteGetRequest])[] = [
  ['SOL to USDC', { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 100_000_000 }],
  ['USDC to SOL', { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 20_000_000 }],
  ['a slippage of its own', { inputMint: PEARL, outputMint: USDC_MINT, amount: 3_000_000, slippageBps: 7 }],
  ['two markets', { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 50_000_000, dexes: ['Lagoon', 'Tidepool'] }],
  ['other markets', {
    inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 9_000_000, excludeDexes: ['Lagoon', 'Estuary'],
  }],
  ['direct routes', { inputMint: KELP, outputMint: SOL_MINT, amount: 5_000_000_000, onlyDirectRoutes: true }],
  ['three hops', {
    inputMint: KELP, outputMint: PEARL, amount: 2_000_000_000, restrictIntermediateTokens: false, maxAccounts: 40,
  }],
  ['instructions of the second version', {
    inputMint: SOL_MINT, outputMint: PEARL, amount: 80_000_000, instructionVersion: 'V2',
  }],
  ['an exact output', { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 100_000_000, swapMode: 'ExactOut' }],
  ['a message without version', {
    inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 7_000_000, asLegacyTransaction: true, onlyDirectRoutes: true,
  }],
];

describe.each(PROFILES)('the official client against the profile %s', (profile) => {
  let sandbox: Sandbox;
  let api: SwapApi;
  let connection: Connection;
  let keypair: Keypair;

  beforeAll(async () => {
    sandbox = await startSandbox({ seed: 7, speed: 0, slotMs: STILL_SLOT_MS, profile, dialect: DIALECT });
    const { base_url: base, rpc_url: rpc, wallet } = sandbox.addresses;
    api = new SwapApi(new Configuration({ basePath: `${base}/swap/v1`, headers: { 'x-api-key': 'outside' } }));
    connection = new Connection(rpc, 'confirmed');
    keypair = Keypair.fromSecretKey(bs58.decode(wallet.private_key));
  });
  afterAll(() => sandbox.close());

  async function held(mint: string): Promise<bigint> {
    if (mint === SOL_MINT) return BigInt(await connection.getBalance(keypair.publicKey, 'processed'));
    const { value } = await connection.getParsedTokenAccountsByOwner(
      keypair.publicKey, { mint: new PublicKey(mint) }, 'processed',
    );
    return value.reduce((sum, { account }) =>
      sum + BigInt((account.data.parsed as { info: { tokenAmount: { amount: string } } }).info.tokenAmount.amount), 0n);
  }

  /** Lands a transaction and expects the balances to move by the quote, and by nothing else but the fee. */
  async function landExactly(
    transaction: VersionedTransaction, quote: { inputMint: string; outputMint: string }, mode: string,
    { inAmount, outAmount, threshold }: { inAmount: bigint; outAmount: bigint; threshold: bigint },
  ): Promise<void> {
    transaction.sign([keypair]);
    const before = [await held(quote.inputMint), await held(quote.outputMint)] as const;
    const signature = await connection.sendRawTransaction(transaction.serialize());
    sandbox.advance(1);
    const landed = sandbox.chain.transaction(signature)!;
    expect(landed.error).toBeNull();
    const costs = (mint: string): bigint => (mint === SOL_MINT ? landed.feeLamports : 0n);
    const spent = before[0] - (await held(quote.inputMint)) - costs(quote.inputMint);
    const received = (await held(quote.outputMint)) - before[1] + costs(quote.outputMint);
    if (mode === 'ExactOut') {
      expect(spent <= threshold, `${spent} of at most ${threshold}`).toBe(true);
      expect(received >= outAmount && received < outAmount + 1_000n, `${received} for ${outAmount}`).toBe(true);
      return;
    }
    expect([spent, received]).toEqual([inAmount, outAmount]);
  }

  test('lands ten swaps of ten, with every option, and the balances are the quote\'s', async () => {
    let landed = 0;
    for (const [says, request] of QUOTES) {
      const quote = await api.quoteGet(request);
      const answer = await api.swapPost({ swapRequest: {
        userPublicKey: keypair.publicKey.toBase58(), quoteResponse: quote, dynamicComputeUnitLimit: landed % 2 === 0,
        ...(request.asLegacyTransaction === undefined ? {} : { asLegacyTransaction: true }),
        ...(landed % 3 === 0 ? { prioritizationFeeLamports: {
          priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 40_000 },
        } } : {}),
      } });
      const transaction = VersionedTransaction.deserialize(Buffer.from(answer.swapTransaction, 'base64'));
      expect(transaction.version, says).toBe(request.asLegacyTransaction === true ? 'legacy' : 0);
      await landExactly(transaction, quote, quote.swapMode, {
        inAmount: BigInt(quote.inAmount), outAmount: BigInt(quote.outAmount),
        threshold: BigInt(quote.otherAmountThreshold),
      });
      landed++;
    }
    expect(landed).toBe(10);
  });

  test('composes and lands what swapInstructionsPost gives', async () => {
    for (const [, request] of QUOTES.slice(0, 3)) {
      const quote = await api.quoteGet(request);
      const parts = await api.swapInstructionsPost({
        swapRequest: { userPublicKey: keypair.publicKey.toBase58(), quoteResponse: quote },
      });
      await landExactly(await composed(parts), quote, quote.swapMode, {
        inAmount: BigInt(quote.inAmount), outAmount: BigInt(quote.outAmount),
        threshold: BigInt(quote.otherAmountThreshold),
      });
    }
  });

  async function composed(parts: SwapInstructionsResponse): Promise<VersionedTransaction> {
    const tables: AddressLookupTableAccount[] = [];
    for (const address of parts.addressLookupTableAddresses) {
      const { value } = await connection.getAddressLookupTable(new PublicKey(address));
      if (value !== null) tables.push(value);
    }
    expect(tables.length).toBe(parts.addressLookupTableAddresses.length);
    const all = [
      ...parts.computeBudgetInstructions, ...parts.setupInstructions, parts.swapInstruction,
      ...[parts.cleanupInstruction ?? []].flat(), ...parts.otherInstructions,
    ];
    return new VersionedTransaction(new TransactionMessage({
      payerKey: keypair.publicKey,
      recentBlockhash: (await connection.getLatestBlockhash()).blockhash,
      instructions: all.map(({ programId, accounts, data }) => new TransactionInstruction({
        programId: new PublicKey(programId), data: Buffer.from(data, 'base64'),
        keys: accounts.map((account) => ({ ...account, pubkey: new PublicKey(account.pubkey) })),
      })),
    }).compileToV0Message(tables));
  }

  test('the labels that the client lists are those that it may choose', async () => {
    const labels = new Set(Object.values(await api.programIdToLabelGet()));
    expect(labels).toEqual(new Set(['Tidepool', 'Lagoon', 'Estuary']));
    const quote = await api.quoteGet({
      inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 1_000_000, dexes: ['Tidepool', 'Nowhere'],
    });
    expect(quote.routePlan.map(({ swapInfo }) => swapInfo.label)).toEqual(['Tidepool']);
  });

  test('a quote that was changed is refused with the member that was', async () => {
    const quote = await api.quoteGet(QUOTES[0]![1]);
    const refused = await api.swapPost({ swapRequest: {
      userPublicKey: keypair.publicKey.toBase58(), quoteResponse: { ...quote, slippageBps: 5_000 },
    } }).then(() => undefined, (error: unknown) => error as { response: Response });
    expect(refused?.response.status).toBe(400);
    expect(await refused?.response.json()).toEqual({
      error: 'quoteResponse.slippageBps: expected 50, as in the quote',
    });
  });
});
