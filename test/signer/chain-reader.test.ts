import type { ServerResponse } from 'node:http';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createChainReader, type ChainReader } from '../../src/signer/chain/chain-reader.ts';
import { createJsonRpc, createJsonRpcOf, type JsonRpc } from '../../src/signer/chain/json-rpc.ts';
import { createAddresses } from '../../src/solana/addresses.ts';
import { tablesOf } from '../../src/signer/policy-check.ts';
import { readTransaction } from '../../src/solana/transaction.ts';
import { SOL, startTestSandbox, USDC, type TestSandbox, type TestWallet } from '../sandbox/service/sandbox-client.ts';
import { listen, type Received } from '../service/loopback.ts';

const addresses = createAddresses();
/** Every account that a transaction could change, and more. */
const accountsOf = (bytes: Uint8Array, held: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  [...readTransaction(bytes).accountKeys.map(addresses.addressOf), ...[...held.values()].flat()];
const WALLET = 'SysvarC1ock11111111111111111111111111111111';
const SYSTEM = '11111111111111111111111111111111';
const TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';

let sandbox: TestSandbox;
let taker: TestWallet;
let tables: Record<string, string[]>;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
  taker = await sandbox.newWallet({ [SOL]: '90000000000', [USDC]: '5000000000' });
  tables = (
    await sandbox.get('/swap/v2/build', { inputMint: SOL, outputMint: USDC, amount: '1000000', taker: taker.address })
  ).body.addressesByLookupTableAddress;
});
afterAll(() => sandbox.close());

/** A reader of the sandbox that notes what it asks; `through` may change calls and answers. */
function reading(
  through: (method: string, call: () => ReturnType<JsonRpc['call']>, params: readonly unknown[]) =>
  ReturnType<JsonRpc['call']> = (_method, call) => call(),
): { readonly reader: ReturnType<typeof createChainReader>; readonly asked: string[] } {
  const rpc = createJsonRpc(sandbox.addresses.rpc_url);
  const asked: string[] = [];
  const noting: JsonRpc = {
    call: (method, params) => {
      asked.push(method);
      return through(method, () => rpc.call(method, params), params);
    },
    close: () => { rpc.close(); },
  };
  const reader = createChainReader(noting);
  onTestFinished(() => { reader.close(); });
  return { reader, asked };
}

/** A reader of a node that says what a test wants. */
async function hostile(
  respond: (request: Received, response: ServerResponse, id: number) => void, options = {},
): Promise<ReturnType<typeof createChainReader>> {
  const server = await listen((request, response) => {
    respond(request, response, (JSON.parse(request.body) as { id: number }).id);
  });
  const reader = createChainReader(createJsonRpc(`${server.baseUrl}/?api-key=canary`, options));
  onTestFinished(() => { reader.close(); });
  return reader;
}

const answering = (result: unknown) =>
  hostile((_request, response, id) => { response.end(JSON.stringify({ jsonrpc: '2.0', id, result })); });
const account = (owner: string, data: Uint8Array, lamports: unknown = 1): unknown =>
  ({ lamports, owner, data: [Buffer.from(data).toString('base64'), 'base64'], executable: false, rentEpoch: 0 });
const atSlot = (value: unknown): unknown => ({ context: { slot: 5 }, value });

function table(
  { places, deactivatedAt = 2n ** 64n - 1n, state = 1 }: { places: number; deactivatedAt?: bigint; state?: number },
): Buffer {
  const data = Buffer.alloc(56 + 32 * places, 7);
  data.writeUInt32LE(state, 0);
  data.writeBigUInt64LE(deactivatedAt, 4);
  return data;
}

function asking(reader: ChainReader): Promise<unknown>[] {
  return [
    reader.lookupTables(new Map([[WALLET, 1]])), reader.decimalsOf(WALLET),
    reader.simulate(Buffer.alloc(9), { wallet: WALLET, writable: [] }),
  ];
}

describe('issue 15: what a wallet signed since a time', () => {
  test('counts its own transactions of that time, failed ones included, and those of others not', async () => {
    const { reader, asked } = reading();
    const wallet = await sandbox.newWallet({ [SOL]: '90000000000', [USDC]: '5000000000' });
    // Funding names the wallet, but others sign it.
    expect(await reader.signedSince(wallet.address, 0)).toBe(0);
    const order = await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '1000000', taker: wallet.address });
    expect((await sandbox.execute(order, wallet)).body.status).toMatch(/success/i);
    await sandbox.passSlots(40);
    expect([
      await reader.signedSince(wallet.address, 0), await reader.signedSince(wallet.address, 1e14),
    ]).toEqual([1, 0]);
    expect(new Set(asked)).toEqual(new Set(['getSignaturesForAddress', 'getTransaction']));
  });

  test.each([
    ['a node that answers with something else', { not: 'a list' }], ['a node that knows no signature', [{ slot: 5 }]],
  ])('is never taken for nothing: %s', async (_what, result) => {
    await expect((await answering(result)).signedSince(WALLET, 0)).rejects.toMatchObject({
      code: 'CHAIN_RESPONSE_INVALID',
    });
  });
});

/** A transaction of the wallet. */
const LISTED = '5'.repeat(87);
const refusal = (version: number): object => ({ error: {
  code: -32_015, message: `Transaction version (${version}) is not supported by the requesting client.`,
} });
const INVALID_PARAMS = { error: { code: -32_602, message: 'Invalid params' } };
const versionOf = (version: unknown, signer = WALLET): object => ({ result: { version, transaction: { message: {
  accountKeys: [signer, WALLET, SYSTEM], header: { numRequiredSignatures: 1 }, instructions: [],
} } } });
type Stated = { readonly method: string; readonly version: number | undefined };

const versioned = (say: (asked: Stated) => object) => hostile((request, response, id) => {
  const { method, params } = JSON.parse(request.body) as {
    method: string; params: readonly [unknown, { maxSupportedTransactionVersion?: number }];
  };
  const entry = { signature: LISTED, slot: 7, blockTime: null };
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'getSignaturesForAddress' ? { result: [entry] }
    : say({ method, version: params[1].maxSupportedTransactionVersion })) }));
});

describe('issue 31: a transaction that the signer’s node does not give as any other one', () => {
  test.each<readonly [what: string, counted: number, say: (asked: Stated) => object]>([
    ['version 1 of a stranger', 0, () => versionOf(1, SYSTEM)],
    ['version 1 of the wallet', 1, () => versionOf(1)],
    ['version 1 of the wallet with a configuration', 1, () => {
      const told = versionOf(1) as { result: { transaction: { message: object } } };
      Object.assign(told.result.transaction.message, { transactionConfig: { priorityFeeLamports: 1 } });
      return told;
    }],
    ['a later version, refused', 0, () => refusal(2)], ['a later version, given', 0, () => versionOf(127)],
    ['version 1, refused by a node that does not know it', 1, () => refusal(1)],
    ['a version without a number', 1, () => ({ error: { code: -32_015, message: 'no' } })],
    ['a hostile version', 1, () => versionOf('<script>')], ['a version that is none', 1, () => versionOf(128)],
    ['no form of a transaction', 1, () => ({ result: [] })],
    ['more signers than accounts', 1, () => {
      const told = versionOf(0, SYSTEM) as { result: { transaction: { message: { header: object } } } };
      told.result.transaction.message.header = { numRequiredSignatures: 9 };
      return told;
    }],
    ['a parameter that is not accepted, asked for version 0 then', 0, ({ version }) =>
      (version === 1 ? INVALID_PARAMS : versionOf(0, SYSTEM))],
    ['no parameter that is accepted', 1, () => INVALID_PARAMS],
    ['nothing, and it stands in its block', 1, ({ method }) =>
      ({ result: method === 'getBlock' ? { signatures: [LISTED] } : null })],
    ['nothing, and no block', 1, ({ method }) =>
      (method === 'getBlock' ? { error: { code: -32_601, message: 'no' } } : { result: null })],
    ['nothing, and its block does not hold it', 0, ({ method }) =>
      ({ result: method === 'getBlock' ? { signatures: [] } : null })],
  ])('counts as the wallet’s own unless that is excluded: %s, %i', async (_what, counted, say) => {
    expect(await (await versioned(say)).signedSince(WALLET, 0)).toBe(counted);
  });

  test('is read of the next node where the first does not know its version', async () => {
    for (const fault of [refusal(1), INVALID_PARAMS]) {
      const urls = await Promise.all([fault, versionOf(1, SYSTEM)].map(async (said) => {
        const { baseUrl } = await listen((request, response) => {
          const { id, method } = JSON.parse(request.body) as { id: number; method: string };
          const list = { result: [{ signature: LISTED, slot: 7, blockTime: null }] };
          response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'getTransaction' ? said : list) }));
        });
        return baseUrl;
      }));
      const reader = createChainReader(createJsonRpcOf(urls));
      onTestFinished(() => { reader.close(); });
      expect(await reader.signedSince(WALLET, 0)).toBe(0);
    }
  });
});

describe('the signer’s reader of lookup tables', () => {
  test('reads each table once, and again only for indexes beyond its known end', async () => {
    const { reader, asked } = reading();
    const [[address, held]] = Object.entries(tables) as [[string, string[]]];
    const needed = new Map([[address, held.length - 1]]);
    expect((await reader.lookupTables(needed)).get(address)).toEqual(held);
    expect((await reader.lookupTables(needed)).get(address)).toEqual(held);
    expect((await reader.lookupTables(new Map([[address, 0]]))).get(address)).toEqual(held);
    expect(asked).toEqual(['getMultipleAccounts']);
    expect((await reader.lookupTables(new Map([[address, held.length]]))).get(address)).toEqual(held);
    expect(asked).toHaveLength(2);
  });

  test('leaves out other accounts, tables being closed and missing ones', async () => {
    const bad = [
      null, account(SYSTEM, table({ places: 2 })), account(TABLE_PROGRAM, table({ places: 2, deactivatedAt: 12n })),
      account(TABLE_PROGRAM, table({ places: 2, state: 0 })), account(TABLE_PROGRAM, table({ places: 257 })),
      account(TABLE_PROGRAM, Buffer.alloc(10)), account(TABLE_PROGRAM, table({ places: 2 }).subarray(0, 100)),
    ];
    const asked = new Map(bad.map((_, index) => [bs58.encode(Buffer.alloc(32, index + 1)), 0]));
    expect(await (await answering(atSlot(bad))).lookupTables(asked)).toEqual(new Map());
    const good = await (await answering(atSlot([account(TABLE_PROGRAM, table({ places: 256 }))])))
      .lookupTables(new Map([[WALLET, 255]]));
    expect(good.get(WALLET)).toHaveLength(256);
  });
});

describe('the signer’s reader of mints', () => {
  test('reads the decimals of each mint once', async () => {
    const { reader, asked } = reading();
    expect([
      await reader.decimalsOf(USDC), await reader.decimalsOf(USDC), await reader.decimalsOf(sandbox.mint('PEARL')),
    ]).toEqual([6, 6, expect.any(Number)]);
    expect(asked).toHaveLength(2);
  });

  test('returns no decimals for other accounts', async () => {
    const { reader } = reading();
    expect([await reader.decimalsOf(taker.address), await reader.decimalsOf(WALLET)]).toEqual([undefined, undefined]);
  });
});

describe('the signer’s reader of simulations', () => {
  test('returns an order’s changes to the wallet, new accounts included', async () => {
    const { reader, asked } = reading();
    const fresh = await sandbox.newWallet({ [SOL]: '90000000000' });
    for (const wallet of [taker, fresh]) {
      const order = (await sandbox.order(
        { inputMint: SOL, outputMint: USDC, amount: '2000000000', taker: wallet.address, excludeRouters: 'rfqz' },
      )).body;
      const bytes = Buffer.from(order.transaction, 'base64');
      const held = await tablesOf(bytes, { policy: { addresses }, chain: reader });
      const changes = await reader.simulate(bytes, { wallet: wallet.address, writable: accountsOf(bytes, held) });
      expect(changes.wallet.before - changes.wallet.after).toBeGreaterThanOrEqual(2_000_000_000n);
      expect(changes.wallet.programAfter).toBe(SYSTEM);
      const output = changes.tokenAccounts.find(({ after }) => after?.mint === USDC && after.owner === wallet.address)!;
      expect(output.after!.amount - (output.before?.amount ?? 0n)).toBe(BigInt(order.outAmount));
      if (wallet === fresh) expect(output.before).toBeUndefined();
    }
    expect(asked.filter((method) => method === 'simulateTransaction')).toHaveLength(2);
  });

  test('throws for a transaction that would fail', async () => {
    const { reader } = reading();
    const poor = await sandbox.newWallet({ [SOL]: '5000000000' });
    const order = (await sandbox.order(
      { inputMint: SOL, outputMint: USDC, amount: '1000000000', taker: poor.address, excludeRouters: 'rfqz' },
    )).body;
    const bytes = Buffer.from(order.transaction, 'base64');
    await sandbox.post('/sandbox/fund', { owner: poor.address, mint: SOL, amount: '1' });
    const drained = Buffer.from(bytes);
    // Another amount in the swap than what was wrapped before it.
    const held = await tablesOf(bytes, { policy: { addresses }, chain: reader });
    const at = drained.indexOf(Buffer.from('00ca9a3b00000000', 'hex'));
    drained.writeBigUInt64LE(900_000_000_000n, at);
    await expect(reader.simulate(drained, { wallet: poor.address, writable: accountsOf(bytes, held) }))
      .rejects.toMatchObject({ code: 'CHAIN_SIMULATION_FAILED' });
  });

  test('simulates again where another transaction has changed the wallet in between', async () => {
    const { options, bytes } = await purchaseOfSol();
    let gifts = 1;
    const { reader, asked } = reading(async (method, call) => {
      if (method === 'simulateTransaction' && gifts-- > 0)
        await sandbox.post('/sandbox/fund', { owner: options.wallet, mint: SOL, amount: '3000000000' });
      return call();
    });
    const quiet = await reading().reader.simulate(bytes, options);
    const { wallet } = await reader.simulate(bytes, options);
    expect(wallet.after - wallet.before).toBe(quiet.wallet.after - quiet.wallet.before);
    expect(asked.filter((method) => method === 'simulateTransaction')).toHaveLength(2);

    gifts = 3;
    await expect(reader.simulate(bytes, options)).rejects.toMatchObject({
      code: 'CHAIN_RPC_ERROR',
      message: 'other transactions changed the wallet during each of 3 simulations',
    });
  });

  test('simulates once where only accounts of others change in between', async () => {
    const { options, bytes } = await purchaseOfSol();
    const ofWallet = bs58.decode(options.wallet);
    let reads = 0;
    const { reader, asked } = reading(async (method, call, params) => {
      const answer = await call();
      if (method !== 'getMultipleAccounts' || ++reads < 2) return answer;
      const { value } = answer as unknown as { value: ({ lamports: number; data: [string, string] } | null)[] };
      const [addressesAsked] = params as [string[]];
      for (const [index, held] of value.entries()) {
        const isOwn = held === null || addressesAsked[index] === options.wallet
          || Buffer.from(held.data[0], 'base64').subarray(32, 64).equals(ofWallet);
        if (!isOwn) held.lamports += 1;
      }
      return answer;
    });
    await reader.simulate(bytes, options);
    expect(asked.filter((method) => method === 'simulateTransaction')).toHaveLength(1);
  });
});

/** A new wallet's order for SOL, and what is asked of its simulation. */
async function purchaseOfSol(): Promise<{
  readonly bytes: Uint8Array; readonly options: Parameters<ChainReader['simulate']>[1];
}> {
  const { address } = await sandbox.newWallet({ [SOL]: '5000000000', [USDC]: '50000000' });
  const order = (await sandbox.order(
    { inputMint: USDC, outputMint: SOL, amount: '2000000', taker: address, excludeRouters: 'rfqz' },
  )).body;
  const bytes = Buffer.from(order.transaction, 'base64');
  const held = await tablesOf(bytes, { policy: { addresses }, chain: reading().reader });
  return { bytes, options: { wallet: address, writable: accountsOf(bytes, held) } };
}

describe('the signer’s reader on a hostile node', () => {
  test('refuses every answer without the form that nodes use', async () => {
    const nonsense: readonly unknown[] = [
      null, 7, 'text', [], {}, { value: [] }, { context: {}, value: [null] }, { context: { slot: -1 }, value: [null] },
      { context: { slot: 1.5 }, value: [null] }, atSlot(null), atSlot([]), atSlot([null, null]), atSlot([7]),
      atSlot([{}]), atSlot([account('me', Buffer.alloc(1))]), atSlot([account(SYSTEM, Buffer.alloc(1), '1')]),
      atSlot([account(SYSTEM, Buffer.alloc(1), -1)]),
      atSlot([{ lamports: 1, owner: SYSTEM, data: 'AA==' }]),
      atSlot([{ lamports: 1, owner: SYSTEM, data: ['AA==', 'base58'] }]),
      atSlot([{ lamports: 1, owner: SYSTEM, data: ['A?=', 'base64'] }]),
      atSlot([{ lamports: 1e30, owner: SYSTEM, data: ['', 'base64'] }]),
    ];
    for (const result of nonsense) {
      for (const answer of asking(await answering(result)))
        await expect(answer, JSON.stringify(result)).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    }
  });

  test('refuses late, oversized, redirected and mismatched answers', async () => {
    const cases: readonly (readonly [code: string, respond: Parameters<typeof hostile>[0]])[] = [
      ['CHAIN_UNREACHABLE', () => undefined],
      ['CHAIN_UNREACHABLE', (_request, response) => { response.write('{"jsonrpc":'); }],
      ['CHAIN_UNREACHABLE', (_request, response) => { response.destroy(); }],
      ['CHAIN_RESPONSE_INVALID', (_request, response) => { response.end(`"${'x'.repeat(20_000)}"`); }],
      ['CHAIN_RESPONSE_INVALID', (_request, response) => { response.end('<html>'); }],
      [
        'CHAIN_RESPONSE_INVALID',
        (_request, response, id) => { response.end(JSON.stringify({ id: id + 1, result: atSlot([null]) })); },
      ],
      [
        'CHAIN_RESPONSE_INVALID',
        (_request, response, id) => { response.end(JSON.stringify([{ id, result: atSlot([null]) }])); },
      ],
      ['CHAIN_RESPONSE_INVALID', (_request, response, id) => { response.end(JSON.stringify({ id })); }],
      ['CHAIN_RPC_ERROR', (_request, response, id) => {
        response.end(JSON.stringify({ id, error: { code: -32_000, message: 'go\u001b[31m away' } }));
      }],
      [
        'CHAIN_RPC_ERROR',
        (_request, response) => { response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(); },
      ],
      ['CHAIN_RPC_ERROR', (_request, response) => { response.writeHead(500).end('{}'); }],
    ];
    for (const [code, respond] of cases) {
      const reader = await hostile(respond, { timeoutMs: 150, maxResponseBytes: 10_000 });
      const faults = await Promise.all(asking(reader).map((answer) =>
        answer.then(() => undefined, (error: unknown) => error)));
      for (const fault of faults) {
        expect(fault).toMatchObject({ code });
        // Neither the provider's key nor what could forge a terminal.
        expect((fault as Error).message).not.toContain('canary');
        expect((fault as Error).message).not.toContain('\u001b');
      }
    }
  });

  test('never repeats the key in the node’s address', async () => {
    const key = 'ZodAbCdZWUe7cq9Lz8TFTRPtqFvbbQnsJntJf';
    const server = await listen((request, response) => { response.end(JSON.stringify({
      jsonrpc: '2.0', id: (JSON.parse(request.body) as { id: number }).id,
      error: { code: -32_000, message: `no key begins with ${key.slice(0, 20)}` },
    })); });
    const reader = createChainReader(createJsonRpc(`${server.baseUrl}/v2/${key}`));
    onTestFinished(() => { reader.close(); });
    await expect(reader.decimalsOf(WALLET)).rejects.toMatchObject({
      code: 'CHAIN_RPC_ERROR', message: 'getMultipleAccounts: the node refuses (-32000): no key begins with [RPC key]',
    });
  });

  test('reports an unreachable node as CHAIN_UNREACHABLE', async () => {
    const reader = createChainReader(createJsonRpc('http://127.0.0.1:1/?api-key=canary'));
    onTestFinished(() => { reader.close(); });
    const fault = await reader.decimalsOf(WALLET).then(() => undefined, (error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'CHAIN_UNREACHABLE',
      message: expect.stringMatching(/^getMultipleAccounts: no answer of the node \(ECONNREFUSED\)$/) as string,
    });
  });
});

const node = async (respond: (response: ServerResponse, id: number) => void): Promise<{
  readonly url: string; readonly asked: () => number;
}> => {
  let asked = 0;
  const server = await listen((request, response) => {
    asked += 1;
    respond(response, (JSON.parse(request.body) as { id: number }).id);
  });
  return { url: server.baseUrl, asked: () => asked };
};
const says = (word: object) => (response: ServerResponse, id: number): void => {
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...word }));
};

describe('a signer with several nodes', () => {
  test('goes to the next node where one does not answer, and stays with the one that does', async () => {
    const dead = await node((response) => { response.writeHead(503).end(); });
    const live = await node(says({ result: 5 }));
    const rpc = createJsonRpcOf(['http://127.0.0.1:1', dead.url, live.url]);
    onTestFinished(() => { rpc.close(); });
    expect([await rpc.call('getSlot', []), await rpc.call('getSlot', [])]).toEqual([5, 5]);
    expect([dead.asked(), live.asked()]).toEqual([1, 2]);
  });

  test('does not ask another node for what one refuses', async () => {
    const refusing = await node(says({ error: { code: -32_602, message: 'no' } }));
    const other = await node(says({ result: 5 }));
    const rpc = createJsonRpcOf([refusing.url, other.url]);
    onTestFinished(() => { rpc.close(); });
    await expect(rpc.call('getSlot', [])).rejects.toMatchObject({ code: 'CHAIN_RPC_ERROR' });
    expect(other.asked()).toBe(0);
  });
});
