import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { Amount } from '../../src/core/amount.ts';
import { collect, executionFixtures } from '../execution/execution-fixture.ts';
import type { ExecutorHarness } from './executor.ts';
import { executorContract } from './executor.ts';
import { makeDearer } from './sandbox-market.ts';

const startFixture = executionFixtures();

/** Above what the embedded market's maker serves, so that the pools quote it. */
const LARGE = 120_000_000_000n as Amount;

executorContract({ name: 'live', create: createLive });

async function createLive(): Promise<ExecutorHarness> {
  const fixture = await startFixture();
  fixture.sandbox.chain.fundToken({ owner: fixture.signer.address, mint: fixture.intent().inputMint, amount: LARGE });
  let signatures = 0;
  const signer: typeof fixture.signer = {
    address: fixture.signer.address,
    sign: (transaction, terms) => {
      signatures += 1;
      return fixture.signer.sign(transaction, terms);
    },
  };
  return {
    executor: createLiveExecutor({ ...fixture, signer }),
    intent: (overrides) => fixture.intent(overrides),
    largeIntent: (overrides) => fixture.intent({ amountIn: LARGE, ...overrides }),
    run: collect,
    worsenPrice: () => { makeDearer(fixture.sandbox.chain, { mint: fixture.intent().outputMint, percent: 10n }); },
    breakQuotes: () => fixture.fault({ path: '/swap/v2/*', fault: { kind: 'status', status: 503 } }),
    leaveOpen: (intent, state) => {
      fixture.journal.intentApproved(intent);
      if (state === 'building') fixture.journal.transition({ kind: 'outcome', intentId: intent.id, attempt: 1, state });
      return { intent, state };
    },
    signatures: () => signatures,
    close: () => fixture.close(),
  };
}
