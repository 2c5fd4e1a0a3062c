import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createChain, type Chain } from '../../src/chain/chain.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { createChain as createSandboxChain } from '../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../src/sandbox/rpc/server.ts';
import { startHostileNode, wallClock, type HostileNode, type RpcRequest } from './hostile-node.ts';

const OWNER = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const SIGNATURE = '5'.repeat(88);
const invalid = expect.objectContaining({ code: 'CHAIN_RESPONSE_INVALID' });

/** What one of several nodes behind an address has seen, and what it says of a transaction that is dead. */
interface Seen { readonly slot: number; readonly height: number; readonly isValid?: boolean }

function answerAs({ slot, height, isValid = false }: Seen, { method }: RpcRequest): unknown {
  if (method === 'getEpochInfo') return { absoluteSlot: slot, blockHeight: height };
  const value =
    { isBlockhashValid: isValid, getSignatureStatuses: [null], getBalance: 5, getTokenAccountsByOwner: [] }[method];
  return { context: { slot }, value };
}

/** A node that knows what became of a transaction, and otherwise is at a slot. */
const knowing = (status: object, slot: number) => ({ method }: RpcRequest): unknown =>
  (method === 'getSignatureStatuses' ? { context: { slot: 10_022 }, value: [status] }
    : { context: { slot }, value: method === 'getBalance' ? 5 : [] });

/** A transaction that landed where no chain has come to. */
const farStatus =
  { context: { slot: 9_000_001 }, value: [{ slot: 9_000_000, err: null, confirmationStatus: 'confirmed' }] };

let node: HostileNode;
let chain: Chain;

beforeAll(async () => { node = await startHostileNode(); });
afterAll(() => node.close());
beforeEach(() => {
  chain = createChain({ rpcUrl: node.url, clock: wallClock });
  return () => chain.close();
});

/** Makes every call of an expiry proof, in its order; rejects where an answer does not count. */
async function prove(): Promise<{ readonly height: bigint; readonly isValid: boolean }> {
  const height = await chain.finalizedBlockHeight();
  const isValid = await chain.isBlockhashValid(OWNER);
  await chain.signatureStatus(SIGNATURE, { searchHistory: true });
  await chain.tokenBalance(OWNER, SOL_MINT);
  return { height, isValid };
}

describe('several nodes behind one address', () => {
  const ahead: Seen = { slot: 10_000, height: 9_000 };
  const behind: Seen = { slot: 9_800, height: 8_810 };

  it.each([
    ['getEpochInfo'], ['isBlockhashValid'], ['getSignatureStatuses'], ['getBalance'], ['getTokenAccountsByOwner'],
  ])(
    'prove nothing where the one that is 200 blocks behind answers %s, though it minds no minContextSlot',
    async (method) => {
      node.result((request) => answerAs(ahead, request));
      expect(await prove()).toEqual({ height: 9_000n, isValid: false });
      node.result((request) => answerAs(request.method === method ? behind : ahead, request));
      // A height that is behind only proves less.
      if (method === 'getEpochInfo') expect((await prove()).height).toBe(8_810n);
      else await expect(prove()).rejects.toEqual(invalid);
    });

  it('each get the slot that they must have reached', async () => {
    node.result((request) => answerAs(ahead, request));
    await prove();
    for (const method of ['isBlockhashValid', 'getBalance', 'getTokenAccountsByOwner']) {
      expect(node.requests.findLast((request) => request.method === method)!.params.at(-1))
        .toMatchObject({ minContextSlot: 10_000 });
    }
  });

  it('that take turns prove nothing together: a node behind the newest answer is refused', async () => {
    let turn = 0;
    node.result((request) => answerAs(turn++ % 2 === 0 ? ahead : behind, request));
    for (let attempt = 0; attempt < 6; attempt++) await expect(prove()).rejects.toEqual(invalid);
  });

  it('that disagree on the height of a slot prove nothing until they agree again', async () => {
    node.result((request) => answerAs(ahead, request));
    await prove();
    // One that takes slots for heights.
    node.result((request) => answerAs({ slot: 10_010, height: 10_010 }, request));
    await expect(prove()).rejects.toEqual(invalid);
    node.result((request) => answerAs({ slot: 10_020, height: 9_018 }, request));
    await expect(prove()).rejects.toEqual(invalid);
    node.result((request) => answerAs({ slot: 10_030, height: 9_027 }, request));
    expect((await prove()).height).toBe(9_027n);
  });

  it('are not refused for long after one reported a far future slot', async () => {
    const future: Seen = { slot: 10_000_000, height: 9_000_000 };
    node.result((request) => answerAs(ahead, request));
    await prove();
    let epochs = 0;
    node.result((request) => answerAs(request.method === 'getEpochInfo' && ++epochs === 1 ? future : ahead, request));
    await expect(prove()).rejects.toEqual(invalid);
    expect(await prove()).toEqual({ height: 9_000n, isValid: false });
  });

  it('are not refused for long after the very first answer was of a far future slot', async () => {
    node.result((request) => answerAs({ slot: 10_000_000, height: 9_000_000 }, request));
    await chain.finalizedBlockHeight();
    node.result((request) => answerAs(ahead, request));
    await expect(prove()).rejects.toEqual(invalid);
    expect(await prove()).toEqual({ height: 9_000n, isValid: false });
  });

  it('are asked twice, and accepted, after a long pause', async () => {
    node.result((request) => answerAs(ahead, request));
    await prove();
    const asked = node.requests.length;
    const later: Seen = { slot: 300_000, height: 280_000 };
    node.result((request) => answerAs(later, request));
    expect((await prove()).height).toBe(280_000n);
    expect(node.requests.slice(asked).filter(({ method }) => method === 'getEpochInfo')).toHaveLength(2);
  });

  it('do not report balances before they have reached the slot of a landed transaction', async () => {
    node.result((request) => answerAs(ahead, request));
    await prove();
    const landed = { slot: 10_020, err: null, confirmationStatus: 'confirmed' };
    node.result(knowing(landed, 10_019));
    await chain.signatureStatus(SIGNATURE, { searchHistory: false });
    await expect(chain.tokenBalance(OWNER, SOL_MINT)).rejects.toEqual(invalid);
    await expect(chain.tokenBalance(OWNER, USDC_MINT)).rejects.toEqual(invalid);
    await expect(chain.balances(OWNER)).rejects.toEqual(invalid);
    // A slot that no chain can have come to since is not waited for.
    node.result((request) =>
      (request.method === 'getSignatureStatuses' ? farStatus : knowing(landed, 10_021)(request)));
    await chain.signatureStatus(SIGNATURE, { searchHistory: false });
    expect((await chain.tokenBalance(OWNER, SOL_MINT)).amount).toBe(5n);
  });

  it('are not refused where the first answer of any kind has a far future slot', async () => {
    node.result((request) => (request.method === 'getSignatureStatuses' ? farStatus : answerAs(ahead, request)));
    await chain.signatureStatus(SIGNATURE, { searchHistory: true });
    await prove().catch(() => undefined);
    node.result((request) => answerAs(ahead, request));
    expect((await chain.tokenBalance(OWNER, SOL_MINT)).amount).toBe(5n);
    expect((await chain.balances(OWNER)).get(SOL_MINT)).toBe(5n);
    expect(node.requests.at(-1)!.params.at(-1)).toMatchObject({ minContextSlot: 10_000 });
  });

  it('must have reached a landed slot only while the chain can have reached it', async () => {
    // Both the finalized slot and the status are of the far future; then the first is put right.
    const future: Seen = { slot: 10_000_000, height: 9_000_000 };
    const landedThen =
      { context: { slot: 10_000_200 }, value: [{ slot: 10_000_100, err: null, confirmationStatus: 'confirmed' }] };
    node.result((request) => (request.method === 'getSignatureStatuses' ? landedThen : answerAs(future, request)));
    await chain.signatureStatus(SIGNATURE, { searchHistory: true });
    node.result((request) => answerAs(ahead, request));
    await expect(chain.finalizedBlockHeight()).rejects.toEqual(invalid);
    await chain.finalizedBlockHeight();
    expect((await chain.balances(OWNER)).get(SOL_MINT)).toBe(5n);
    // And what landed since is asked for again.
    node.result(knowing({ slot: 10_020, err: null, confirmationStatus: 'confirmed' }, 10_019));
    await chain.signatureStatus(SIGNATURE, { searchHistory: false });
    await expect(chain.balances(OWNER)).rejects.toEqual(invalid);
  });

  it('cannot report a transaction in a slot that they have not reached', async () => {
    node.result((request) => (request.method === 'getSignatureStatuses' ? { ...farStatus, context: { slot: 10_000 } }
      : answerAs(ahead, request)));
    await expect(chain.signatureStatus(SIGNATURE, { searchHistory: true })).rejects.toEqual(invalid);
  });

  it('are not refused where one was some minutes ahead once: a leap is confirmed first', async () => {
    node.result((request) => answerAs(ahead, request));
    await prove();
    let epochs = 0;
    node.result((request) => answerAs(
      request.method === 'getEpochInfo' && ++epochs === 1 ? { slot: 15_000, height: 14_000 } : ahead, request,
    ));
    expect(await prove()).toEqual({ height: 9_000n, isValid: false });
    // Said twice it is believed, unless it cannot be of the chain that was seen before.
    node.result((request) => answerAs({ slot: 15_000, height: 14_001 }, request));
    await expect(prove()).rejects.toEqual(invalid);
  });

  it.each([
    ['more blocks than slots', { slot: 500, height: 501 }],
    ['a chain that lost blocks', { slot: 10_100, height: 8_999 }],
    ['more new blocks than new slots', { slot: 10_001, height: 9_002 }],
  ])('are not believed with %s', async (_what, seen) => {
    node.result((request) => answerAs(ahead, request));
    await prove();
    node.result((request) => answerAs(seen, request));
    await expect(chain.finalizedBlockHeight()).rejects.toEqual(invalid);
  });

  it('may answer out of order: each answer counts as of its call', async () => {
    const waiting: (() => void)[] = [];
    let slot = 10_000;
    node.answer((request, response) => {
      const result = answerAs({ slot, height: slot - 1_000 }, request);
      slot += 1;
      waiting.push(() => response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result })));
    });
    const asked = [chain.finalizedBlockHeight(), chain.finalizedBlockHeight(), chain.finalizedBlockHeight()];
    await expect.poll(() => waiting.length).toBe(3);
    for (const answer of waiting.reverse()) answer();
    expect((await Promise.all(asked)).map(Number).toSorted((a, b) => a - b)).toEqual([9_000, 9_001, 9_002]);
  });
});

describe('a chain that skips three slots of ten', () => {
  it('measures expiry in blocks, not in slots', async () => {
    const sandbox = createSandboxChain({ genesisUnixSeconds: 1_780_000_000, skippedSlots: 0.3 });
    const rpc = await startRpc({ chain: sandbox, port: 0, host: '127.0.0.1', websocketPort: 0 });
    const asked = createChain({ rpcUrl: rpc.url, clock: wallClock });
    sandbox.advanceSlots(100);
    const { blockhash, lastValidBlockHeight } = sandbox.latestBlockhash();
    const start = sandbox.slot;
    let sawSlotsOver = false;
    for (;;) {
      sandbox.advanceSlots(1);
      const height = await asked.finalizedBlockHeight();
      if (height > BigInt(lastValidBlockHeight)) break;
      // By the count of slots it would be over, but it may land yet.
      if (sandbox.slot - start > 150 + 32 + 10) sawSlotsOver = true;
      if (sandbox.slot - start > 60) expect(await asked.isBlockhashValid(blockhash)).toBe(true);
    }
    expect(sawSlotsOver).toBe(true);
    expect(await asked.finalizedBlockHeight()).toBe(BigInt(lastValidBlockHeight) + 1n);
    expect(await asked.isBlockhashValid(blockhash)).toBe(false);
    await asked.close();
    await rpc.close();
  });
});

describe('a wallet’s balance of one mint', () => {
  it('is the sum of its accounts, for SOL with the native balance, as of the older answer', async () => {
    const account = (mint: string, amount: bigint) => {
      const data = Buffer.alloc(165);
      data[108] = 1;
      Buffer.from(bs58.decode(mint)).copy(data);
      data.writeBigUInt64LE(amount, 64);
      return {
        pubkey: OWNER,
        account: { owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', data: [data.toString('base64'), 'base64'] },
      };
    };
    node.result(({ method }) => (method === 'getBalance'
      ? { context: { slot: 9 }, value: 5 }
      : { context: { slot: 8 }, value: [account(SOL_MINT, 7n), account(SOL_MINT, 18_446_744_073_709_551_000n)] }));
    expect(await chain.tokenBalance(OWNER, SOL_MINT))
      .toEqual({ amount: 18_446_744_073_709_551_012n, slot: 8n, lastSlot: 9n });
    node.result(() => ({ context: { slot: 8 }, value: [account(USDC_MINT, 3n), account(USDC_MINT, 4n)] }));
    expect(await chain.tokenBalance(OWNER, USDC_MINT)).toEqual({ amount: 7n, slot: 8n, lastSlot: 8n });
    node.result(() => ({ context: { slot: 8 }, value: [] }));
    expect((await chain.tokenBalance(OWNER, USDC_MINT)).amount).toBe(0n);
    expect(node.requests.at(-1)!.params).toMatchObject([OWNER, { mint: USDC_MINT }, { commitment: 'confirmed' }]);
  });
});

describe('issue 13.37: a node that was ahead for a moment does not stop trading', () => {
  const OFFSET = 15_000;
  let clock: VirtualClock;
  let slot: number;
  /** By how much getEpochInfo is ahead of everything else. */
  let ahead: number;

  /** Follows a chain of a slot every 400 ms, whose node refuses what it has not come to. */
  const answerTruly = (request: RpcRequest): unknown => answerAs({
    slot: request.method === 'getEpochInfo' ? slot + ahead : slot,
    height: slot - 1_000 + (request.method === 'getEpochInfo' ? ahead : 0),
  }, request);
  async function pass(ms: number): Promise<void> {
    clock.advanceTo(clock.now() + ms);
    slot += Math.floor(ms / 400);
  }
  /** Asks for a balance every half second, and returns after how long there was one. */
  async function untilBalance(limitMs: number): Promise<number> {
    const from = clock.now();
    while (clock.now() - from < limitMs) {
      if (await chain.tokenBalance(OWNER, SOL_MINT).then(() => true, () => false)) return clock.now() - from;
      await pass(500);
    }
    return Infinity;
  }

  beforeEach(() => {
    clock = new VirtualClock(1_000_000);
    slot = 10_000;
    ahead = 0;
    chain = createChain({ rpcUrl: node.url, clock });
    node.result(answerTruly);
    return () => chain.close();
  });

  async function trade(times: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      await chain.finalizedBlockHeight().catch(() => undefined);
      await pass(2_000);
    }
  }

  it('lowers the minimum context slot after refusals that follow five answers 15,000 slots ahead', async () => {
    await trade(10);
    ahead = OFFSET;
    await trade(5);
    ahead = 0;
    await expect(chain.tokenBalance(OWNER, SOL_MINT)).rejects.toEqual(invalid);
    expect(await untilBalance(60_000)).toBeLessThanOrEqual(20_000);
    expect(node.requests.at(-1)!.params.at(-1))
      .not.toMatchObject({ minContextSlot: expect.toSatisfy((asked: number) => asked > slot) });
  });

  it('lowers it within a minute however long the node was ahead, even from the first answer on', async () => {
    ahead = OFFSET;
    await trade(3);
    ahead = 0;
    expect(await untilBalance(60_000)).toBeLessThan(20_000);
    ahead = OFFSET;
    await trade(200);
    ahead = 0;
    expect(await untilBalance(60_000)).toBeLessThanOrEqual(35_000);
  });

  it('keeps it where a node lags after an hour of correct answers', async () => {
    await trade(1_800);
    const before = slot;
    slot -= 150;
    await trade(1);
    expect(await untilBalance(300_000)).toBeGreaterThan(50_000);
    expect(slot).toBeGreaterThanOrEqual(before - 5);
  });

  it('refuses a balance of a slot that the chain has not reached', async () => {
    await trade(1);
    node.result((request) =>
      (request.method === 'getBalance' ? { context: { slot: slot + OFFSET }, value: 5 } : answerTruly(request)));
    await expect(chain.tokenBalance(OWNER, SOL_MINT)).rejects.toEqual(invalid);
  });
});
