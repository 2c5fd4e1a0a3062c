import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChain, type Chain } from '../../src/chain/chain.ts';
import type { NodeEvent } from '../../src/chain/node-pool.ts';
import type { RpcTransport } from '../../src/chain/rpc-client.ts';
import { GannetError } from '../../src/core/errors.ts';
import { parseJson } from '../../src/core/json.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { SOL_MINT } from '../../src/market/token.ts';

// Nodes in virtual time: what they say of one chain, and how they say it, is set by each test.

const OWNER = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const SIGNATURE = '5'.repeat(88);
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const OTHER_GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const NODES = ['https://a.example/?api-key=the-key-of-the-first', 'https://b.example/?api-key=the-key-of-the-second'];
const BYTES = new Uint8Array([1, 2, 3]);

interface FakeNode {
  how: 'answers' | 'hangs' | 'fails' | 'refuses' | 'has too much to do';
  genesis: string;
  slotsBehind: number;
  /** Ignores `minContextSlot`. */
  isCareless: boolean;
  landed: 'not' | 'as a success' | 'as a failure';
  isValid: boolean;
  lamports: number;
  readonly methods: string[];
}

interface Asked { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

let clock: VirtualClock;
let chain: Chain;
let nodes: readonly FakeNode[];
let events: NodeEvent[];

beforeEach(() => {
  clock = new VirtualClock(1_800_000_000_000);
  nodes = NODES.map(() => ({
    how: 'answers', genesis: GENESIS, slotsBehind: 0, isCareless: false, landed: 'not', isValid: false, lamports: 5,
    methods: [],
  }));
  chain = open(NODES);
  events = [];
  chain.nodes.onEvent((event) => events.push(event));
});
afterEach(() => chain.close());

function transportTo(url: string): RpcTransport {
  return transport(nodes[NODES.indexOf(url)]!);
}

function open([rpcUrl, ...furtherRpcUrls]: readonly string[]): Chain {
  return createChain({
    rpcUrl: rpcUrl!, furtherRpcUrls, clock, transportTo,
    ...(furtherRpcUrls.length === 0 ? { transport: transportTo(rpcUrl!) } : {}),
  });
}

function transport(node: FakeNode): RpcTransport {
  return {
    post: async (body, signal) => {
      const { id, method, params } = parseJson(body) as unknown as Asked;
      node.methods.push(method);
      if (node.how === 'hangs') {
        await new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(new Error()); }); });
      }
      if (node.how === 'fails') throw new GannetError('CHAIN_UNREACHABLE', 'no answer');
      if (node.how === 'has too much to do') return { status: 429, body: 'slow down' };
      const refusal = node.how === 'refuses' && method !== 'getSlot' && method !== 'getGenesisHash'
        ? { code: -32_603, message: 'internal' } : tooFar(node, params);
      const answer = refusal === undefined ? { result: resultOf(node, method) } : { error: refusal };
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) };
    },
    close: () => Promise.resolve(),
  };
}

function slotOf({ slotsBehind }: FakeNode): number {
  return 10_000 + Math.floor((clock.now() - 1_800_000_000_000) / 400) - slotsBehind;
}

function tooFar(node: FakeNode, params: readonly unknown[]): { code: number; message: string } | undefined {
  const { minContextSlot = 0 } = Object.assign({}, ...params.filter((param) => typeof param === 'object')) as {
    minContextSlot?: number;
  };
  return node.isCareless || slotOf(node) >= minContextSlot ? undefined : { code: -32_016, message: 'not reached' };
}

function resultOf(node: FakeNode, method: string): unknown {
  const slot = slotOf(node);
  const { genesis, landed, isValid, lamports } = node;
  const at = (value: unknown): unknown => ({ context: { slot }, value });
  switch (method) {
    case 'getGenesisHash': return genesis;
    case 'getSlot': return slot;
    case 'getVersion': return { 'solana-core': '2.0.0' };
    case 'getEpochInfo': return { absoluteSlot: slot - 32, blockHeight: slot - 1_000 };
    case 'isBlockhashValid': return at(isValid);
    case 'getBalance': return at(lamports);
    case 'getTokenAccountsByOwner': return at([]);
    case 'sendTransaction': return SIGNATURE;
    case 'getSignatureStatuses': return at([landed === 'not' ? null : {
      slot: 9_000, confirmationStatus: 'finalized', err: landed === 'as a failure' ? 'AccountInUse' : null,
    }]);
    case 'getTransaction': return landed === 'not' ? null : {
      slot: 9_000,
      meta: {
        err: landed === 'as a failure' ? 'AccountInUse' : null, fee: 5_000, preBalances: [100_000],
        postBalances: [95_000], preTokenBalances: [], postTokenBalances: [],
      },
      transaction: { signatures: [SIGNATURE], message: { accountKeys: [OWNER], instructions: [] } },
    };
    default: throw new Error(`no answer to ${method}`);
  }
}

/** Lets virtual time go on until a promise has ended. */
async function ended<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  void promise.catch(() => undefined).finally(() => { isOver = true; });
  for (let turns = 0; turns < 10_000; turns++) {
    await new Promise((resolve) => { setImmediate(resolve); });
    if (isOver) break;
    const next = clock.nextAt();
    if (next !== Infinity) clock.advanceTo(next);
  }
  return promise;
}

async function pass(spanMs: number): Promise<void> {
  const until = clock.now() + spanMs;
  while (clock.now() < until) {
    clock.advanceTo(Math.min(until, clock.nextAt()));
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => { setImmediate(resolve); });
  }
}

const [A, B] = [(): FakeNode => nodes[0]!, (): FakeNode => nodes[1]!];
const statesOf = (): readonly string[] => chain.nodes.stats().map(({ state }) => state);
const codes = (): readonly string[] => events.map(({ code }) => code);
const unagreed = (contradiction: boolean): object =>
  expect.objectContaining({ code: 'CHAIN_UNAGREED', details: expect.objectContaining({ contradiction }) as object });
const landedSwap = (): Promise<unknown> => chain.landedSwap({
  signature: SIGNATURE, owner: OWNER, inputMint: SOL_MINT, outputMint: SOL_MINT,
});

describe('one node alone', () => {
  it('is asked as before: no probe, no second request, and its figures are counted', async () => {
    chain = open([NODES[0]!]);
    expect(await ended(chain.version())).toBe('2.0.0');
    await ended(chain.finalizedBlockHeight());
    A().how = 'fails';
    await expect(ended(chain.version())).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    await pass(60_000);
    expect(A().methods).toEqual(['getVersion', 'getEpochInfo', 'getVersion']);
    expect(chain.nodes.stats()).toMatchObject([{
      name: 'a.example', calls: { ok: 2, refused: 0, invalid: 0, unreachable: 1 }, slotsBehind: undefined,
    }]);
    A().how = 'answers';
    A().landed = 'as a success';
    expect(await ended(chain.signatureStatus(SIGNATURE, { searchHistory: true }))).toMatchObject({ slot: 9_000n });
  });
});

describe('reads', () => {
  it.each(['hangs', 'fails', 'refuses', 'has too much to do'] as const)(
    'go to the next node within the time limit where the first one %s', async (how) => {
      await ended(chain.version());
      A().how = how;
      const begunAt = clock.now();
      expect(await ended(chain.version())).toBe('2.0.0');
      expect(clock.now() - begunAt).toBeLessThanOrEqual(5_000);
      expect(B().methods).toContain('getVersion');
    },
  );

  it('stay with the node that answers, and fail only where none does', async () => {
    A().how = 'fails';
    await ended(chain.version());
    await ended(chain.version());
    expect(A().methods).not.toContain('getVersion');
    B().how = 'fails';
    await expect(ended(chain.version())).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
  });

  it('never go to a node of another network, even where it alone answers', async () => {
    B().genesis = OTHER_GENESIS;
    await ended(chain.version());
    A().how = 'fails';
    await expect(ended(chain.version())).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(B().methods).not.toContain('getVersion');
    await ended(chain.send(BYTES).catch(() => undefined));
    expect(B().methods).not.toContain('sendTransaction');
    expect(events).toContainEqual(expect.objectContaining({
      level: 'critical', code: 'NODE_FOREIGN', message: expect.stringContaining('b.example') as string,
    }));
  });

  it.each([true, false])('do not go back in time where the next node lags (careless: %s)', async (isCareless) => {
    await ended(chain.finalizedBlockHeight());
    Object.assign(B(), { slotsBehind: 45, isCareless, lamports: 1 });
    A().how = 'refuses';
    await expect(ended(chain.balances(OWNER))).rejects.toBeInstanceOf(GannetError);
    A().how = 'answers';
    expect(await ended(chain.balances(OWNER))).toEqual(new Map([[SOL_MINT, 5n]]));
  });

  it('leave a node that lags until it has caught up', async () => {
    A().slotsBehind = 200;
    await ended(chain.version());
    expect(statesOf()).toEqual(['lagging', 'healthy']);
    expect(A().methods).not.toContain('getVersion');
    A().slotsBehind = 0;
    await pass(6_000);
    expect(statesOf()).toEqual(['healthy', 'healthy']);
    expect(codes()).toEqual(['NODE_LAGS', 'NODE_BACK']);
  });

  it('are not taken from an honest node by one that leaps into the future', async () => {
    await ended(chain.version());
    B().slotsBehind = -5_000;
    await pass(11_000);
    expect(statesOf()[0]).toBe('healthy');
  });

  it('do not repeat what every node would refuse', async () => {
    await ended(chain.version());
    const refused = { code: -32_602, message: 'no' };
    const own = B().methods.length;
    chain = createChain({
      rpcUrl: NODES[0]!, furtherRpcUrls: [NODES[1]!], clock, transportTo: (url) => ({
        post: async (body, signal) => {
          const { id, method } = parseJson(body) as unknown as Asked;
          if (method !== 'getVersion') return transport(nodes[NODES.indexOf(url)]!).post(body, signal);
          nodes[NODES.indexOf(url)]!.methods.push('asked');
          return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, error: refused }) };
        },
        close: () => Promise.resolve(),
      }),
    });
    await expect(ended(chain.version())).rejects.toMatchObject({ code: 'CHAIN_RPC_ERROR' });
    expect([...A().methods, ...B().methods.slice(own)].filter((method) => method === 'asked')).toHaveLength(1);
  });
});

describe('alerts', () => {
  it('tell once of a node that is lost, once of its return, and once that all are lost', async () => {
    await ended(chain.version());
    B().how = 'hangs';
    await pass(60_000);
    expect(codes()).toEqual(['NODE_LOST']);
    A().how = 'fails';
    await pass(60_000);
    expect(codes()).toEqual(['NODE_LOST', 'NODE_LOST', 'NODES_LOST']);
    expect(events.at(-1)).toMatchObject({ level: 'critical' });
    for (const node of nodes) node.how = 'answers';
    await pass(20_000);
    expect(codes().slice(3)).toEqual(['NODE_BACK', 'NODE_BACK']);
    expect(events.map(({ message }) => message).join()).not.toContain('the-key-of');
  });
});

const prove = async (): Promise<unknown> => [
  await ended(chain.finalizedBlockHeight()), await ended(chain.isBlockhashValid(OWNER)),
  await ended(chain.signatureStatus(SIGNATURE, { searchHistory: true })),
];

describe('what decides about money', () => {
  it('is proven by two nodes that agree', async () => {
    expect(await prove()).toEqual([expect.any(BigInt), false, undefined]);
    expect(await ended(chain.tokenBalance(OWNER, SOL_MINT, { agreed: true }))).toMatchObject({ amount: 5n });
    A().landed = B().landed = 'as a failure';
    expect(await ended(chain.signatureStatus(SIGNATURE, { searchHistory: true }))).toMatchObject({
      confirmation: 'finalized', error: { code: 'AccountInUse' },
    });
  });

  it('does not stop a swap from being signed while one of two begins to fail, and is not lost yet', async () => {
    await ended(chain.version());
    B().how = 'fails';
    expect(await ended(chain.finalizedBlockHeight({ beforeSigning: true }))).toEqual(expect.any(BigInt));
    expect(statesOf()).toEqual(['healthy', 'healthy']);
    await expect(ended(chain.finalizedBlockHeight())).rejects.toEqual(unagreed(false));
  });

  it('is not decided by one of two, whichever is gone, and is once it is back', async () => {
    await ended(chain.version());
    for (const [gone, landed] of [[B(), A()], [A(), B()]] as const) {
      gone.how = 'hangs';
      await expect(ended(chain.finalizedBlockHeight())).rejects.toEqual(unagreed(false));
      await expect(ended(chain.isBlockhashValid(OWNER))).rejects.toEqual(unagreed(false));
      await expect(ended(chain.signatureStatus(SIGNATURE, { searchHistory: true }))).rejects.toEqual(unagreed(false));
      await expect(ended(chain.tokenBalance(OWNER, SOL_MINT, { agreed: true }))).rejects.toEqual(unagreed(false));
      await expect(ended(chain.balances(OWNER, { agreed: true }))).rejects.toEqual(unagreed(false));
      // A swap can still be signed.
      expect(await ended(chain.finalizedBlockHeight({ beforeSigning: true }))).toEqual(expect.any(BigInt));
      // Reads go on, and that it landed, one node can prove.
      expect(await ended(chain.balances(OWNER))).toEqual(new Map([[SOL_MINT, 5n]]));
      landed.landed = 'as a success';
      expect(await ended(chain.signatureStatus(SIGNATURE, { searchHistory: true })))
        .toMatchObject({ confirmation: 'finalized', error: undefined });
      landed.landed = 'as a failure';
      await expect(ended(landedSwap())).rejects.toEqual(unagreed(false));
      landed.landed = 'not';
      gone.how = 'answers';
      await pass(10_000);
      expect(await prove()).toEqual([expect.any(BigInt), false, undefined]);
    }
  });

  it('is not decided against the word of the other node, which is told with both names after a while', async () => {
    await ended(chain.version());
    const status = (): Promise<unknown> => ended(chain.signatureStatus(SIGNATURE, { searchHistory: true }));
    B().landed = 'as a success';
    await expect(status()).rejects.toEqual(unagreed(true));
    await expect(ended(landedSwap())).rejects.toEqual(unagreed(true));
    A().landed = 'as a failure';
    await expect(status()).rejects.toEqual(unagreed(true));
    expect(codes()).toEqual([]);
    await pass(11_000);
    await expect(status()).rejects.toEqual(unagreed(true));
    expect(events).toMatchObject([{ level: 'critical', code: 'NODES_DISAGREE' }]);
    expect(events[0]!.message).toMatch(/a\.example says .*failed.* b\.example says finalized/);
    B().isValid = true;
    expect(await ended(chain.isBlockhashValid(OWNER))).toBe(true);
    B().lamports = 6;
    await expect(ended(chain.balances(OWNER, { agreed: true }))).rejects.toEqual(unagreed(true));
    await expect(ended(chain.tokenBalance(OWNER, SOL_MINT, { agreed: true }))).rejects.toEqual(unagreed(true));
  });

  it('is what two nodes have reached: a height of the future by one of them proves nothing', async () => {
    await ended(chain.version());
    const height = await ended(chain.finalizedBlockHeight());
    B().slotsBehind = -40;
    expect(await ended(chain.finalizedBlockHeight())).toBeLessThanOrEqual(height + 5n);
  });

  it('is sent to all nodes, and taken where one takes it', async () => {
    await ended(chain.version());
    expect(await ended(chain.send(BYTES))).toEqual({ kind: 'accepted' });
    expect(nodes.map(({ methods }) => methods.filter((method) => method === 'sendTransaction').length)).toEqual([1, 1]);
    A().how = 'refuses';
    expect(await ended(chain.send(BYTES))).toEqual({ kind: 'accepted' });
    B().how = 'refuses';
    expect(await ended(chain.send(BYTES))).toMatchObject({ kind: 'rejected' });
  });
});
