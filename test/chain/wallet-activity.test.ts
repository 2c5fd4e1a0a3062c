import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChain } from '../../src/chain/chain.ts';
import type { LandedTransaction } from '../../src/chain/rpc-answers.ts';
import { createWalletActivity } from '../../src/chain/wallet-activity.ts';
import { GannetError } from '../../src/core/errors.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { WalletActivity } from '../../src/market/wallet-activity.ts';
import type { ChainFixture } from './chain-fixture.ts';
import { startChainFixture } from './chain-fixture.ts';
import { startHostileNode, wallClock } from './hostile-node.ts';

const OWNER = 'us';

/** A transaction of the wallet's, which costs its fee. */
function landed(signature: string, slot: bigint): LandedTransaction {
  return {
    slot, blockTime: 1_790_000_000 + Number(slot),
    meta: {
      err: null, fee: 5n, preBalances: [100n], postBalances: [95n], innerInstructions: [], preTokenBalances: [],
      postTokenBalances: [], loadedAddresses: { writable: [], readonly: [] },
    },
    transaction: { signatures: [signature], message: { accountKeys: [OWNER], instructions: [] } },
  };
}

/** A wallet's history as a node lists it, and what the node cannot return. */
function wallet(): {
  readonly add: (count: number, at?: bigint) => void; readonly refused: Map<string, Error | undefined>;
  readonly poll: () => Promise<WalletActivity>; readonly asked: string[]; now: bigint;
} {
  const entries: { readonly signature: string; readonly slot: bigint }[] = [];
  const refused = new Map<string, Error | undefined>();
  const asked: string[] = [];
  const read = createWalletActivity({
    slot: async () => self.now,
    history: async (_owner, { limit, before }) => {
      const newestFirst = entries.toReversed();
      const from = before === undefined ? 0 : newestFirst.findIndex(({ signature }) => signature === before) + 1;
      return newestFirst.slice(from, from + limit);
    },
    transaction: async (signature) => {
      asked.push(signature);
      if (refused.has(signature)) {
        const fault = refused.get(signature);
        if (fault !== undefined) throw fault;
        return undefined;
      }
      return landed(signature, entries.find((entry) => entry.signature === signature)!.slot);
    },
  });
  const self = {
    now: 1_000n, refused, asked,
    add: (count: number, at?: bigint) => {
      for (let n = 0; n < count; n += 1) {
        self.now += 1n;
        entries.push({ signature: `s${entries.length}`, slot: at ?? self.now });
      }
      entries.sort((a, b) => Number(a.slot - b.slot));
    },
    poll: () => read(OWNER),
  };
  return self;
}

const names = ({ transactions }: WalletActivity): string[] => transactions.map(({ signature }) => signature);

describe('the activity of a wallet', () => {
  it('begins at the first poll, and each transaction comes once, oldest first', async () => {
    const us = wallet();
    us.add(5);
    expect(await us.poll()).toEqual({ owner: OWNER, transactions: [] });
    expect(names(await us.poll())).toEqual([]);
    us.add(3);
    const found = await us.poll();
    expect(names(found)).toEqual(['s5', 's6', 's7']);
    expect(found.transactions[0]).toEqual({
      signature: 's5', slot: 1_006, blockTime: 1_790_001_006_000, hasFailed: false, isSigner: true,
      changes: [{ mint: SOL_MINT, amount: -5n, decimals: 9 }],
    });
    expect(names(await us.poll())).toEqual([]);
    // A node that is behind lists it later than newer ones.
    us.add(1, us.now - 1n);
    expect(names(await us.poll())).toEqual(['s8']);
    us.add(1, 1_000n);
    expect(names(await us.poll())).toEqual([]);
  });

  it('is caught up with 20 at a time after a gap, and what is beyond 300 is left out with a mark', async () => {
    const us = wallet();
    await us.poll();
    us.add(350);
    const seen: string[] = [];
    const gaps: string[] = [];
    for (let n = 0; n < 16; n += 1) {
      const { transactions } = await us.poll();
      expect(transactions.length).toBeLessThanOrEqual(20);
      seen.push(...transactions.map(({ signature }) => signature));
      gaps.push(...transactions.filter(({ isAfterGap }) => isAfterGap).map(({ signature }) => signature));
    }
    expect(seen).toEqual(Array.from({ length: 300 }, (_, n) => `s${n + 50}`));
    expect(gaps[0]).toBe('s50');
    us.add(1);
    expect(names(await us.poll())).toEqual(['s350']);
  });

  it('loses nothing while the node is away or has a transaction not yet', async () => {
    const us = wallet();
    await us.poll();
    us.add(3);
    us.refused.set('s1', undefined);
    expect(names(await us.poll())).toEqual(['s0']);
    us.refused.set('s1', new GannetError('CHAIN_UNREACHABLE', 'away'));
    for (let n = 0; n < 9; n += 1) await expect(us.poll()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    us.refused.clear();
    expect((await us.poll()).transactions).toEqual([
      expect.not.objectContaining({ isAfterGap: true }), expect.objectContaining({ signature: 's2' }),
    ]);
  });

  it('goes on after three attempts without a transaction that the node never shows, with a mark', async () => {
    const us = wallet();
    await us.poll();
    us.add(2);
    us.refused.set('s0', undefined);
    await expect(us.poll()).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    await expect(us.poll()).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    expect((await us.poll()).transactions).toEqual([expect.objectContaining({ signature: 's1', isAfterGap: true })]);
    expect(us.asked).toEqual(['s0', 's0', 's0', 's1']);
  });

  it('does not become blind by one slot of the future', async () => {
    const us = wallet();
    await us.poll();
    us.add(1, 2n ** 60n);
    await expect(us.poll()).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    expect(us.asked).toEqual([]);
  });
});

describe('the activity of a wallet on a chain', () => {
  let fixture: ChainFixture;
  beforeEach(async () => { fixture = await startChainFixture(); });
  afterEach(() => fixture.close());

  it('has what a swap changed, to the unit, and what others sent', async () => {
    const { chain, node } = fixture;
    const { address, signer } = fixture.wallet();
    const read = async (): Promise<WalletActivity> => {
      node.advanceSlots(3);
      return chain.walletActivity(address);
    };
    expect((await read()).transactions).toEqual([]);
    const before = node.balance(address);
    const composed = await chain.compose(fixture.build({
      wallet: address, inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 1_000_000_000n,
    }), address);
    const signed = await signer.sign(composed.transaction);
    await chain.send(signed.transaction);
    const [swap] = (await read()).transactions;
    expect(swap).toMatchObject({
      hasFailed: false, isSigner: true, slot: expect.any(Number), blockTime: expect.any(Number),
    });
    expect(Object.fromEntries(swap!.changes.map(({ mint, amount }) => [mint, amount]))).toEqual({
      [SOL_MINT]: node.balance(address) - before, [USDC_MINT]: node.tokenBalance({ owner: address, mint: USDC_MINT }),
    });
    expect(swap!.changes.map(({ decimals }) => decimals)).toEqual([9, 6]);
    const gift = node.airdrop(address, 7_000_000n);
    expect((await read()).transactions).toEqual([expect.objectContaining({
      signature: gift, isSigner: false, changes: [{ mint: SOL_MINT, amount: 7_000_000n, decimals: 9 }],
    })]);
  });
});

describe('a hostile node', () => {
  it.each<[string, unknown, unknown]>([
    ['lists what is no history', [{ signature: 'not a signature', slot: 5 }], null],
    ['lists slots that are no numbers', [{ signature: '2'.repeat(88), slot: 'x' }], null],
    ['returns another transaction', [{ signature: '2'.repeat(88), slot: 5 }], { slot: 5 }],
    ['lists a transaction that it does not have', [{ signature: '2'.repeat(88), slot: 5 }], null],
  ])('that %s is a fault of the feed', async (_what, history, transaction) => {
    const node = await startHostileNode();
    const chain = createChain({ rpcUrl: node.url, clock: wallClock });
    try {
      const results: Record<string, unknown> =
        { getSlot: 3, getSignaturesForAddress: history, getTransaction: transaction };
      node.result(({ method }) => results[method]);
      const owner = '11111111111111111111111111111112';
      expect((await chain.walletActivity(owner)).transactions).toEqual([]);
      await expect(chain.walletActivity(owner)).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    } finally {
      await chain.close();
      await node.close();
    }
  });
});
