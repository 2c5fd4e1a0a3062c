import { asyncScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { createChain } from '../../src/chain/chain.ts';
import { httpTransport } from '../../src/chain/rpc-client.ts';
import type { Amount } from '../../src/core/amount.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { Asked } from '../campaign/lies/lie-kinds.ts';
import { LIES } from '../campaign/lies/lie-kinds.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures, outcomesOf } from './execution-fixture.ts';

const startExecutionFixture = executionFixtures();

// Real JSON-RPC of the real embedded chain, with answers that are changed on their way: one node that lies.

const A_LIFE_AND_MORE = 260;
const MAKERS_SIZE = 900_000_000n as Amount;

let fixture: ExecutionFixture;
beforeEach(async () => { fixture = await startExecutionFixture({ slotMs: 10, late: 4, triesAgain: true }); });
afterEach(() => fixture.close());

/** Tells lies by their names until it is told to stop. */
function lyingChain(
  names: readonly string[],
): { readonly chain: Chain; readonly node: { lies: boolean; readonly answers: () => number } } {
  const lies = LIES.filter(({ about, name }) => names.includes(`${about} ${name}`));
  expect(lies).toHaveLength(names.length);
  const memory = new Map<string, unknown>();
  let answers = 0;
  const node = { lies: true, answers: () => answers };
  const transport = httpTransport({ rpcUrl: fixture.sandbox.addresses.rpc_url });
  const chain = createChain({
    rpcUrl: fixture.sandbox.addresses.rpc_url, clock: asyncScheduler,
    transport: {
      async post(body, signal) {
        const asked = JSON.parse(body) as Asked;
        const answer = await transport.post(body, signal);
        const told = lies.filter(({ methods }) => node.lies && methods.includes(asked.method));
        const { result, ...rest } = JSON.parse(answer.body) as { result?: unknown };
        if (told.length === 0 || result === undefined) return answer;
        answers += 1;
        return { ...answer, body: JSON.stringify({
          ...rest, result: told.reduce<unknown>((value, { falsify }) => falsify(value, asked, memory), result),
        }) };
      },
      close: () => transport.close(),
    },
  });
  return { chain, node };
}

/** Carries a swap out that lands at once; the node stops lying when the intent has ended, or has waited for so long. */
async function carryOut(names: readonly string[], { amountIn, onUnknown = 1, service, parts }: {
  readonly amountIn?: Amount; readonly onUnknown?: number; readonly service?: ExecutorPorts['service'];
  readonly parts?: Partial<ExecutorPorts>;
} = {}): Promise<readonly Outcome[]> {
  const { chain, node } = lyingChain(names);
  let unknowns = 0;
  const outcomes = await outcomesOf(createLiveExecutor({
    ...fixture, ...parts, chain, service: service ?? fixture.service,
  }), fixture.intent(amountIn === undefined ? {} : { amountIn }), ({ state }) => {
    if (state === 'unknown' && ++unknowns >= onUnknown) node.lies = false;
  });
  expect(node.answers()).toBeGreaterThan(0);
  expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([outcomes.at(-1)]);
  await chain.close();
  return outcomes;
}

/** The service executes, and the life of what it executed is over at once. */
function lifeOver(): ExecutorPorts['service'] {
  let passed = false;
  return {
    ...fixture.service,
    execute: async (request) => {
      const answer = await fixture.service.execute(request);
      if (!passed) void fixture.passSlots(A_LIFE_AND_MORE);
      passed = true;
      return answer;
    },
  };
}

/** A purchase of an honest node's, from which the wallet has a history, and a life after it. */
async function purchased(): Promise<void> {
  expect((await outcomesOf(createLiveExecutor(fixture), fixture.intent())).at(-1))
    .toMatchObject({ state: 'confirmed' });
  await fixture.passSlots(A_LIFE_AND_MORE);
}

/**
 * Purchases and sells at once, both signed on what the wallet had a purchase of the same size before; returns both
 * ends.
 */
async function thereAndBack(
  execute: (side: 'purchase' | 'sale', bothSigned: Promise<void>) => ExecutorPorts['service']['execute'],
): Promise<readonly Outcome[]> {
  await purchased();
  const { chain, node } = lyingChain(['balances of before']);
  for (const mint of [USDC_MINT, SOL_MINT]) await chain.tokenBalance(fixture.signer.address, mint);
  await purchased();
  const ledger = await fixture.wallet();
  const { amountIn } = fixture.intent();
  const { outAmount } = await fixture.service.order({
    inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amountIn, taker: fixture.signer.address, slippageBps: 50,
  });
  const bothSigned = Promise.withResolvers<void>();
  let signed = 0;
  const ends = await Promise.all((['purchase', 'sale'] as const).map((side) => outcomesOf(createLiveExecutor({
    ...fixture, chain, service: { ...fixture.service, execute: execute(side, bothSigned.promise) },
    ledger: (mint) => ledger.get(mint), mayTryAgain: () => ({ code: 'TEST', reason: 'one attempt' }),
  }), fixture.intent(side === 'purchase' ? {} : { inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: outAmount }),
    ({ state }) => {
      if (state !== 'signed' || ++signed < 2) return;
      node.lies = false;
      bothSigned.resolve();
    })));
  await chain.close();
  return ends.map((outcomes) => outcomes.at(-1)!);
}

const succeeded = (): number => fixture.landed.filter((landed) => landed.succeeded).length;

describe('issue 13.34: a landed swap that a node reports as failed', () => {
  it.each([
    ['in its status alone', ['statuses failed']],
    [
      'in its status and in the transaction, whose balances moved',
      ['statuses failed', 'transactions failed, with the balances of a success'],
    ],
    ['in its status and in the transaction, balances and all', ['statuses failed', 'transactions failed']],
  ])('is not swapped again: %s', async (_where, names) => {
    const outcomes = await carryOut(names);
    expect(succeeded()).toBe(1);
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed', attempt: 1 });
    expect(outcomes.some(({ state }) => state === 'unknown')).toBe(true);
  });

  it('is not made again, even with a history that could support the report', async () => {
    await purchased();
    const outcomes = await carryOut(['statuses failed', 'transactions failed'], { onUnknown: 3 });
    expect(succeeded()).toBe(2);
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed', attempt: 1 });
  });
});

describe('issue 13.34: a landed swap that a node hides', () => {
  it.each([
    ['in statuses and balances', ['statuses hidden', 'balances of before'], {}],
    ['in statuses and transactions', ['statuses hidden', 'transactions hidden'], {}],
    [
      'in transactions and balances, where a maker pays', ['transactions hidden', 'balances of before'],
      { amountIn: MAKERS_SIZE },
    ],
    [
      'in statuses, as a transaction of a version that it never signs',
      ['statuses hidden', 'transactions of a later version'], {},
    ],
    [
      'as a transaction of a version that it never signs, where a maker pays', ['transactions of a later version'],
      { amountIn: MAKERS_SIZE },
    ],
    [
      'as a transaction of a version that it never signs, and in balances, where a maker pays',
      ['transactions of a later version', 'balances of before'], { amountIn: MAKERS_SIZE },
    ],
    [
      'as a transaction of no version, and in balances, where a maker pays',
      ['transactions of no version', 'balances of before'], { amountIn: MAKERS_SIZE },
    ],
    [
      'in the wallet’s history and balances, where a maker pays',
      ['signatures of the wallet none', 'balances of before'], { amountIn: MAKERS_SIZE },
    ],
  ])('is not proven dead: %s', async (_where, names, kind) => {
    const outcomes = await carryOut(names, { ...kind, service: lifeOver() });
    expect(succeeded()).toBe(1);
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed', attempt: 1 });
  });

  it.each([
    ['transactions', ['statuses hidden', 'transactions hidden']],
    ['the wallet’s history', ['statuses hidden', 'signatures of the wallet none']],
  ])('is not proven dead where the wallet has a history that could speak for it: in statuses and %s', async (
    _where, names,
  ) => {
    await purchased();
    const outcomes = await carryOut(names, { service: lifeOver(), onUnknown: 3 });
    expect(succeeded()).toBe(2);
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed', attempt: 1 });
  });
});

describe('issue 13.34: a swap whose balance was read wrong at the signing', () => {
  it('ends as failed, also beside another one in the opposite direction', async () => {
    let last: Promise<unknown> = Promise.resolve();
    const ends = await thereAndBack((side, bothSigned) => (request) => {
      // One after the other, each at a price that is too bad for it.
      const executed = Promise.all([bothSigned, last]).then(async () => {
        const factor = side === 'purchase' ? 1.05 : 1 / 1.05;
        await fixture.scalePrice(SOL_MINT, factor);
        const answer = await fixture.service.execute(request);
        await fixture.scalePrice(SOL_MINT, 1 / factor);
        return answer;
      });
      last = executed;
      return executed;
    });
    expect(ends).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
  }, 20_000);

  it('ends as expired, also beside another one in the opposite direction', async () => {
    let passed = false;
    const ends = await thereAndBack((_side, bothSigned) => async () => {
      await bothSigned;
      if (!passed) void fixture.passSlots(A_LIFE_AND_MORE);
      passed = true;
      return { status: 'failed', code: -1_000 };
    });
    expect(ends).toMatchObject([{ state: 'expired' }, { state: 'expired' }]);
  }, 20_000);

  it('does not lock its input forever: the ledger decides', async () => {
    const before = await fixture.wallet();
    const { chain, node } = lyingChain(['balances doubled']);
    const lost: ExecutorPorts['service'] = { ...fixture.service, execute: () => {
      void fixture.passSlots(A_LIFE_AND_MORE);
      return Promise.resolve({ status: 'failed', code: -1_000 });
    } };
    const outcomes = await outcomesOf(createLiveExecutor({
      ...fixture, chain, service: lost, mayTryAgain: () => ({ code: 'TEST', reason: 'one attempt' }),
      ledger: (mint) => before.get(mint),
    }), fixture.intent(), ({ state }) => { if (state === 'signed') node.lies = false; });
    expect(outcomes.at(-1)!.state).toBe('expired');
    await chain.close();
  });
});
