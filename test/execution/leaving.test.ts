import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { LiveWorld } from '../../src/execution/journey.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import type { ExecutionWorld } from './execution-world.ts';
import { collect, executionWorlds } from './execution-world.ts';

const startExecutionWorld = executionWorlds();

let world: ExecutionWorld;

beforeEach(async () => { world = await startExecutionWorld(); });
afterEach(() => world.close());

describe('a swap that is not waited for any more', () => {
  it('is neither asked for nor sent again, stays open, and the next process resolves it', async () => {
    const intent = world.intent();
    let calls = 0;
    const counted: LiveWorld['chain'] = {
      ...world.chain,
      signatureStatus: async () => {
        calls += 1;
        return undefined;
      },
    };
    const outcomes: Outcome[] = [];
    const journey = createLiveExecutor({ ...world, chain: counted }).execute(intent)
      .subscribe((outcome) => { outcomes.push(outcome); });
    await expect.poll(() => calls).toBeGreaterThan(2);
    journey.unsubscribe();
    await world.passSlots(2);
    const [asked, told] = [calls, outcomes.length];
    await new Promise((resolve) => { setTimeout(resolve, 200); });
    expect([calls, outcomes.length]).toStrictEqual([asked, told]);
    expect(world.journal.openIntents()).toMatchObject([{ state: 'submitted' }]);
    expect((await collect(createLiveExecutor(world).reconcile(world.journal.openIntents()))).at(-1))
      .toMatchObject({ state: 'confirmed' });
  });

  it('is not signed for where its quote comes later', async () => {
    const quote = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const late: LiveWorld['service'] = {
      ...world.service,
      order: async (request) => {
        asked.resolve();
        await quote.promise;
        return world.service.order(request);
      },
    };
    const journey = createLiveExecutor({ ...world, service: late }).execute(world.intent()).subscribe();
    await asked.promise;
    journey.unsubscribe();
    quote.resolve();
    await new Promise((resolve) => { setTimeout(resolve, 200); });
    expect(world.journal.openIntents()).toMatchObject([{ state: 'building', attempts: [] }]);
    expect(world.landed).toStrictEqual([]);
  });
});
