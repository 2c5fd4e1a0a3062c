import { ACCOUNT_SIZE, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Connection, Keypair, SystemProgram } from '@solana/web3.js';
import type { KeyedAccountInfo, Logs, ParsedInstruction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { parseInstruction } from '../../../src/sandbox/rpc/parsed-instructions.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, MINTS, signedTransaction, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey } from '../chain/web3.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;
const friend = walletOf('friend');
const SYSTEM = SystemProgram.programId.toBase58();

beforeAll(async () => {
  ({ chain, user } = createMarketFixture());
  chain.advanceSlots(400);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'confirmed', wsEndpoint: rpc.wsUrl });
});

afterAll(async () => {
  await rpc.close();
});

function pay(lamports: number): { signature: string; slot: number } {
  const transfer =
    SystemProgram.transfer({ fromPubkey: publicKey(user.address), toPubkey: publicKey(friend.address), lamports });
  return landed(chain.land(signedTransaction({ chain, payer: user, instructions: [transfer] })));
}

async function call(
  method: string, ...params: unknown[]
): Promise<{ result?: unknown; error?: { code: number; message: string } }> {
  const response =
    await fetch(rpc.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  return (await response.json()) as { result?: unknown };
}

/** Waits for what notifications bring, while slots go on. */
async function ticking(until: () => boolean): Promise<void> {
  for (let n = 0; n < 400 && !until(); n++) {
    chain.advanceSlots(1);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
  expect(until()).toBe(true);
}

/** Requests of the client's socket are answered in order, so an answer to one means that those before it are there. */
async function subscribed(id: number): Promise<number> {
  await new Promise((resolve) => { setTimeout(resolve, 80); });
  return id;
}

describe('issue 13.30: subscriptions of the client library', () => {
  test('to logs bring each transaction once, at the commitment, and are made once', async () => {
    const [all, mine, others]: Logs[][] = [[], [], []];
    const ids = [
      connection.onLogs('all', (logs) => all!.push(logs), 'confirmed'),
      connection.onLogs(publicKey(friend.address), (logs) => mine!.push(logs), 'processed'),
      connection.onLogs(publicKey(walletOf('bystander').address), (logs) => others!.push(logs), 'processed'),
    ];
    await subscribed(0);
    const signatures = [pay(2_000_000), pay(2_000_001), pay(2_000_002)].map(({ signature }) => signature);
    await ticking(() => all!.length >= 3 && mine!.length >= 3);
    expect(all!.map(({ signature }) => signature)).toEqual(signatures);
    expect(mine!.map(({ signature }) => signature)).toEqual(signatures);
    expect(others).toEqual([]);
    expect(all![0])
      .toMatchObject({ err: null, logs: expect.arrayContaining([expect.stringContaining('success')]) as string[] });
    await Promise.all(ids.map((id) => connection.removeOnLogsListener(id)));
    pay(2_000_003);
    chain.advanceSlots(2);
    await subscribed(0);
    expect(all).toHaveLength(3);
  });

  test('to a program bring the accounts that changed, through its filters', async () => {
    const seen: KeyedAccountInfo[] = [];
    const filters = [{ dataSize: ACCOUNT_SIZE }, { memcmp: { offset: 32, bytes: friend.address } }];
    const id = connection.onProgramAccountChange(
      TOKEN_PROGRAM_ID, (info) => seen.push(info), { commitment: 'confirmed', filters },
    );
    await subscribed(id);
    chain.fundToken({ owner: user.address, mint: MINTS.usd, amount: 5n });
    const account = chain.fundToken({ owner: friend.address, mint: MINTS.usd, amount: 7n });
    await ticking(() => seen.length > 0);
    expect(seen).toHaveLength(1);
    expect(seen[0]!.accountId.toBase58()).toBe(account);
    expect(Buffer.from(seen[0]!.accountInfo.data).readBigUInt64LE(64)).toBe(7n);
    await connection.removeProgramAccountChangeListener(id);
  });

  test('to roots bring each finalized slot', async () => {
    const roots: number[] = [];
    const id = connection.onRootChange((root) => roots.push(root));
    await subscribed(id);
    await ticking(() => roots.length >= 3);
    expect(roots).toEqual([0, 1, 2].map((n) => roots[0]! + n));
    expect(roots.at(-1)).toBeLessThanOrEqual(chain.slotAt('finalized'));
    await connection.removeRootChangeListener(id);
  });
});

describe('issue 13.30: blocks', () => {
  test('hold their transactions, and know the block before', async () => {
    chain.advanceSlots(1);
    const { signature, slot } = pay(3_000_000);
    chain.advanceSlots(1);
    const block = await connection.getBlock(slot, { maxSupportedTransactionVersion: 0 });
    expect(block).toMatchObject({ blockTime: chain.transaction(signature)!.unixSeconds, rewards: [] });
    expect(block!.transactions.map(({ transaction }) => transaction.signatures[0])).toContain(signature);
    const parent =
      await connection.getBlock(block!.parentSlot, { maxSupportedTransactionVersion: 0, transactionDetails: 'none' });
    expect(parent!.blockhash).toBe(block!.previousBlockhash);
    expect(await connection.getBlockSignatures(slot))
      .toMatchObject({ signatures: expect.arrayContaining([signature]) as string[] });
    const parsed = await connection.getParsedBlock(slot, { maxSupportedTransactionVersion: 0 });
    expect(parsed.transactions[0])
      .toMatchObject({ transaction: { message: { instructions: [{ program: 'system' }] } } });
    expect(await connection.getBlockTime(slot)).toBe(block!.blockTime);
    const accounts = await call('getBlock', slot, {
      commitment: 'confirmed', transactionDetails: 'accounts', maxSupportedTransactionVersion: 0,
    });
    expect(accounts).toMatchObject({
      result: { transactions: [{ transaction: { accountKeys: [{ pubkey: user.address, signer: true }, {}, {}] } }] },
    });
    expect((await call('getBlock', slot, { commitment: 'confirmed' })).error).toMatchObject({ code: -32015 });
  });

  test('are listed without the slots that were skipped', async () => {
    const first = await connection.getFirstAvailableBlock();
    const newest = chain.slotAt('confirmed');
    const slots = await connection.getBlocks(first, newest);
    expect(slots[0]).toBe(first);
    expect(slots.length).toBeLessThan(newest - first + 1);
    const skipped = Array.from({ length: newest - first }, (_, n) => first + n).find((slot) => !slots.includes(slot))!;
    expect((await call('getBlock', skipped, { commitment: 'confirmed' })).error).toMatchObject({ code: -32007 });
    expect((await call('getBlock', chain.slot + 5, { commitment: 'confirmed' })).error).toMatchObject({ code: -32004 });
    expect((await call('getBlock', first - 1_000)).error).toMatchObject({ code: -32001 });
    expect((await call('getBlock', first, { commitment: 'processed' })).error).toMatchObject({ code: -32602 });
  });
});

describe('issue 13.30: the chain as a whole', () => {
  test('counts its transactions, and samples whole minutes of them', async () => {
    const before = await connection.getTransactionCount('processed');
    pay(2_100_000);
    expect(await connection.getTransactionCount('processed')).toBe(before + 1);
    expect(await connection.getTransactionCount('finalized')).toBeLessThanOrEqual(before);
    const [sample] = await connection.getRecentPerformanceSamples(1);
    expect(sample).toMatchObject({ samplePeriodSecs: 60 });
    expect(sample!.numSlots).toBeGreaterThan(120);
    expect(sample!.slot).toBeLessThanOrEqual(chain.slot);
  });

  test('tells supply, epochs, votes and its identity', async () => {
    const { value } = await connection.getSupply();
    expect(value.total).toBeGreaterThan(Number(chain.balance(user.address)));
    expect(await connection.getEpochSchedule()).toMatchObject({ slotsPerEpoch: 432_000, warmup: false });
    const { current, delinquent } = await connection.getVoteAccounts();
    const { identity } = (await call('getIdentity')).result as { identity: string };
    expect(current).toMatchObject([{ nodePubkey: identity, lastVote: chain.slotAt('confirmed') }]);
    expect(delinquent).toEqual([]);
    expect(publicKey(identity).toBase58()).toBe(identity);
  });

  test('tells who holds the most of a token', async () => {
    chain.fundToken({ owner: friend.address, mint: MINTS.usd, amount: 10n ** 15n });
    const { value } = await connection.getTokenLargestAccounts(publicKey(MINTS.usd), 'processed');
    const amounts = value.map(({ amount }) => BigInt(amount));
    expect(amounts).toEqual(amounts.toSorted((a, b) => (a > b ? -1 : 1)));
    expect(amounts[0]).toBeGreaterThanOrEqual(10n ** 15n);
    expect((await call('getTokenLargestAccounts', user.address, { commitment: 'processed' })).error?.message)
      .toBe('Invalid param: not a Token mint');
  });
});

describe('issue 13.30: parsed System instructions', () => {
  test('of a landed transaction have a type and their terms', async () => {
    const { signature } = pay(4_000_000);
    chain.advanceSlots(1);
    const told = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    const [instruction] = told!.transaction.message.instructions as ParsedInstruction[];
    expect(instruction).toMatchObject({
      program: 'system',
      parsed: { type: 'transfer', info: { source: user.address, destination: friend.address, lamports: 4_000_000 } },
    });
  });

  test('are read as the client library writes them', () => {
    const [from, to, base] = [user, friend, walletOf('base')].map(({ address }) => publicKey(address));
    const programId = Keypair.generate().publicKey;
    const instructions = [
      SystemProgram.createAccount({ fromPubkey: from!, newAccountPubkey: to!, lamports: 1, space: 165, programId }),
      SystemProgram.assign({ accountPubkey: from!, programId }),
      SystemProgram.createAccountWithSeed({
        fromPubkey: from!, newAccountPubkey: to!, basePubkey: base!, seed: 'seed', lamports: 2, space: 3, programId,
      }),
      SystemProgram.allocate({ accountPubkey: from!, space: 9 }),
      SystemProgram.transfer({
        fromPubkey: from!, toPubkey: to!, basePubkey: base!, seed: 's', programId, lamports: 5,
      }),
      SystemProgram.nonceAdvance({ noncePubkey: from!, authorizedPubkey: to! }),
    ];
    const read = instructions.map(({ keys, data }) =>
      parseInstruction(SYSTEM, keys.map(({ pubkey }) => pubkey.toBase58()), data)?.parsed);
    const owner = programId.toBase58();
    expect(read).toMatchObject([
      {
        type: 'createAccount',
        info: { source: user.address, newAccount: friend.address, lamports: 1, space: 165, owner },
      },
      { type: 'assign', info: { account: user.address, owner } },
      { type: 'createAccountWithSeed', info: { base: base!.toBase58(), seed: 'seed', lamports: 2, space: 3, owner } },
      { type: 'allocate', info: { account: user.address, space: 9 } },
      {
        type: 'transferWithSeed',
        info: { source: user.address, sourceBase: base!.toBase58(), lamports: 5, sourceSeed: 's', sourceOwner: owner },
      },
      { type: 'advanceNonce', info: { nonceAccount: user.address, nonceAuthority: friend.address } },
    ]);
    expect(parseInstruction(SYSTEM, [user.address, friend.address], Uint8Array.of(2, 0, 0, 0, 1))).toBeUndefined();
    expect(parseInstruction(SYSTEM, [], Uint8Array.of(99, 0, 0, 0))).toBeUndefined();
  });
});

describe('issue 13.30: HTTP beside JSON-RPC', () => {
  test('tells its health, and lets pages of other origins ask', async () => {
    const health = await fetch(`${rpc.url}/health`);
    expect([health.status, await health.text()]).toEqual([200, 'ok']);
    const preflight = await fetch(rpc.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.example', 'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,solana-client',
      },
    });
    expect(preflight.status).toBe(200);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      allow: 'OPTIONS, POST', 'access-control-allow-origin': '*', 'access-control-allow-methods': 'OPTIONS, POST',
      'access-control-allow-headers': 'content-type,solana-client',
    });
    const asked = await fetch(rpc.url, {
      method: 'POST', headers: { origin: 'https://page.example' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' }),
    });
    expect(asked.headers.get('access-control-allow-origin')).toBe('*');
    expect((await fetch(rpc.url, { method: 'PUT' })).status).toBe(405);
  });
});
