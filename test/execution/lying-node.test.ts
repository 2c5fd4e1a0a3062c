import { asyncScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { createChain } from '../../src/chain/chain.ts';
import { httpTransport } from '../../src/chain/rpc-client.ts';
import type { Amount } from '../../src/core/amount.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { LiveWorld } from '../../src/execution/journey.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { Asked } from '../campaign/lies/lie-kinds.ts';
import { LIES } from '../campaign/lies/lie-kinds.ts';
import type { ExecutionWorld } from './execution-world.ts';
import { executionWorlds, outcomesOf } from './execution-world.ts';

const startExecutionWorld = executionWorlds();

// Real JSON-RPC of the real embedded chain, with answers that are changed on their way: one node that lies.

const A_LIFE_AND_MORE = 260;
const MAKERS_SIZE = 900_000_000n as Amount;

let world: ExecutionWorld;
beforeEach(async () => { world = await startExecutionWorld({ slotMs: 10, late: 4, triesAgain: true }); });
afterEach(() => world.close());

/** Tells lies by their names until it is told to stop. */
function lyingChain(
  names: readonly string[],
): { readonly chain: Chain; readonly node: { lies: boolean; readonly answers: () => number } } {
  const lies = LIES.filter(({ about, name }) => names.includes(`${about} ${name}`));
  expect(lies).toHaveLength(names.length);
  const memory = new Map<string, unknown>();
  let answers = 0;
  const node = { lies: true, answers: () => answers };
  const transport = httpTransport({ rpcUrl: world.sandbox.addresses.rpc_url });
  const chain = createChain({
    rpcUrl: world.sandbox.addresses.rpc_url, clock: asyncScheduler,
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
  readonly amountIn?: Amount; readonly onUnknown?: number; readonly service?: LiveWorld['service'];
  readonly parts?: Partial<LiveWorld>;
} = {}): Promise<readonly Outcome[]> {
  const { chain, node } = lyingChain(names);
  let unknowns = 0;
  const outcomes = await outcomesOf(createLiveExecutor({
    ...world, ...parts, chain, service: service ?? world.service,
  }), world.intent(amountIn === undefined ? {} : { amountIn }), ({ state }) => {
    if (state === 'unknown' && ++unknowns >= onUnknown) node.lies = false;
  });
  expect(node.answers()).toBeGreaterThan(0);
  expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([outcomes.at(-1)]);
  await chain.close();
  return outcomes;
}

/** The service executes, and the life of what it executed is over at once. */
function lifeOver(): LiveWorld['service'] {
  let passed = false;
  return {
    ...world.service,
    execute: async (request) => {
      const answer = await world.service.execute(request);
      if (!passed) void world.passSlots(A_LIFE_AND_MORE);
      passed = true;
      return answer;
    },
  };
}

const succeeded = (): number => world.landed.filter((landed) => landed.succeeded).length;

describe('issue 13.34: a swap that landed and of which a node says that it failed', () => {
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
});

describe('issue 13.34: a swap that landed and that a node hides', () => {
  it.each([
    ['in statuses and balances', ['statuses hidden', 'balances of before'], {}],
    ['in statuses and transactions', ['statuses hidden', 'transactions hidden'], {}],
    [
      'in transactions and balances, where a maker pays', ['transactions hidden', 'balances of before'],
      { amountIn: MAKERS_SIZE },
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
});

describe('issue 13.34: a swap whose balance was read wrong at the signing', () => {
  it('does not lock its input for ever: the ledger knows what there was', async () => {
    const before = await world.wallet();
    const { chain, node } = lyingChain(['balances doubled']);
    const lost: LiveWorld['service'] = { ...world.service, execute: () => {
      void world.passSlots(A_LIFE_AND_MORE);
      return Promise.resolve({ status: 'failed', code: -1_000 });
    } };
    const outcomes = await outcomesOf(createLiveExecutor({
      ...world, chain, service: lost, mayTryAgain: () => ({ code: 'TEST', reason: 'one attempt' }),
      ledger: (mint) => before.get(mint),
    }), world.intent(), ({ state }) => { if (state === 'signed') node.lies = false; });
    expect(outcomes.at(-1)!.state).toBe('expired');
    await chain.close();
  });
});
