import { asyncScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { createChain } from '../../src/chain/chain.ts';
import { httpTransport } from '../../src/chain/rpc-client.ts';
import type { Amount } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures, outcomesOf } from './execution-fixture.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionFixture = executionFixtures();

// Real JSON-RPC in front of the real embedded chain, by an address behind which there are several nodes, or a slow one.

const A_LIFE_AND_MORE = 260;
const MAKERS_SIZE = 900_000_000n as Amount;
const LAG = 200;

let fixture: ExecutionFixture;
beforeEach(async () => { fixture = await startExecutionFixture({ slotMs: 10, late: 4 }); });
afterEach(() => fixture.close());

/** An answer of the real node, with what it was asked. */
interface Passing { readonly method: string; readonly result: unknown; readonly call: number }
type Rewrite = (passing: Passing) => unknown;

/** Returns a chain whose answers are rewritten on their way; what is written is passed on as it is. */
function chainThrough(rewrite: Rewrite): Chain {
  const rpcUrl = fixture.sandbox.addresses.rpc_url;
  const node = httpTransport({ rpcUrl });
  let calls = 0;
  return createChain({
    rpcUrl, clock: asyncScheduler,
    transport: {
      async post(body, signal) {
        const { method } = JSON.parse(body) as { method: string };
        const answer = await node.post(body, signal);
        const { result, ...rest } = JSON.parse(answer.body) as { result?: unknown };
        if (result === undefined) return answer;
        calls += 1;
        return { ...answer, body: JSON.stringify({ ...rest, result: rewrite({ method, result, call: calls }) }) };
      },
      close: () => node.close(),
    },
  });
}

/** What a node says that is so many blocks behind, and minds no minContextSlot: it knows nothing of what is new. */
function asLaggard({ method, result }: Passing): unknown {
  if (method === 'getEpochInfo') {
    const info = result as { absoluteSlot: number; blockHeight: number };
    return { ...info, absoluteSlot: info.absoluteSlot - LAG, blockHeight: info.blockHeight - LAG };
  }
  if (method === 'getTransaction') return null;
  if (method === 'getSignaturesForAddress') return [];
  const answer = result as { context?: { slot: number }; value?: unknown };
  if (answer.context === undefined) return result;
  const value = method === 'getSignatureStatuses' ? [null] : method === 'isBlockhashValid' ? false : answer.value;
  return { context: { slot: answer.context.slot - LAG }, value };
}

async function carryOut(intent: Intent, chain: Chain, options: {
  readonly service?: ExecutorPorts['service']; readonly onOutcome?: (outcome: Outcome) => void;
} = {}): Promise<Outcome[]> {
  const before = await fixture.wallet();
  const outcomes = await outcomesOf(
    createLiveExecutor({ ...fixture, chain, service: options.service ?? fixture.service }), intent, options.onOutcome,
  );
  const last = outcomes.at(-1)!;
  expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([last]);
  expect(fixture.landed).toHaveLength(last.state === 'confirmed' ? 1 : 0);
  expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
  await chain.close();
  return outcomes;
}

/** The service executes, and its answer is lost; its last valid block is reached at once. */
const silentService = (onExecuted: () => void, executes = true): ExecutorPorts['service'] => ({
  ...fixture.service,
  execute: async (request) => {
    if (executes) await fixture.service.execute(request);
    onExecuted();
    return { status: 'failed', code: -1_000 };
  },
});

describe.each([
  ['a swap we pay for', {}], ['a swap that a maker pays for', { amountIn: MAKERS_SIZE }],
])('%s, where of two nodes behind one address one is 200 blocks behind', (_kind, kind) => {
  it.each([1, 2, 3])('is found after its last valid block, whichever node answers (%i)', async (seed) => {
    let passed = false;
    const random = seededRandom(`nodes ${seed}`);
    const chain = chainThrough((passing) => (passed && random() < 0.5 ? asLaggard(passing) : passing.result));
    const outcomes = await carryOut(fixture.intent(kind), chain, { service: silentService(() => {
      if (!passed) void fixture.passSlots(A_LIFE_AND_MORE);
      passed = true;
    }) });
    expect(outcomes.at(-1)!.state).toBe('confirmed');
  });

  it('is proven expired by the other node where it never landed', async () => {
    let passed = false;
    // In groups of seven, so that a whole proof now and then is of one node.
    const chain = chainThrough((passing) => (passed && passing.call % 14 < 7 ? asLaggard(passing) : passing.result));
    const outcomes = await carryOut(fixture.intent(kind), chain, { service: silentService(() => {
      if (!passed) void fixture.passSlots(A_LIFE_AND_MORE);
      passed = true;
    }, false) });
    expect(outcomes.at(-1)!.state).toBe('expired');
  }, 180_000);
});

/**
 * Hides a transaction from all searches, until so many calls after its last valid block have been answered.
 */
function lateIndex(hiddenFor: number): { readonly chain: Chain; readonly asked: () => number } {
  let asked = 0;
  let isOver = false;
  const chain = chainThrough(({ method, result }) => {
    if (method === 'isBlockhashValid') isOver = !(result as { value: boolean }).value;
    if (method === 'getSignatureStatuses' && isOver) asked += 1;
    if (asked > hiddenFor) return result;
    if (method === 'getSignatureStatuses') return { ...(result as object), value: [null] };
    if (method === 'getSignaturesForAddress') return [];
    if (method === 'getTransaction') return null;
    return result;
  });
  return { chain, asked: () => asked };
}

describe('a node whose index is late', () => {
  it('is accepted, though it misses a landing in the last valid block for five seconds', async () => {
    // The executor asks every 400 ms.
    const { chain, asked } = lateIndex(12);
    let passed = false;
    const outcomes = await carryOut(fixture.intent(), chain, { service: silentService(() => {
      if (!passed) void fixture.passSlots(A_LIFE_AND_MORE);
      passed = true;
    }) });
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(asked()).toBeGreaterThan(12);
  });

  it('is not accepted while it finds nothing and the wallet lacks the input', async () => {
    const { chain, asked } = lateIndex(60);
    let passed = false;
    const outcomes = await carryOut(fixture.intent(), chain, { service: silentService(() => {
      if (!passed) void fixture.passSlots(A_LIFE_AND_MORE);
      passed = true;
    }) });
    expect(outcomes.some(({ code }) => code === 'PROOF_DISAGREES')).toBe(true);
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(asked()).toBeGreaterThan(60);
  });
});

describe('a node that is always 200 blocks behind', () => {
  it('proves nothing until it has reached the transaction’s last valid block', async () => {
    let lag = LAG;
    const chain = chainThrough((passing) => {
      if (lag === 0) return passing.result;
      if (passing.method !== 'getEpochInfo' && passing.method !== 'isBlockhashValid') return passing.result;
      const behind = asLaggard(passing) as { context?: object; value?: unknown };
      // It is as far behind in everything, so what has expired is still valid there.
      return passing.method === 'isBlockhashValid' ? { ...behind, value: true } : behind;
    });
    let polls = 0;
    const watched: ExecutorPorts['chain'] =
      { ...chain, finalizedBlockHeight: () => { polls += 1; return chain.finalizedBlockHeight(); } };
    const told: string[] = [];
    let passed = false;
    const done = outcomesOf(createLiveExecutor({ ...fixture, chain: watched, service: silentService(() => {
      // Over at the head of the chain, but not 200 blocks before.
      if (!passed) void fixture.passSlots(190);
      passed = true;
    }, false) }), fixture.intent(), ({ state }) => { told.push(state); });
    await expect.poll(() => polls).toBeGreaterThan(5);
    expect(told).toStrictEqual(['building', 'signed', 'submitted']);
    lag = 0;
    await fixture.passSlots(A_LIFE_AND_MORE);
    expect((await done).at(-1)!.state).toBe('expired');
    await chain.close();
  }, 180_000);
});
