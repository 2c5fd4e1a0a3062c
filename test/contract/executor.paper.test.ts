import type { Amount, Lamports } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import { createPaperExecutor } from '../../src/execution/paper-executor.ts';
import { collect, executionFixtures } from '../execution/execution-fixture.ts';
import type { ExecutorHarness } from './executor.ts';
import { executorContract } from './executor.ts';
import { makeDearer } from './sandbox-market.ts';

const startExecutionWorld = executionFixtures();

/** Above what the embedded market's maker serves, so that the pools quote it. */
const LARGE = 120_000_000_000n as Amount;

executorContract({ name: 'paper', create: createPaper });

async function createPaper(): Promise<ExecutorHarness> {
  const world = await startExecutionWorld();
  return {
    executor: createPaperExecutor({
      service: world.service, clock: world.clock, random: seededRandom('contract'),
      model: {
        setting: 'base', landLatencyMs: 1_000, feeLamports: 5_000n as Lamports, dropProbability: 0, expiryMs: 70_000,
      },
    }),
    intent: (overrides) => world.intent(overrides),
    largeIntent: (overrides) => world.intent({ amountIn: LARGE, ...overrides }),
    run: collect,
    worsenPrice: () => { makeDearer(world.sandbox.chain, { mint: world.intent().outputMint, percent: 10n }); },
    breakQuotes: () => world.fault({ path: '/swap/v2/*', fault: { kind: 'status', status: 503 } }),
    leaveOpen: (intent, state) => ({ intent, state }),
    signatures: () => world.landed.length,
    close: () => world.close(),
  };
}
