import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { LiveWorld } from '../../src/execution/journey.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT } from '../../src/market/token.ts';
import type { SwapOrder } from '../../src/trading/swap-order.ts';
import type { ExecutionWorld } from './execution-world.ts';
import { executionWorlds, outcomesOf } from './execution-world.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionWorld = executionWorlds();

let world: ExecutionWorld;
let before: Map<Mint, Amount>;

beforeEach(async () => {
  world = await startExecutionWorld({ triesAgain: true });
  before = await world.wallet();
});
afterEach(() => world.close());

/** A service behind something that keeps answers: the first order is the answer to every question. */
function keepingAnswers(overrides: Partial<LiveWorld['service']> = {}): LiveWorld['service'] {
  let kept: SwapOrder | undefined;
  return {
    ...world.service,
    ...overrides,
    order: async (request) => {
      kept ??= await world.service.order(request);
      return kept;
    },
  };
}

describe('bytes that were signed before', () => {
  it('are not the next intent’s: what they swapped is booked once', async () => {
    const executor = createLiveExecutor({ ...world, service: keepingAnswers() });
    const [first, second] = [world.intent(), world.intent()];
    const outcomes = [...await outcomesOf(executor, first), ...await outcomesOf(executor, second)];
    expect(outcomes.findLast(({ intentId }) => intentId === first.id)).toMatchObject({ state: 'confirmed' });
    expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', code: 'TRANSACTION_REPEATED' });
    expect(world.landed).toHaveLength(1);
    expect(await world.wallet()).toStrictEqual(bookedWallet(before, [first, second], outcomes));
  });

  it('are not the next attempt’s: the fee of their failure is booked once', async () => {
    const service = keepingAnswers({
      execute: async (request) => {
        if (world.landed.length === 0) await world.scalePrice(SOL_MINT, 1.02);
        return world.service.execute(request);
      },
    });
    const intent = world.intent();
    const outcomes = await outcomesOf(createLiveExecutor({ ...world, service }), intent);
    expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', attempt: 2, code: 'TRANSACTION_REPEATED' });
    expect(await world.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes.slice(-1)));
  });
});
