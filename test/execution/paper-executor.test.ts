import { describe, expect, it } from 'vitest';
import { toArray } from 'rxjs';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { createPaperExecutor } from '../../src/execution/paper-executor.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import type { SwapOptions } from '../../src/trading/swap-options.ts';
import type { SwapOrder, SwapRequest } from '../../src/trading/swap-terms.ts';
import { approve, buy, stateWith } from '../trading/states.ts';

const intent = approve(stateWith(), buy());
const order: SwapOrder = {
  inputMint: intent.inputMint, outputMint: intent.outputMint, inAmount: intent.amountIn,
  outAmount: 1_000_000n as Amount, threshold: 1_000_000n as Amount, priceImpact: 0, feeBps: 0, router: 'iris',
};

/** Carries the intent out with a service that answers the numbered questions only; the first is the accepted quote. */
async function outcomesWhere(
  answers: (question: number) => boolean, options?: SwapOptions, asked: SwapRequest[] = [],
): Promise<Outcome[]> {
  const clock = new VirtualClock(0);
  let questions = 0;
  const executor = createPaperExecutor({
    clock,
    random: () => 0.5,
    model: {
      setting: 'base', landLatencyMs: 1_500, dropProbability: 0, expiryMs: 70_000,
      feeLamports: ({ bundleTipLamports = 0n }) => (5_000n + bundleTipLamports) as Lamports,
    },
    ...(options === undefined ? {} : { swapOptions: () => options }),
    service: {
      order: async (request) => {
        questions += 1;
        asked.push(request);
        if (answers(questions)) return order;
        throw new GannetError('SERVICE_TIMEOUT', 'no complete answer within 15000 ms');
      },
    },
  });
  const end: { all?: Outcome[] } = {};
  executor.execute(intent).pipe(toArray()).subscribe((outcomes) => { end.all = outcomes; });
  while (end.all === undefined) {
    await new Promise((resolve) => { setImmediate(resolve); });
    if (clock.nextAt() !== Infinity) clock.advanceTo(clock.nextAt());
  }
  return end.all;
}

describe('paper mode without an answer on arrival', () => {
  it('reports the outcome as unknown until a price comes, and then uses that price', async () => {
    const outcomes = await outcomesWhere((question) => question === 1 || question > 4);
    expect(outcomes.map(({ state }) => state)).toEqual(['building', 'signed', 'submitted', 'unknown', 'confirmed']);
    expect(outcomes[3]).toMatchObject({ code: 'SERVICE_TIMEOUT' });
    expect(outcomes[4]!.fill).toMatchObject({ amountOut: 1_000_000n });
  });

  it('books nothing where no price comes while a transaction could land', async () => {
    const outcomes = await outcomesWhere((question) => question === 1);
    expect(outcomes.map(({ state }) => state)).toEqual(['building', 'signed', 'submitted', 'unknown', 'expired']);
    expect(outcomes.at(-1)).toMatchObject({ code: 'SERVICE_TIMEOUT' });
    expect(outcomes.at(-1)!.feeLamports).toBeUndefined();
  });
});

describe('paper mode with options of a swap', () => {
  it('asks for what changes a price, pays the configured tip, and hands the output to the receiver', async () => {
    const asked: SwapRequest[] = [];
    const outcomes = await outcomesWhere(() => true, {
      isAutomatic: true, build: {},
      order: { excludeRouters: ['rfqz'], excludeDexes: ['Lagoon'], bundleTipLamports: 20_000n, receiver: 'a friend' },
    }, asked);
    expect(asked).toHaveLength(2);
    for (const request of asked) {
      expect(request).toMatchObject({ excludeRouters: ['rfqz'], excludeDexes: ['Lagoon'] });
      expect(request.slippageBps).toBeUndefined();
      expect(Object.keys(request)).not.toContain('receiver');
    }
    expect(outcomes.at(-1)!.fill).toMatchObject({ feeLamports: 25_000n, receiver: 'a friend' });
  });
});
