import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { MINTS, startOutsideSandbox } from './outside-sandbox.ts';
import type { Json, OutsideSandbox } from './outside-sandbox.ts';
import { changesOf, connect } from './web3js-swaps.ts';

const { sol, usdc } = MINTS;

type List = readonly Json[];

describe.each(PROFILES)('a stranger without a library of the service, on a sandbox of profile %s', (profile) => {
  let sandbox: OutsideSandbox;
  let owner: string;

  beforeAll(async () => {
    sandbox = await startOutsideSandbox(profile);
    owner = sandbox.addresses.wallet.address;
  });

  afterAll(async () => {
    await sandbox.close();
  });

  function prediction(path: string, query: Readonly<Record<string, string | number>> = {}): Promise<Json> {
    return sandbox.get(`/prediction/v1/${path}`, query);
  }

  it('quotes by V1, sends the quote back unchanged, and lands the transaction', async () => {
    const connection = connect(sandbox);
    const wallet = Keypair.fromSecretKey(bs58.decode(sandbox.addresses.wallet.private_key));
    const quote = await sandbox.get(
      '/swap/v1/quote', { inputMint: sol, outputMint: usdc, amount: 30_000_000, slippageBps: 50 },
    );
    const { json: swap } = await sandbox.post('/swap/v1/swap', { userPublicKey: owner, quoteResponse: quote });
    const transaction = VersionedTransaction.deserialize(Buffer.from(String(swap['swapTransaction']), 'base64'));
    transaction.sign([wallet]);
    const signature = await connection.sendRawTransaction(transaction.serialize());
    await connection.confirmTransaction({
      signature, blockhash: transaction.message.recentBlockhash,
      lastValidBlockHeight: Number(swap['lastValidBlockHeight']),
    });
    const changes = await changesOf(connection, signature);
    expect(changes.token(wallet.publicKey, usdc)).toBe(BigInt(String(quote['outAmount'])));
  });

  it('asks V1 for instructions and for the names of markets', async () => {
    const quote = await sandbox.get('/swap/v1/quote', { inputMint: sol, outputMint: usdc, amount: 30_000_000 });
    const { json } =
      await sandbox.post('/swap/v1/swap-instructions', { userPublicKey: owner, quoteResponse: quote });
    expect(json).toMatchObject({
      swapInstruction: { programId: expect.any(String) }, addressLookupTableAddresses: expect.any(Array),
    });
    const labels = Object.values(await sandbox.get('/swap/v1/program-id-to-label'));
    expect(labels.length).toBeGreaterThan(0);
    expect(labels.filter((label) => typeof label !== 'string')).toEqual([]);
  });

  it('reads every token endpoint', async () => {
    const lists: [string, Record<string, string>][] = [
      ['/ultra/v1/search', { query: 'SOL' }], ['/tokens/v2/search', { query: 'SOL' }],
      ['/tokens/v2/tag', { query: 'verified' }], ['/tokens/v2/toptraded/24h', { limit: '5' }],
      ['/tokens/v2/recent', {}],
    ];
    for (const [path, query] of lists) {
      const [record] = await sandbox.get(path, query) as unknown as List;
      expect(record, path)
        .toMatchObject({ id: expect.any(String), symbol: expect.any(String), decimals: expect.any(Number) });
    }
    for (const answer of [
      await sandbox.get('/tokens/v2/content', { mints: sol }), await sandbox.get('/tokens/v2/content/cooking'),
    ]) expect(answer).toMatchObject({ data: expect.any(Array) });
    expect(await sandbox.get('/tokens/v2/content/feed', { mint: sol }))
      .toMatchObject({ data: { contents: expect.any(Array), pagination: { page: 1 } } });
  });

  it('reads every prediction endpoint', async () => {
    const { data: events } = await prediction('events/search', { query: 'e', limit: 20 }) as { data: List };
    const event = encodeURIComponent(String(events[0]!['eventId']));
    const { data: markets, pagination } = await prediction(`events/${event}/markets`) as { data: List } & Json;
    expect(pagination).toMatchObject({ start: 0, total: expect.any(Number), hasNext: expect.any(Boolean) });
    const market = encodeURIComponent(String(markets[0]!['marketId']));
    const book = await prediction(`orderbook/${market}`) as Json | null;
    if (book !== null) expect(book).toMatchObject({
      yes: expect.any(Array), no: expect.any(Array), yes_dollars: expect.any(Array), no_dollars: expect.any(Array),
    });
    const { data: [position] } = await prediction('positions', { ownerPubkey: owner }) as { data: List };
    const { pubkey } = position!;
    expect(await prediction(`positions/${String(pubkey)}`)).toMatchObject({ pubkey, ownerPubkey: owner });
    const { data: [entry] } = await prediction('history', { ownerPubkey: owner }) as { data: List };
    expect(entry).toMatchObject({ id: expect.any(Number), eventType: expect.any(String), ownerPubkey: owner });
    expect(await prediction(`events/suggested/${String(entry!['orderPubkey'])}`))
      .toMatchObject({ data: expect.any(Array) });
  });

  it('reads the earnings of lending', async () => {
    expect(await sandbox.get('/lend/v1/earn/earnings', { user: owner, positions: sol })).toBeInstanceOf(Array);
  });
});
