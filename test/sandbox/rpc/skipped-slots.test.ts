import { AddressLookupTableProgram, Connection } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, signedTransaction } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey } from '../chain/web3.ts';

const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;

beforeAll(async () => {
  ({ chain, user } = createMarketFixture({ skippedSlots: 0.5 }));
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'processed', wsEndpoint: rpc.wsUrl });
});

afterAll(async () => {
  await rpc.close();
});

test('the slot of a commitment has a block, wherever it is told, on a chain that skips half of its slots', async () => {
  for (let i = 0; i < 50; i++) {
    chain.advanceSlots(1);
    for (const commitment of COMMITMENTS) {
      const slot = await connection.getSlot(commitment);
      expect(chain.blocksBetween(slot, slot)).toHaveLength(1);
      const { absoluteSlot, blockHeight } = await connection.getEpochInfo(commitment);
      expect([absoluteSlot, blockHeight]).toEqual([slot, chain.blocksBetween(slot, slot)[0]!.height]);
      expect((await connection.getBalanceAndContext(publicKey(user.address), commitment)).context.slot).toBe(slot);
    }
  }
});

test('web3.js makes a lookup table with any finalized slot', async () => {
  const key = publicKey(user.address);
  for (let i = 0; i < 40; i++) {
    chain.advanceSlots(1);
    const recentSlot = await connection.getSlot('finalized');
    const [create, table] =
      AddressLookupTableProgram.createLookupTable({ authority: key, payer: key, recentSlot });
    if (chain.accountExists(table.toBase58())) continue;
    const bytes = signedTransaction({ chain, payer: user, instructions: [create] });
    expect(landed(chain.land(bytes))).toMatchObject({ error: null });
  }
});

test('slot notifications name blocks and their parents', async () => {
  const heard: { slot: number; parent: number; root: number }[] = [];
  const subscription = connection.onSlotChange((notice) => heard.push(notice));
  await expect.poll(() => {
    chain.advanceSlots(1);
    return heard.length;
  }).toBeGreaterThan(8);
  await connection.removeSlotChangeListener(subscription);
  for (const { slot, parent, root } of heard) {
    const [block] = chain.blocksBetween(slot, slot);
    expect(block).toMatchObject({ slot, parentSlot: parent });
    expect(chain.blocksBetween(root, root)).toHaveLength(1);
  }
});
