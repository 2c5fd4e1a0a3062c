import type { Amount, Lamports } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import { createPaperExecutor } from '../../src/execution/paper-executor.ts';
import { collect, executionFixtures } from '../execution/execution-fixture.ts';
import type { ExecutorHarness } from './executor.ts';
import { executorContract } from './executor.ts';
import { makeDearer } from './sandbox-market.ts';

const startFixture = executionFixtures();

/** Above what the embedded market's maker serves, so that the pools quote it. */
const LARGE = 120_000_000_000n as Amount;

executorContract({ name: 'paper', create: createPaper });

async function createPaper(): Promise<ExecutorHarness> {
  const fixture = await startFixture();
  return {
    executor: createPaperExecutor({
      service: fixture.service, clock: fixture.clock, random: seededRandom('contract'),
      model: {
        setting: 'base', landLatencyMs: 1_000, feeLamports: () => 5_000n as Lamports, dropProbability: 0,
        expiryMs: 70_000,
      },
    }),
    intent: (overrides) => fixture.intent(overrides),
    largeIntent: (overrides) => fixture.intent({ amountIn: LARGE, ...overrides }),
    run: collect,
    worsenPrice: () => { makeDearer(fixture.sandbox.chain, { mint: fixture.intent().outputMint, percent: 10n }); },
    breakQuotes: () => fixture.fault({ path: '/swap/v2/*', fault: { kind: 'status', status: 503 } }),
    leaveOpen: (intent, state) => ({ intent, state }),
    signatures: () => fixture.landed.length,
    close: () => fixture.close(),
  };
}
