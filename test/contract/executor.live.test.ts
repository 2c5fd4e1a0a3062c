import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { Amount } from '../../src/core/amount.ts';
import { collect, executionFixtures } from '../execution/execution-fixture.ts';
import type { ExecutorHarness } from './executor.ts';
import { executorContract } from './executor.ts';
import { makeDearer } from './sandbox-market.ts';

const startExecutionWorld = executionFixtures();

/** Above what the embedded market's maker serves, so that the pools quote it. */
const LARGE = 120_000_000_000n as Amount;

executorContract({ name: 'live', create: createLive });

async function createLive(): Promise<ExecutorHarness> {
  const world = await startExecutionWorld();
  world.sandbox.chain.fundToken({ owner: world.signer.address, mint: world.intent().inputMint, amount: LARGE });
  let signatures = 0;
  const signer: typeof world.signer = {
    address: world.signer.address,
    sign: (transaction, terms) => {
      signatures += 1;
      return world.signer.sign(transaction, terms);
    },
  };
  return {
    executor: createLiveExecutor({ ...world, signer }),
    intent: (overrides) => world.intent(overrides),
    largeIntent: (overrides) => world.intent({ amountIn: LARGE, ...overrides }),
    run: collect,
    worsenPrice: () => { makeDearer(world.sandbox.chain, { mint: world.intent().outputMint, percent: 10n }); },
    breakQuotes: () => world.fault({ path: '/swap/v2/*', fault: { kind: 'status', status: 503 } }),
    leaveOpen: (intent, state) => {
      world.journal.intentApproved(intent);
      if (state === 'building') world.journal.transition({ kind: 'outcome', intentId: intent.id, attempt: 1, state });
      return { intent, state };
    },
    signatures: () => signatures,
    close: () => world.close(),
  };
}
