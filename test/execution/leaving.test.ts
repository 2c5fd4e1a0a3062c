import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { collect, executionFixtures } from './execution-fixture.ts';

const startExecutionFixture = executionFixtures();

let fixture: ExecutionFixture;

beforeEach(async () => { fixture = await startExecutionFixture(); });
afterEach(() => fixture.close());

describe('a swap without a subscriber', () => {
  it('is neither checked nor sent again, stays open, and is resolved by the next process', async () => {
    const intent = fixture.intent();
    let calls = 0;
    const counted: ExecutorPorts['chain'] = {
      ...fixture.chain,
      signatureStatus: async () => {
        calls += 1;
        return undefined;
      },
    };
    const outcomes: Outcome[] = [];
    const subscription = createLiveExecutor({ ...fixture, chain: counted }).execute(intent)
      .subscribe((outcome) => { outcomes.push(outcome); });
    await expect.poll(() => calls).toBeGreaterThan(2);
    subscription.unsubscribe();
    await fixture.passSlots(2);
    const [asked, told] = [calls, outcomes.length];
    await new Promise((resolve) => { setTimeout(resolve, 200); });
    expect([calls, outcomes.length]).toStrictEqual([asked, told]);
    expect(fixture.journal.openIntents()).toMatchObject([{ state: 'submitted' }]);
    expect((await collect(createLiveExecutor(fixture).reconcile(fixture.journal.openIntents()))).at(-1))
      .toMatchObject({ state: 'confirmed' });
  });

  it('is not signed where its quote comes later', async () => {
    const quote = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const late: ExecutorPorts['service'] = {
      ...fixture.service,
      order: async (request) => {
        asked.resolve();
        await quote.promise;
        return fixture.service.order(request);
      },
    };
    const subscription = createLiveExecutor({ ...fixture, service: late }).execute(fixture.intent()).subscribe();
    await asked.promise;
    subscription.unsubscribe();
    quote.resolve();
    await new Promise((resolve) => { setTimeout(resolve, 200); });
    expect(fixture.journal.openIntents()).toMatchObject([{ state: 'building', attempts: [] }]);
    expect(fixture.landed).toStrictEqual([]);
  });
});
