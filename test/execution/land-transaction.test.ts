import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { GannetError } from '../../src/core/errors.ts';
import { landTransaction, type TransactionEnd } from '../../src/execution/land-transaction.ts';
import { USDC_MINT } from '../../src/market/token.ts';
import { startChainFixture, type ChainFixture } from '../chain/chain-fixture.ts';
import { impatientClock } from './impatient-clock.ts';

const CLOCK_FACTOR = 200;

let fixture: ChainFixture;
beforeAll(async () => { fixture = await startChainFixture(); }, 60_000);
afterAll(() => fixture.close());

/** A signed transaction that closes the wallet's one empty account. */
type PlainTransaction = Parameters<typeof landTransaction>[1];

async function closing(): Promise<PlainTransaction & { readonly address: string; readonly account: string }> {
  const { address, signer } = fixture.wallet();
  const account = fixture.node.fundToken({ owner: address, mint: USDC_MINT, amount: 0n });
  fixture.node.advanceSlots(2);
  const { composed } = await fixture.chain.composeClosing(address, (await fixture.chain.wallet(address)).accounts);
  const { transaction, signature } = await signer.sign(composed!.transaction);
  return {
    transaction, signature, blockhash: composed!.blockhash, lastValidBlockHeight: composed!.lastValidBlockHeight,
    address, account,
  };
}

const deaf = (): Promise<never> => Promise.reject(new GannetError('CHAIN_UNREACHABLE', 'no answer'));

/** Follows while the chain goes on; `slots` pass before every question. */
async function follow(sent: PlainTransaction, { chain = {}, isCancelled = () => false, slots = 1 }: {
  readonly chain?: Partial<Chain>; readonly isCancelled?: () => boolean; readonly slots?: number;
} = {}): Promise<{ readonly end: TransactionEnd | undefined; readonly troubles: string[] }> {
  const troubles: string[] = [];
  const end = await landTransaction({
    clock: impatientClock(CLOCK_FACTOR),
    chain: {
      ...fixture.chain,
      signatureStatus: (...args) => {
        fixture.node.advanceSlots(slots);
        return fixture.chain.signatureStatus(...args);
      },
      ...chain,
    },
  }, sent, { isCancelled, onFault: ({ code }) => { troubles.push(code); } });
  return { end, troubles };
}

describe('signed bytes that are no swap', () => {
  it('are followed until they are confirmed', async () => {
    const sent = await closing();
    expect(await follow(sent)).toStrictEqual({ end: { kind: 'landed' }, troubles: [] });
    expect(fixture.node.account(sent.account)).toBeUndefined();
  });

  it('are sent repeatedly, and nothing else, where they get lost', async () => {
    const sent = await closing();
    const seen: Uint8Array[] = [];
    const { end } = await follow(sent, {
      chain: {
        send: (bytes) => {
          seen.push(bytes);
          return seen.length < 3 ? Promise.resolve({ kind: 'accepted' }) : fixture.chain.send(bytes);
        },
      },
    });
    expect(end).toStrictEqual({ kind: 'landed' });
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen.every((bytes) => Buffer.compare(bytes, sent.transaction) === 0)).toBe(true);
  });

  it('have failed once the failure is finalized', async () => {
    const sent = await closing();
    // Tokens come in before it lands.
    fixture.node.fundToken({ owner: sent.address, mint: USDC_MINT, amount: 5n });
    const confirmations: string[] = [];
    const { end } = await follow(sent, {
      chain: {
        signatureStatus: async (...args) => {
          fixture.node.advanceSlots(4);
          const status = await fixture.chain.signatureStatus(...args);
          if (status !== undefined) confirmations.push(status.confirmation);
          return status;
        },
      },
    });
    expect(end).toMatchObject({ kind: 'failed', code: expect.any(String) as string });
    expect(confirmations.at(-1)).toBe('finalized');
    expect(confirmations.slice(0, -1)).not.toContain('finalized');
    expect(fixture.node.tokenBalance({ owner: sent.address, mint: USDC_MINT })).toBe(5n);
  });

  it('have expired only after two proofs: past the last block, blockhash invalid, not in the history', async () => {
    const sent = await closing();
    const heights: bigint[] = [];
    const { end } = await follow(sent, {
      slots: 3,
      chain: {
        send: () => Promise.resolve({ kind: 'rejected', code: 'Busy', message: 'too many' }),
        finalizedBlockHeight: async () => {
          const height = await fixture.chain.finalizedBlockHeight();
          heights.push(height);
          return height;
        },
      },
    });
    expect(end).toMatchObject({
      kind: 'expired', message: expect.stringMatching(/can no longer land; the node answered Busy/) as string,
    });
    const proofs = heights.filter((height) => height > sent.lastValidBlockHeight);
    expect(proofs.at(-1)! - proofs[0]!).toBeGreaterThanOrEqual(12n);
    // What was called dead lands nowhere.
    await fixture.chain.send(sent.transaction);
    fixture.node.advanceSlots(5);
    expect(fixture.node.account(sent.account)).toBeDefined();
  });

  it('are checked repeatedly while no node answers, until the caller cancels', async () => {
    const sent = await closing();
    let calls = 0;
    const { end, troubles } = await follow(sent, {
      chain: { send: deaf, signatureStatus: () => { calls += 1; return deaf(); } }, isCancelled: () => calls >= 20,
    });
    expect(end).toBeUndefined();
    expect(new Set(troubles)).toStrictEqual(new Set(['CHAIN_UNREACHABLE']));
    expect(troubles.length).toBeGreaterThanOrEqual(20);
  });
});
