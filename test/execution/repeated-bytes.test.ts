import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT } from '../../src/market/token.ts';
import type { SwapOrder } from '../../src/trading/swap-terms.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures, outcomesOf } from './execution-fixture.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionFixture = executionFixtures();

let fixture: ExecutionFixture;
let before: Map<Mint, Amount>;

beforeEach(async () => {
  fixture = await startExecutionFixture({ triesAgain: true });
  before = await fixture.wallet();
});
afterEach(() => fixture.close());

/** A service behind something that keeps answers: the first order is the answer to every question. */
function keepingAnswers(overrides: Partial<ExecutorPorts['service']> = {}): ExecutorPorts['service'] {
  let kept: SwapOrder | undefined;
  return {
    ...fixture.service,
    ...overrides,
    order: async (request) => {
      kept ??= await fixture.service.order(request);
      return kept;
    },
  };
}

describe('bytes that were signed before', () => {
  it('do not count for the next intent: their swap is booked once', async () => {
    const executor = createLiveExecutor({ ...fixture, service: keepingAnswers() });
    const [first, second] = [fixture.intent(), fixture.intent()];
    const outcomes = [...await outcomesOf(executor, first), ...await outcomesOf(executor, second)];
    expect(outcomes.findLast(({ intentId }) => intentId === first.id)).toMatchObject({ state: 'confirmed' });
    expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', code: 'TRANSACTION_REPEATED' });
    expect(fixture.landed).toHaveLength(1);
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [first, second], outcomes));
  });

  it('do not count for the next attempt: the fee of their failure is booked once', async () => {
    const service = keepingAnswers({
      execute: async (request) => {
        if (fixture.landed.length === 0) await fixture.scalePrice(SOL_MINT, 1.02);
        return fixture.service.execute(request);
      },
    });
    const intent = fixture.intent();
    const outcomes = await outcomesOf(createLiveExecutor({ ...fixture, service }), intent);
    expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', attempt: 2, code: 'TRANSACTION_REPEATED' });
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes.slice(-1)));
  });
});
