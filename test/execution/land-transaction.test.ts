import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { GannetError } from '../../src/core/errors.ts';
import { landTransaction, type PlainTransaction, type TransactionEnd } from '../../src/execution/land-transaction.ts';
import { USDC_MINT } from '../../src/market/token.ts';
import { startChainFixture, type ChainFixture } from '../chain/chain-fixture.ts';
import { impatientClock } from './impatient-clock.ts';

const CLOCK_FACTOR = 200;

let world: ChainFixture;
beforeAll(async () => { world = await startChainFixture(); }, 60_000);
afterAll(() => world.close());

/** A signed transaction that closes the wallet's one empty account. */
async function closing(): Promise<PlainTransaction & { readonly address: string; readonly account: string }> {
  const { address, signer } = world.wallet();
  const account = world.node.fundToken({ owner: address, mint: USDC_MINT, amount: 0n });
  world.node.advanceSlots(2);
  const { composed } = await world.chain.composeClosing(address, (await world.chain.wallet(address)).accounts);
  const { transaction, signature } = await signer.sign(composed!.transaction);
  return {
    transaction, signature, blockhash: composed!.blockhash, lastValidBlockHeight: composed!.lastValidBlockHeight,
    address, account,
  };
}

const deaf = (): Promise<never> => Promise.reject(new GannetError('CHAIN_UNREACHABLE', 'nobody answers'));

/** Follows while the chain goes on; `slots` pass before every question. */
async function follow(sent: PlainTransaction, { chain = {}, isOver = () => false, slots = 1 }: {
  readonly chain?: Partial<Chain>; readonly isOver?: () => boolean; readonly slots?: number;
} = {}): Promise<{ readonly end: TransactionEnd | undefined; readonly troubles: string[] }> {
  const troubles: string[] = [];
  const end = await landTransaction({
    clock: impatientClock(CLOCK_FACTOR),
    chain: {
      ...world.chain,
      signatureStatus: (...args) => {
        world.node.advanceSlots(slots);
        return world.chain.signatureStatus(...args);
      },
      ...chain,
    },
  }, sent, { isOver, onTrouble: ({ code }) => { troubles.push(code); } });
  return { end, troubles };
}

describe('signed bytes that are no swap', () => {
  it('are followed until they are confirmed', async () => {
    const sent = await closing();
    expect(await follow(sent)).toStrictEqual({ end: { kind: 'landed' }, troubles: [] });
    expect(world.node.account(sent.account)).toBeUndefined();
  });

  it('are the only thing that is ever sent, again and again, where they get lost on the way', async () => {
    const sent = await closing();
    const seen: Uint8Array[] = [];
    const { end } = await follow(sent, {
      chain: {
        send: (bytes) => {
          seen.push(bytes);
          return seen.length < 3 ? Promise.resolve({ kind: 'accepted' }) : world.chain.send(bytes);
        },
      },
    });
    expect(end).toStrictEqual({ kind: 'landed' });
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen.every((bytes) => Buffer.compare(bytes, sent.transaction) === 0)).toBe(true);
  });

  it('have failed once that is finalized', async () => {
    const sent = await closing();
    // Tokens come in before it lands.
    world.node.fundToken({ owner: sent.address, mint: USDC_MINT, amount: 5n });
    const confirmations: string[] = [];
    const { end } = await follow(sent, {
      chain: {
        signatureStatus: async (...args) => {
          world.node.advanceSlots(4);
          const status = await world.chain.signatureStatus(...args);
          if (status !== undefined) confirmations.push(status.confirmation);
          return status;
        },
      },
    });
    expect(end).toMatchObject({ kind: 'failed', code: expect.any(String) as string });
    expect(confirmations.at(-1)).toBe('finalized');
    expect(confirmations.slice(0, -1)).not.toContain('finalized');
    expect(world.node.tokenBalance({ owner: sent.address, mint: USDC_MINT })).toBe(5n);
  });

  it('have expired only where that is proven twice: past their last block, blockhash invalid, nowhere in the history', async () => {
    const sent = await closing();
    const heights: bigint[] = [];
    const { end } = await follow(sent, {
      slots: 3,
      chain: {
        send: () => Promise.resolve({ kind: 'rejected', code: 'Busy', message: 'too many' }),
        finalizedBlockHeight: async () => {
          const height = await world.chain.finalizedBlockHeight();
          heights.push(height);
          return height;
        },
      },
    });
    expect(end).toMatchObject({
      kind: 'expired', message: expect.stringMatching(/never can now; the node said Busy/) as string,
    });
    const proofs = heights.filter((height) => height > sent.lastValidBlockHeight);
    expect(proofs.at(-1)! - proofs[0]!).toBeGreaterThanOrEqual(12n);
    // What was called dead lands nowhere.
    await world.chain.send(sent.transaction);
    world.node.advanceSlots(5);
    expect(world.node.account(sent.account)).toBeDefined();
  });

  it('are asked for on and on while no node answers, and left when nobody waits any more', async () => {
    const sent = await closing();
    let looks = 0;
    const { end, troubles } = await follow(sent, {
      chain: { send: deaf, signatureStatus: () => { looks += 1; return deaf(); } }, isOver: () => looks >= 20,
    });
    expect(end).toBeUndefined();
    expect(new Set(troubles)).toStrictEqual(new Set(['CHAIN_UNREACHABLE']));
    expect(troubles.length).toBeGreaterThanOrEqual(20);
  });
});
