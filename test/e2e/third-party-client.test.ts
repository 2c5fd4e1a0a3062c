import { spawnSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import type { AccountMeta } from '@solana/web3.js';
import {
  AddressLookupTableAccount, ComputeBudgetProgram, Connection, Keypair, PublicKey, TransactionInstruction,
  TransactionMessage, VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { createPlayground, startSandbox } from './gannet.ts';

// A third-party client, with nothing of Gannet in it: curl (or, on a machine without, Node's own HTTP) and web3.js.

const SOL = 'So11111111111111111111111111111111111111112';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const KEY = 'any-key-will-do';
const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

type Answer = Readonly<Record<string, unknown>>;

let playground: ReturnType<typeof createPlayground>;
let addresses: SandboxAddresses;
let connection: Connection;
let wallet: Keypair;

beforeAll(async () => {
  playground = createPlayground();
  addresses = await startSandbox(playground, 11, '--speed', '0');
  connection = new Connection(addresses.rpc_url, { commitment: 'confirmed', wsEndpoint: addresses.ws_url });
  wallet = Keypair.fromSecretKey(bs58.decode(addresses.wallet.private_key));
});

afterAll(async () => {
  await playground.close();
});

/** Asks as a shell script would. */
async function ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly json: unknown }> {
  const url = `${addresses.base_url}${path}`;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const { status, text } = HAS_CURL ? withCurl(url, sent) : await withNode(url, sent);
  return { status, json: JSON.parse(text) as unknown };
}

function withCurl(url: string, body: string | undefined): { readonly status: number; readonly text: string } {
  const data = body === undefined ? [] : ['-H', 'content-type: application/json', '--data-binary', '@-'];
  const { stdout, stderr } = spawnSync(
    'curl', ['-sS', '--max-time', '30', '-H', `x-api-key: ${KEY}`, ...data, '-w', '\n%{http_code}', url],
    { input: body, encoding: 'utf8' },
  );
  const end = stdout.lastIndexOf('\n');
  expect(end, stderr).toBeGreaterThan(0);
  return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) };
}

function withNode(url: string, body: string | undefined): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const asked = httpRequest(url, { method: body === undefined ? 'GET' : 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => { text += part; })
        .on('end', () => { resolve({ status: answer.statusCode ?? 0, text }); });
    });
    asked.on('error', reject).end(body);
  });
}

async function answer(path: string, body?: unknown): Promise<Answer> {
  const { status, json } = await ask(path, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json as Answer;
}

async function tokenBalance(mint: string): Promise<bigint> {
  const { value } = await connection.getParsedTokenAccountsByOwner(wallet.publicKey, { mint: new PublicKey(mint) });
  return value.reduce((sum, { account }) => sum + BigInt(
    (account.data.parsed as { info: { tokenAmount: { amount: string } } }).info.tokenAmount.amount,
  ), 0n);
}

interface WireInstruction {
  readonly programId: string;
  readonly accounts: readonly { readonly pubkey: string; readonly isSigner: boolean; readonly isWritable: boolean }[];
  readonly data: string;
}

function instruction({ programId, accounts, data }: WireInstruction): TransactionInstruction {
  const keys = accounts.map(({ pubkey, ...flags }): AccountMeta => ({ pubkey: new PublicKey(pubkey), ...flags }));
  return new TransactionInstruction({ programId: new PublicKey(programId), keys, data: Buffer.from(data, 'base64') });
}

describe('a third-party client', () => {
  it('orders, signs and executes', async () => {
    const before = await tokenBalance(USDC);
    const order = await answer(
      `/swap/v2/order?inputMint=${SOL}&outputMint=${USDC}&amount=50000000&taker=${addresses.wallet.address}`,
    );
    const transaction = VersionedTransaction.deserialize(Buffer.from(String(order['transaction']), 'base64'));
    transaction.sign([wallet]);
    const executed = await answer('/swap/v2/execute', {
      signedTransaction: Buffer.from(transaction.serialize()).toString('base64'), requestId: order['requestId'],
    });
    expect(executed).toMatchObject({ status: 'Success', code: 0 });
    const landed =
      await connection.getTransaction(String(executed['signature']), { maxSupportedTransactionVersion: 0 });
    expect(landed?.meta?.err).toBeNull();
    expect(await tokenBalance(USDC) - before).toBe(BigInt(String(order['outAmount'])));
  });

  it('builds, composes, sends to the RPC and waits for the websocket', async () => {
    const before = await tokenBalance(USDC);
    const build = await answer(
      `/swap/v2/build?inputMint=${SOL}&outputMint=${USDC}&amount=40000000&taker=${addresses.wallet.address}`,
    );
    const { blockhash: bytes, lastValidBlockHeight } =
      build['blockhashWithMetadata'] as { readonly blockhash: number[]; readonly lastValidBlockHeight: number };
    const blockhash = bs58.encode(Uint8Array.from(bytes));
    const tables = Object.entries(build['addressesByLookupTableAddress'] as Record<string, string[]>)
      .map(([key, held]) => new AddressLookupTableAccount({
        key: new PublicKey(key),
        state: {
          deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0,
          addresses: held.map((address) => new PublicKey(address)),
        },
      }));
    const message = new TransactionMessage({
      payerKey: wallet.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
        ...[
          build['computeBudgetInstructions'], build['setupInstructions'], [build['swapInstruction']],
          build['cleanupInstruction'] === null ? [] : [build['cleanupInstruction']],
        ]
          .flatMap((part) => part as WireInstruction[]).map(instruction),
      ],
    }).compileToV0Message(tables);
    const transaction = new VersionedTransaction(message);
    transaction.sign([wallet]);
    const signature = await connection.sendRawTransaction(transaction.serialize());
    const { value } = await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight }, 'confirmed');
    expect(value.err).toBeNull();
    expect(await tokenBalance(USDC) - before).toBeGreaterThanOrEqual(BigInt(String(build['otherAmountThreshold'])));
  });

  it('quotes by V1, sends the quote back unchanged, and lands the transaction', async () => {
    const before = await tokenBalance(USDC);
    const quote = await answer(`/swap/v1/quote?inputMint=${SOL}&outputMint=${USDC}&amount=30000000&slippageBps=50`);
    const swap = await answer('/swap/v1/swap', { userPublicKey: addresses.wallet.address, quoteResponse: quote });
    const transaction = VersionedTransaction.deserialize(Buffer.from(String(swap['swapTransaction']), 'base64'));
    transaction.sign([wallet]);
    const signature = await connection.sendRawTransaction(transaction.serialize());
    const { value } = await connection.confirmTransaction({
      signature, blockhash: transaction.message.recentBlockhash,
      lastValidBlockHeight: Number(swap['lastValidBlockHeight']),
    }, 'confirmed');
    expect(value.err).toBeNull();
    expect(await tokenBalance(USDC) - before).toBeGreaterThanOrEqual(BigInt(String(quote['otherAmountThreshold'])));
  });

  it('asks V1 for instructions and for the names of markets', async () => {
    const quote = await answer(`/swap/v1/quote?inputMint=${SOL}&outputMint=${USDC}&amount=30000000`);
    const instructions =
      await answer('/swap/v1/swap-instructions', { userPublicKey: addresses.wallet.address, quoteResponse: quote });
    expect(instructions).toMatchObject({
      swapInstruction: { programId: expect.any(String) }, addressLookupTableAddresses: expect.any(Array),
    });
    expect(Object.values(await answer('/swap/v1/program-id-to-label')).every((label) => typeof label === 'string'))
      .toBe(true);
  });

  it('reads every token endpoint', async () => {
    const lists = [
      '/ultra/v1/search?query=SOL', '/tokens/v2/search?query=SOL', '/tokens/v2/tag?query=verified',
      '/tokens/v2/toptraded/24h?limit=5', '/tokens/v2/recent',
    ];
    for (const path of lists) {
      const records = await answer(path) as unknown as readonly Answer[];
      expect(records.length, path).toBeGreaterThan(0);
      expect(records[0], path)
        .toMatchObject({ id: expect.any(String), symbol: expect.any(String), decimals: expect.any(Number) });
    }
    for (const path of [`/tokens/v2/content?mints=${SOL}`, '/tokens/v2/content/cooking'])
      expect(await answer(path), path).toMatchObject({ data: expect.any(Array) });
    expect(await answer(`/tokens/v2/content/feed?mint=${SOL}`))
      .toMatchObject({ data: { contents: expect.any(Array), pagination: { page: 1 } } });
  });

  it('reads every prediction endpoint', async () => {
    const { data: events } =
      await answer('/prediction/v1/events/search?query=e&limit=20') as { readonly data: readonly Answer[] };
    expect(events.length).toBeGreaterThan(0);
    const { data: markets, pagination } = await answer(
      `/prediction/v1/events/${encodeURIComponent(String(events[0]!['eventId']))}/markets`,
    ) as { readonly data: readonly Answer[]; readonly pagination: Answer };
    expect(pagination).toMatchObject({ start: 0, total: expect.any(Number), hasNext: expect.any(Boolean) });
    const { status, json: book } =
      await ask(`/prediction/v1/orderbook/${encodeURIComponent(String(markets[0]!['marketId']))}`);
    expect(status).toBe(200);
    if (book !== null) expect(book).toMatchObject({
      yes: expect.any(Array), no: expect.any(Array), yes_dollars: expect.any(Array), no_dollars: expect.any(Array),
    });
    const { data: positions } = await answer(
      `/prediction/v1/positions?ownerPubkey=${addresses.wallet.address}`,
    ) as { readonly data: readonly Answer[] };
    expect(positions.length).toBeGreaterThan(0);
    const position = String(positions[0]!['pubkey']);
    expect(await answer(`/prediction/v1/positions/${position}`))
      .toMatchObject({ pubkey: position, ownerPubkey: addresses.wallet.address });
    const { data: history } = await answer(
      `/prediction/v1/history?ownerPubkey=${addresses.wallet.address}`,
    ) as { readonly data: readonly Answer[] };
    expect(history[0])
      .toMatchObject({ id: expect.any(Number), eventType: expect.any(String), ownerPubkey: addresses.wallet.address });
    expect(await answer(`/prediction/v1/events/suggested/${String(history[0]!['orderPubkey'])}`))
      .toMatchObject({ data: expect.any(Array) });
  });

  it('reads the earnings of lending', async () => {
    const { status, json } = await ask(`/lend/v1/earn/earnings?user=${addresses.wallet.address}&positions=${SOL}`);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json).toBeInstanceOf(Array);
  });
});
