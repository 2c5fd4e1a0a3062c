import { describe, expect, it } from 'vitest';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { LiveWorld, Progress } from '../../src/execution/journey.ts';
import { landAttempt } from '../../src/execution/landing.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Attempt } from '../../src/trading/attempt.ts';
import type { Intent } from '../../src/trading/intent.ts';

// A node of its own make: what a lying or lagging one says cannot be had from the sandbox.

const INTENT: Intent = {
  id: 'diver-1', strategy: 'diver', createdAt: 0, purpose: 'entry', inputMint: USDC_MINT, outputMint: SOL_MINT, amountIn: 1_000_000n as Amount,
  maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route: 'build', reason: 'a test',
};
const ATTEMPT: Attempt = {
  intentId: 'diver-1', number: 1, route: 'build', router: 'build', quotedOut: 5_000_000n as Amount, threshold: 4_900_000n as Amount,
  signature: 'ours', transactionId: 'ours', messageHash: '00', blockhash: 'hash', lastValidBlockHeight: 1_150n, feePayer: 'us',
  signedTransaction: new Uint8Array(1),
};

interface Node {
  readonly height?: () => bigint;
  readonly valid?: () => boolean;
  readonly status?: LiveWorld['chain']['signatureStatus'];
  readonly findBySigner?: LiveWorld['chain']['findBySigner'];
}

function never(): never {
  throw new Error('not asked for here');
}

/** Follows an attempt for a span of virtual time; returns what was told, with the time of each. */
async function follow(node: Node, attempt: Attempt, spanMs: number): Promise<[number, Progress['state']][]> {
  const clock = new VirtualClock(0);
  const world: LiveWorld = {
    clock,
    service: { order: never, build: never, execute: never },
    journal: { intentApproved: never, attemptSigned: never, transition: never, openIntents: never },
    signer: { address: 'us', sign: never },
    chain: {
      compose: never,
      readTransaction: never,
      send: async () => ({ kind: 'accepted' }),
      finalizedBlockHeight: async () => node.height?.() ?? 1_000n,
      isBlockhashValid: async () => node.valid?.() ?? true,
      signatureStatus: node.status ?? (async () => undefined),
      findBySigner: node.findBySigner ?? (async () => undefined),
      landedSwap: async ({ signature }) => ({
        signature, slot: 1n, feeLamports: 5_000n as Lamports, rentLamports: 0n as Lamports, amountIn: INTENT.amountIn, amountOut: 5_000_000n as Amount,
      }),
    },
  };
  const told: [number, Progress['state']][] = [];
  const done = landAttempt(world, INTENT, attempt, ({ state }) => { told.push([clock.now(), state]); });
  const end = { over: false };
  void done.finally(() => { end.over = true; });
  while (!end.over && clock.now() < spanMs) {
    await new Promise((resolve) => { setImmediate(resolve); });
    if (clock.nextAt() !== Infinity) clock.advanceTo(clock.nextAt());
  }
  return told;
}

describe('following an attempt', () => {
  it('does not believe in its death as soon as a node mistakes slots for heights: the bytes have just left', async () => {
    const told = await follow({ height: () => 9_999n, valid: () => false }, ATTEMPT, 40_000);
    expect(told.map(([, state]) => state)).toEqual(['submitted']);
  });

  it('believes in it after a transaction’s life, when height, blockhash and history agree', async () => {
    const told = await follow({ height: () => 1_151n, valid: () => false }, ATTEMPT, 120_000);
    expect(told.map(([, state]) => state)).toEqual(['submitted', 'expired']);
    expect(told[1]![0]).toBeGreaterThanOrEqual(45_000);
  });

  it.each([
    ['the height is the last valid one', { height: () => 1_150n, valid: () => false }],
    ['the blockhash is still valid', { height: () => 1_151n, valid: () => true }],
  ])('waits on where %s', async (_why, node) => {
    expect((await follow(node, ATTEMPT, 120_000)).map(([, state]) => state)).toEqual(['submitted']);
  });

  it('finds a swap that someone else pays for by our own signature, whatever stood in the payer’s slot', async () => {
    const { transactionId: _ours, ...foreign } = { ...ATTEMPT, feePayer: 'maker' };
    const told = await follow({
      findBySigner: async ({ ownSignature }) => (ownSignature === 'ours' ? 'the true id' : undefined),
      status: async (signature) => (signature === 'the true id' ? { slot: 1n, confirmation: 'confirmed' } : undefined),
    }, foreign, 10_000);
    expect(told.map(([, state]) => state)).toEqual(['submitted', 'confirmed']);
  });
});
