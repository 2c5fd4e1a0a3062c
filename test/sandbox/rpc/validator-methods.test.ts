import { approve, createMint, getOrCreateAssociatedTokenAccount, mintTo } from '@solana/spl-token';
import { Connection } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey } from '../chain/web3.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;
let identity: string;
const stranger = walletOf('stranger').address;

beforeAll(async () => {
  ({ chain, user } = createMarketFixture());
  chain.advanceSlots(400);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'confirmed', wsEndpoint: rpc.wsUrl });
  ({ identity } = (await call('getIdentity')).result as { identity: string });
});

afterAll(async () => {
  await rpc.close();
});

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

async function call(method: string, ...params: unknown[]): Promise<Answer> {
  const response =
    await fetch(rpc.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  return (await response.json()) as Answer;
}

const epoch = (): number => Math.floor(chain.slot / 432_000);

describe('the one validator', () => {
  it('is the cluster, and tells where its RPC listens', async () => {
    const [node, ...others] = await connection.getClusterNodes();
    expect(others).toEqual([]);
    expect(node).toMatchObject({ pubkey: identity, rpc: new URL(rpc.url).host, version: '4.3.0', gossip: null });
    expect(node).toMatchObject({ pubsub: new URL(rpc.wsUrl).host });
  });

  it('leads every slot of this epoch and the next', async () => {
    expect(await connection.getSlotLeader()).toBe(identity);
    const leaders = await connection.getSlotLeaders(chain.slot, 3);
    expect(leaders.map((leader) => leader.toBase58())).toEqual([identity, identity, identity]);
    expect(await connection.getSlotLeaders(chain.slot, 0)).toEqual([]);
    const schedule = await connection.getLeaderSchedule();
    expect(Object.keys(schedule)).toEqual([identity]);
    expect(schedule[identity]).toHaveLength(432_000);
    expect((await call('getLeaderSchedule', chain.slot + 432_000, { identity: stranger })).result).toEqual({});
    expect((await call('getLeaderSchedule', { identity: stranger })).result).toEqual({});
    expect((await call('getLeaderSchedule', chain.slot + 900_000)).result).toBeNull();
  });

  it('produced the blocks that there are, within the slots that are known', async () => {
    const { value } = await connection.getBlockProduction('processed');
    const { firstSlot, lastSlot } = value.range;
    expect(lastSlot).toBe(chain.slot);
    expect(value.byIdentity[identity])
      .toEqual([lastSlot - firstSlot + 1, chain.blocksBetween(firstSlot, lastSlot).length]);
    const last = await connection.getBlockProduction(
      { commitment: 'processed', range: { firstSlot: chain.slot - 9, lastSlot: chain.slot }, identity: stranger },
    );
    expect(last.value).toEqual({ byIdentity: {}, range: { firstSlot: chain.slot - 9, lastSlot: chain.slot } });
  });

  it('has voted for a block as often as blocks followed, until it is rooted', async () => {
    chain.advanceSlots(1);
    const blocks = chain.blocksBetween(chain.slot - 40, chain.slot);
    const votes = async (slot: number): Promise<unknown> =>
      ((await call('getBlockCommitment', slot)).result as { commitment: unknown }).commitment;
    const recent = blocks.at(-3)!.slot;
    const stake = (await connection.getVoteAccounts()).current[0]!.activatedStake;
    expect(await votes(recent)).toEqual(Array.from({ length: 32 }, (_, n) => (n === chain.slot - recent ? stake : 0)));
    expect(await votes(blocks[0]!.slot)).toBeNull();
    expect(await votes(chain.slot + 1)).toBeNull();
    expect((await call('getBlockCommitment', recent)).result).toMatchObject({ totalStake: stake });
  });

  it('is paid nothing, and stores no later snapshot than its first slot', async () => {
    expect(await connection.getInflationGovernor())
      .toEqual({ initial: 0, terminal: 0, taper: 0, foundation: 0, foundationTerm: 0 });
    expect(await connection.getInflationRate()).toEqual({ total: 0, validator: 0, foundation: 0, epoch: epoch() });
    expect(await connection.getInflationReward([publicKey(stranger), publicKey(user.address)])).toEqual([null, null]);
    expect((await call('getStakeMinimumDelegation')).result).toMatchObject({ value: 1 });
    const { result } = await call('getHighestSnapshotSlot');
    expect(result).toEqual({ full: await connection.getMinimumLedgerSlot(), incremental: null });
    expect((await call('getMaxShredInsertSlot')).result).toBe(chain.slot);
    expect((await call('getMaxRetransmitSlot')).result).toBe(chain.slot);
    expect((await call('getAgGenesisCert')).result).toBeNull();
  });
});

describe('accounts and blocks', () => {
  it('lists blocks from a slot on, as many as asked for', async () => {
    const first = chain.firstAvailableSlot();
    const { result } = await call('getBlocksWithLimit', first, 5);
    expect(result).toEqual((await connection.getBlocks(first, first + 20)).slice(0, 5));
    expect((await call('getBlocksWithLimit', chain.slot, 5)).result).toEqual([]);
    expect((await call('getBlocksWithLimit', first, 0)).result).toEqual([]);
  });

  it('lists the largest accounts, the largest first', async () => {
    for (let n = 0; n < 20; n++) chain.airdrop(walletOf(`holder ${n}`).address, 1_000_000_000n + BigInt(n));
    const { value } = await connection.getLargestAccounts({ commitment: 'processed' });
    expect(value).toHaveLength(20);
    const lamports = value.map((account) => account.lamports);
    expect(lamports).toEqual(lamports.toSorted((a, b) => b - a));
    expect(value.find(({ address }) => address.toBase58() === user.address)?.lamports)
      .toBe(Number(chain.balance(user.address)));
    expect((await connection.getLargestAccounts({ filter: 'nonCirculating' })).value).toEqual([]);
  });

  it('finds token accounts by who may spend of them', async () => {
    const processed = new Connection(rpc.url, { commitment: 'processed', wsEndpoint: rpc.wsUrl });
    const ticking = setInterval(() => chain.advanceSlots(1), 5);
    try {
      const mint = await createMint(processed, user.keypair, user.keypair.publicKey, null, 3);
      const { address } =
        await getOrCreateAssociatedTokenAccount(processed, user.keypair, mint, user.keypair.publicKey);
      await mintTo(processed, user.keypair, mint, address, user.keypair, 50n);
      await approve(processed, user.keypair, address, publicKey(stranger), user.keypair, 7n);
      const config = { encoding: 'jsonParsed', commitment: 'processed' };
      const found = await call('getTokenAccountsByDelegate', stranger, { mint: mint.toBase58() }, config);
      expect(found.result).toMatchObject({ value: [{
        pubkey: address.toBase58(), account: { data: { parsed: { info: {
          delegate: stranger, delegatedAmount: { amount: '7', uiAmountString: '0.007' }, tokenAmount: { amount: '50' },
        } } } },
      }] });
      expect((await call('getTokenAccountsByDelegate', user.address, { mint: mint.toBase58() }, config)).result)
        .toMatchObject({ value: [] });
    } finally {
      clearInterval(ticking);
    }
  });
});

test.each([
  ['getSlotLeaders', [1, 5_001], -32602, 'Invalid limit; max 5000'],
  ['getSlotLeaders', [1, 2], -32602, 'Invalid slot range: leader schedule for epoch 0 is unavailable'],
  ['getSlotLeaders', [1], -32602, /number of leaders/],
  ['getLeaderSchedule', [null, { identity: 'x' }], -32602, /identity: expected the base58/],
  ['getBlockProduction', [{ range: { firstSlot: 1 } }], -32602, /^firstSlot, 1, is too small; min \d+$/],
  ['getBlockProduction', [{ range: { firstSlot: 9, lastSlot: 8 } }], -32602, /cannot be less than firstSlot, 9$/],
  ['getBlockProduction', [{ range: {} }], -32602, /range.firstSlot/],
  ['getBlocksWithLimit', [1, 500_001], -32602, /Limit too large; max 500000/],
  ['getBlocksWithLimit', [1, 2, { commitment: 'processed' }], -32602, /below `confirmed`/],
  ['getInflationReward', [[], { epoch: 9_999 }], -32004, /^Block not available for slot \d+$/],
  ['getInflationReward', [['x']], -32602, /parameter 0\[0\]/],
  ['getLargestAccounts', [{ filter: 'all' }], -32602, /filter: expected one of/],
  ['getBlockCommitment', [], -32602, /expected a slot/],
  ['getTokenAccountsByDelegate', [stranger, {}], -32602, /mint/],
  ['getStakeActivation', [stranger], -32601, 'Method not found'],
])('%s of %j is refused with the code of a node', async (method, params, code, message) => {
  const { error } = await call(method, ...params);
  expect(error).toEqual({ code, message: expect.stringMatching(message) });
});
