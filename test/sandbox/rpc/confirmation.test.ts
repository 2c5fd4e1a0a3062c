import { Connection, SystemProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, MINTS, signedTransaction, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey } from '../chain/web3.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let sockets: WebSocket[];
const friend = walletOf('friend');

beforeEach(async () => {
  ({ chain, user } = createMarketFixture());
  chain.advanceSlots(100);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  sockets = [];
});

afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  await rpc.close();
});

function payment(lamports: number): Uint8Array {
  const transfer =
    SystemProgram.transfer({ fromPubkey: publicKey(user.address), toPubkey: publicKey(friend.address), lamports });
  return signedTransaction({ chain, payer: user, instructions: [transfer] });
}

interface Client {
  ask: (message: unknown) => Promise<Record<string, unknown>>;
  next: () => Promise<Record<string, unknown>>;
}

async function client(url = rpc.wsUrl, options = {}): Promise<Client> {
  const socket = new WebSocket(url, options);
  sockets.push(socket);
  const received: Record<string, unknown>[] = [];
  const waiting: ((message: Record<string, unknown>) => void)[] = [];
  socket.on('message', (data) => {
    const message = JSON.parse((data as Buffer).toString('utf8')) as Record<string, unknown>;
    const resolveNext = waiting.shift();
    if (resolveNext) resolveNext(message);
    else received.push(message);
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const next = (): Promise<Record<string, unknown>> => {
    const message = received.shift();
    return message ? Promise.resolve(message) : new Promise((resolve) => waiting.push(resolve));
  };
  return {
    next,
    ask: (message) => {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
      return next();
    },
  };
}

interface SlotStage {
  readonly type: string;
  readonly slot: number;
  readonly parent?: number;
  readonly stats?: object;
}

function stageIn(message: Record<string, unknown>): SlotStage {
  return (message['params'] as { result: SlotStage }).result;
}

describe('confirming with the client\'s own means', () => {
  test.each(
    ['processed', 'confirmed', 'finalized'] as const,
  )('returns once the transaction is %s', async (commitment) => {
    const connection = new Connection(rpc.url, { commitment, wsEndpoint: rpc.wsUrl });
    const { lastValidBlockHeight, blockhash } = chain.latestBlockhash('processed');
    const bytes = payment(2_000_000);
    const signature = await connection.sendRawTransaction(bytes, { preflightCommitment: 'processed' });
    const ticking = setInterval(() => chain.advanceSlots(1), 5);
    try {
      const { value } = await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
      expect(value.err).toBeNull();
      expect(chain.slotAt(commitment)).toBeGreaterThanOrEqual(chain.status(signature)!.slot);
    } finally {
      clearInterval(ticking);
    }
  });

  test('finds the websocket where clients expect it: one port on', async () => {
    expect(Number(new URL(rpc.wsUrl).port)).toBe(Number(new URL(rpc.url).port) + 1);
    const connection = new Connection(rpc.url, 'confirmed');
    const signature = await connection.requestAirdrop(publicKey(friend.address), 5_000_000);
    chain.advanceSlots(1);
    const { value } = await connection.confirmTransaction({ signature, ...chain.latestBlockhash() }, 'confirmed');
    expect(value.err).toBeNull();
  });
});

describe('the websocket', () => {
  test('answers on the RPC\'s own port as well', async () => {
    const { ask } = await client(rpc.url.replace('http', 'ws'));
    expect(await ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 1, result: 'pong' });
  });

  test('tells of a signature once, when it reaches the commitment', async () => {
    const { ask, next } = await client();
    const bytes = payment(2_000_000);
    const { signature } = landed(chain.land(bytes));
    const { result: subscription } = await ask({
      jsonrpc: '2.0', id: 'a', method: 'signatureSubscribe', params: [signature, { commitment: 'confirmed' }],
    });
    chain.advanceSlots(1);
    expect(await next()).toMatchObject({
      method: 'signatureNotification',
      params: { subscription, result: { context: { slot: chain.slot - 1 }, value: { err: null } } },
    });
    chain.advanceSlots(1);
    expect(await ask({ jsonrpc: '2.0', id: 'b', method: 'signatureUnsubscribe', params: [subscription] }))
      .toMatchObject({ id: 'b', error: { code: -32602 } });
  });

  test('tells of a signature that got there before the subscription', async () => {
    const { signature } = landed(chain.land(payment(10 ** 13)));
    const { ask, next } = await client();
    await ask({
      jsonrpc: '2.0', id: 1, method: 'signatureSubscribe', params: [signature, { commitment: 'processed' }],
    });
    expect(await next())
      .toMatchObject({ params: { result: { value: { err: { InstructionError: [0, { Custom: 1 }] } } } } });
  });

  test('tells of an account whenever it changed at the commitment, and no more after unsubscribing', async () => {
    const { ask, next } = await client();
    const params = [friend.address, { commitment: 'confirmed', encoding: 'base64' }];
    const { result: subscription } = await ask({ jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params });
    landed(chain.land(payment(2_000_000)));
    chain.advanceSlots(1);
    expect(await next()).toMatchObject({
      method: 'accountNotification', params: { subscription, result: { value: { lamports: 2_000_000 } } },
    });
    expect(await ask({ jsonrpc: '2.0', id: 2, method: 'accountUnsubscribe', params: [subscription] }))
      .toEqual({ jsonrpc: '2.0', id: 2, result: true });
    landed(chain.land(payment(2_000_000)));
    chain.advanceSlots(1);
    expect(await ask({ jsonrpc: '2.0', id: 3, method: 'ping' })).toMatchObject({ id: 3 });
  });

  test('outlives an account that grows beyond what base58 may carry', async () => {
    const { ask, next } = await client();
    const account = associatedTokenAddress(friend.address, MINTS.usd, TOKEN_PROGRAM);
    await ask({
      jsonrpc: '2.0', id: 1, method: 'accountSubscribe',
      params: [account, { commitment: 'processed', encoding: 'base58' }],
    });
    chain.fundToken({ owner: friend.address, mint: MINTS.usd, amount: 5n });
    chain.advanceSlots(1);
    expect(await next()).toMatchObject({
      params: { result: { value: { data: ['error: data too large for bs58 encoding', 'base58'], space: 165 } } },
    });
    expect(await ask({ jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ result: 'pong' });
  });

  test('tells of slots', async () => {
    const { ask, next } = await client();
    await ask({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe' });
    chain.advanceSlots(1);
    expect(await next())
      .toMatchObject({ method: 'slotNotification', params: { result: { slot: chain.slot, root: chain.slot - 32 } } });
  });

  test('tells first that it has the transaction, and then its outcome, where a client asks for both', async () => {
    const { ask, next } = await client();
    const bytes = payment(2_000_007);
    const params = [bs58.encode(bytes.subarray(1, 65)), { commitment: 'confirmed', enableReceivedNotification: true }];
    const { result: subscription } = await ask({ jsonrpc: '2.0', id: 1, method: 'signatureSubscribe', params });
    landed(chain.land(bytes));
    expect(await next()).toMatchObject({
      method: 'signatureNotification', params: { subscription, result: { value: 'receivedSignature' } },
    });
    chain.advanceSlots(1);
    expect(await next()).toMatchObject({ params: { subscription, result: { value: { err: null } } } });
    expect(await ask({ jsonrpc: '2.0', id: 2, method: 'signatureUnsubscribe', params: [subscription] }))
      .toMatchObject({ error: { code: -32602 } });
    await ask({ jsonrpc: '2.0', id: 3, method: 'signatureSubscribe', params });
    expect(await next()).toMatchObject({ params: { result: { value: 'receivedSignature' } } });
    expect(await next()).toMatchObject({ params: { result: { value: { err: null } } } });
  });

  test('tells what is due at once only when the client has read the number of its subscription', async () => {
    const { signature } = landed(chain.land(payment(2_000_003)));
    const { ask, next } = await client(rpc.wsUrl, { autoPong: false });
    const pinged = new Promise<Buffer>((resolve) => { sockets[0]!.once('ping', resolve); });
    await ask({
      jsonrpc: '2.0', id: 1, method: 'signatureSubscribe', params: [signature, { commitment: 'processed' }],
    });
    const number = await pinged;
    expect(await ask({ jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ id: 2 });
    sockets[0]!.pong(number);
    expect(await next()).toMatchObject({ method: 'signatureNotification' });
  });

  test('tells of the stages of each slot, its transactions with them', async () => {
    const { ask, next } = await client();
    const { result: subscription } = await ask({ jsonrpc: '2.0', id: 1, method: 'slotsUpdatesSubscribe' });
    const told: SlotStage[] = [];
    const stagesOf = (slot: number): string[] => told.filter((update) => update.slot === slot).map(({ type }) => type);
    while (chain.blocksBetween(chain.slot, chain.slot).length === 0 || told.length === 0) {
      chain.advanceSlots(1);
      told.push(stageIn(await next()));
    }
    const { slot } = chain;
    landed(chain.land(payment(2_000_000)));
    landed(chain.land(payment(10 ** 13)));
    chain.advanceSlots(33);
    while (!stagesOf(slot).includes('root')) told.push(stageIn(await next()));
    expect(stagesOf(slot))
      .toEqual(['firstShredReceived', 'createdBank', 'completed', 'frozen', 'optimisticConfirmation', 'root']);
    const [, created, , frozen] = told.filter((update) => update.slot === slot);
    expect(created!.parent).toBe(chain.blocksBetween(slot, slot)[0]!.parentSlot);
    expect(frozen!.stats).toEqual({
      numTransactionEntries: 2, numSuccessfulTransactions: 1, numFailedTransactions: 1, maxTransactionsPerEntry: 1,
    });
    let answered = await ask({ jsonrpc: '2.0', id: 2, method: 'slotsUpdatesUnsubscribe', params: [subscription] });
    while (answered['id'] !== 2) answered = await next();
    expect(answered).toEqual({ jsonrpc: '2.0', id: 2, result: true });
  });

  test.each([
    ['no JSON', '{nonsense', -32700],
    ['no call', '[]', -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'weatherSubscribe', params: [] }, -32601],
    ['what nodes offer only with a flag', { jsonrpc: '2.0', id: 1, method: 'blockSubscribe', params: ['all'] }, -32601],
    ['votes, for which nodes need a flag too', { jsonrpc: '2.0', id: 1, method: 'voteSubscribe' }, -32601],
    ['no signature', { jsonrpc: '2.0', id: 1, method: 'signatureSubscribe', params: ['abc'] }, -32602],
    [
      'a commitment that is none',
      { jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params: [friend.address, { commitment: 'sure' }] }, -32602,
    ],
    ['a subscription that is none', { jsonrpc: '2.0', id: 1, method: 'slotUnsubscribe', params: [99] }, -32602],
    ['a subscription in a list', { jsonrpc: '2.0', id: 1, method: 'slotUnsubscribe', params: [[99]] }, -32602],
    [
      'a subscription beyond 2^53',
      '{"jsonrpc":"2.0","id":1,"method":"slotUnsubscribe","params":[18446744073709551615]}', -32602,
    ],
  ])('answers %s with an error and stays', async (_, message, code) => {
    const { ask } = await client();
    expect(await ask(message)).toMatchObject({ error: { code } });
    expect(await ask({ jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ result: 'pong' });
  });

  test('ends a client whose message is too long, and only that one', async () => {
    const [greedy, modest] = [await client(), await client()];
    const closed = new Promise((resolve) => sockets[0]!.once('close', resolve));
    sockets[0]!.on('error', () => undefined);
    void greedy.ask('x'.repeat(100_000));
    // The code that says: too large.
    expect(await closed).toBe(1009);
    expect(await modest.ask({ jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ result: 'pong' });
  });
});
