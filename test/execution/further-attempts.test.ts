import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Clock } from '../../src/core/time.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { canTransition, isTerminal } from '../../src/trading/intent.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { collect, executionFixtures, outcomesOf } from './execution-fixture.ts';
import { bookedWallet } from './ledger.ts';
import { readable } from '../chain/readable.ts';

const startExecutionFixture = executionFixtures();

const A_LIFE_AND_MORE = 260;

let fixture: ExecutionFixture;

beforeEach(async () => { fixture = await startExecutionFixture({ slotMs: 10, triesAgain: true }); });
afterEach(() => fixture.close());

interface Execution {
  readonly outcomes: readonly Outcome[];
  readonly states: readonly string[];
  readonly last: Outcome;
  readonly signatures: number;
}

/** Carries one intent out; whatever happened, the order of states, the ledger and the count of swaps must be right. */
async function carryOut(
  intent: Intent, parts: Partial<ExecutorPorts> = {}, onOutcome?: (outcome: Outcome) => void,
): Promise<Execution> {
  const before = await fixture.wallet();
  const landedBefore = fixture.landed.length;
  let signatures = 0;
  const signer: ExecutorPorts['signer'] = {
    address: fixture.signer.address,
    sign: (transaction, terms) => {
      signatures += 1;
      expect(terms.attempt).toBe(signatures);
      return (parts.signer ?? fixture.signer).sign(transaction, terms);
    },
  };
  const outcomes = await outcomesOf(createLiveExecutor({ ...fixture, ...parts, signer }), intent, onOutcome);
  const last = outcomes.at(-1)!;
  const landed = fixture.landed.slice(landedBefore);
  outcomes.reduce<Outcome['state'] | 'approved'>((from, { state }) => {
    expect(canTransition(from, state), `${from} to ${state}`).toBe(true);
    return state;
  }, 'approved');
  expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([last]);
  expect(landed.filter(({ succeeded }) => succeeded)).toHaveLength(last.state === 'confirmed' ? 1 : 0);
  expect(await fixture.wallet())
    .toStrictEqual(bookedWallet(before, [intent], outcomes.filter(({ state }) => isTerminal(state))));
  expect(fixture.journal.openIntents()).toStrictEqual([]);
  return { outcomes, states: outcomes.map(({ state }) => state), last, signatures };
}

/** A service after whose order the price moves against it, the first `times` it is executed. */
function movingAway(times: number): ExecutorPorts['service'] {
  const seen = new Set<string>();
  return {
    ...fixture.service,
    execute: async (request) => {
      if (!seen.has(request.requestId) && seen.size < times) await fixture.scalePrice(SOL_MINT, 1.02);
      seen.add(request.requestId);
      return fixture.service.execute(request);
    },
  };
}

describe('a swap that failed for slippage', () => {
  it('issue 13.34: gets one new quote, and books the fees of both attempts, the first with its slot', async () => {
    const { states, outcomes, last, signatures } = await carryOut(fixture.intent(), { service: movingAway(1) });
    expect(states).toStrictEqual(['building', 'signed', 'submitted', 'building', 'signed', 'submitted', 'confirmed']);
    expect(outcomes.map(({ attempt }) => attempt)).toStrictEqual([1, 1, 1, 2, 2, 2, 2]);
    const again = outcomes[3]!;
    expect(again).toMatchObject({ ended: 'failed', code: '6001', signature: fixture.landed[0]!.signature });
    expect(again.feeLamports).toBeGreaterThanOrEqual(5_000n);
    const failed = await fixture.chain.landedSwap({
      signature: again.signature!, owner: fixture.signer.address, inputMint: SOL_MINT, outputMint: USDC_MINT,
    });
    expect(again.slot).toBe(readable(failed)!.slot);
    expect(last.fill!.feeLamports).toBeGreaterThan(again.feeLamports!);
    expect(signatures).toBe(2);
    expect(fixture.journal.listIntents({ limit: 1 })[0]!.attempts)
      .toMatchObject([{ number: 1, state: 'failed' }, { number: 2, state: 'confirmed' }]);
  });

  it('ends after two attempts as an entry and four as an exit, with all fees', async () => {
    for (const [purpose, attempts] of [['entry', 2], ['exit', 4]] as const) {
      const landedBefore = fixture.landed.length;
      const { last, signatures, outcomes } = await carryOut(fixture.intent({ purpose }), { service: movingAway(9) });
      expect([signatures, last.attempt, last.state, last.code]).toStrictEqual([attempts, attempts, 'failed', '6001']);
      expect(last.reason).toContain(`${attempts} attempts were made`);
      expect(fixture.landed.slice(landedBefore)).toHaveLength(attempts);
      expect(last.feeLamports).toBeGreaterThan(
        outcomes.reduce((sum, { state, feeLamports }) => sum + (state === 'building' ? feeLamports ?? 0n : 0n), 0n),
      );
    }
  });

  it('waits for the failure to be finalized before the next signature', async () => {
    let finalAt: string | undefined;
    let failed: string | undefined;
    const signer: ExecutorPorts['signer'] = {
      address: fixture.signer.address,
      sign: async (transaction, terms) => {
        if (terms.attempt === 2) {
          failed = fixture.landed[0]!.signature;
          finalAt = (await fixture.chain.signatureStatus(failed, { searchHistory: true }))!.confirmation;
        }
        return fixture.signer.sign(transaction, terms);
      },
    };
    await carryOut(fixture.intent(), { service: movingAway(1), signer });
    expect(finalAt).toBe('finalized');
  });

  it('keeps the intent’s minimum output: a market below it ends the intent before the second signature', async () => {
    const quote =
      await fixture.service.order({ inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 20_000_000n as Amount });
    const minimumOut = quote.outAmount * 995n / 1_000n as Amount;
    const { states, last, signatures, outcomes } =
      await carryOut(fixture.intent({ minimumOut }), { service: movingAway(1) });
    expect(states.slice(-2)).toStrictEqual(['building', 'abandoned']);
    expect(last).toMatchObject({ attempt: 2, code: 'LIMIT_NOT_MET', feeLamports: outcomes.at(-2)!.feeLamports });
    expect(signatures).toBe(1);
  });

  it('is not tried again where risk refuses, with the reason', async () => {
    const asked: string[] = [];
    const mayTryAgain = (intent: Intent): { code: string; reason: string } => {
      asked.push(intent.id);
      return { code: 'TRADING_HALTED', reason: 'trading is halted' };
    };
    const intent = fixture.intent();
    const { last, signatures } = await carryOut(intent, { service: movingAway(1), mayTryAgain });
    expect(last).toMatchObject({ state: 'failed', code: '6001', attempt: 1 });
    expect(last.reason).toContain('not tried again: trading is halted');
    expect(new Set(asked)).toStrictEqual(new Set([intent.id]));
    expect(signatures).toBe(1);
  });

  it.each([
    ['eight hours later', 28_800_000], ['eight hours before', -28_800_000],
  ])('is not tried again where the clock jumps to %s meanwhile', async (_where, by) => {
    let jump = 0;
    const clock: Clock =
      { now: () => fixture.clock.now() + jump, schedule: fixture.clock.schedule.bind(fixture.clock) };
    const { last, signatures } = await carryOut(
      fixture.intent(), { service: movingAway(1), clock }, ({ state }) => { if (state === 'submitted') jump = by; },
    );
    expect(last).toMatchObject({ state: 'failed', code: '6001' });
    expect(last.reason).toMatch(/was decided -?\d+ s ago/);
    expect(signatures).toBe(1);
  });

  it('is not tried again after any other failure', async () => {
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      landedSwap: async (asked) => {
        const landed = readable(await fixture.chain.landedSwap(asked));
        return landed?.error === undefined ? landed
          : { ...landed, error: { code: '6024', message: 'instruction 3 failed' } };
      },
    };
    const { last, signatures } = await carryOut(fixture.intent(), { service: movingAway(1), chain });
    expect([last.state, last.code, signatures]).toStrictEqual(['failed', '6024', 1]);
    expect(last.reason).not.toContain('tried again');
  });
});

describe('a swap that never landed', () => {
  it('gets a new quote once its expiry is proven, not after a mere report of failure', async () => {
    let first: string | undefined;
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      execute: async (request) => {
        first ??= request.requestId;
        return request.requestId === first ? { status: 'failed', code: -1_000, error: 'Failed to land' }
          : fixture.service.execute(request);
      },
    };
    const asked: string[] = [];
    const { states, outcomes } = await carryOut(fixture.intent(), {
      service: { ...service, order: (request) => { asked.push('order'); return fixture.service.order(request); } },
    }, ({ state, attempt }) => {
      asked.push(`${state} ${attempt}`);
      if (state === 'submitted' && attempt === 1) void fixture.passSlots(A_LIFE_AND_MORE);
    });
    expect(states).toStrictEqual(['building', 'signed', 'submitted', 'building', 'signed', 'submitted', 'confirmed']);
    expect(outcomes[2]).toMatchObject({ code: '-1000' });
    expect(outcomes[3]).toMatchObject({ attempt: 2, ended: 'expired', code: 'EXPIRED' });
    expect(outcomes[3]!.feeLamports).toBeUndefined();
    expect(asked.filter((step) => step === 'order')).toHaveLength(2);
    expect(asked.lastIndexOf('order')).toBe(asked.indexOf('building 2') + 1);
    expect(fixture.journal.listIntents({ limit: 1 })[0]!.attempts)
      .toMatchObject([{ state: 'expired' }, { state: 'confirmed' }]);
  });
});

/** Runs until the journal has taken a transition, and not a step further. */
async function diesAfter(isLast: (outcome: Outcome) => boolean, intent: Intent): Promise<void> {
  const { journal } = fixture;
  const gone = new Error('the process is gone');
  const dying: ExecutorPorts['journal'] = {
    intentApproved: (approved) => { journal.intentApproved(approved); },
    attemptSigned: (attempt) => { journal.attemptSigned(attempt); },
    transition: (outcome) => {
      journal.transition(outcome);
      if (isLast(outcome)) throw gone;
    },
    openIntents: () => journal.openIntents(),
    isSigned: (signature) => journal.isSigned(signature),
    movesSince: (attempt, mint) => journal.movesSince(attempt, mint),
    proofOf: (attempt) => journal.proofOf(attempt),
    keepProof: (attempt, progress) => { journal.keepProof(attempt, progress); },
  };
  await expect(collect(createLiveExecutor({ ...fixture, journal: dying, service: movingAway(1) }).execute(intent)))
    .rejects.toBe(gone);
}

async function recover(): Promise<Outcome[]> {
  const journal = openJournal({ path: fixture.journalPath, clock: fixture.clock });
  const signer: ExecutorPorts['signer'] =
    { address: fixture.signer.address, sign: () => { throw new Error('a recovery signs nothing'); } };
  const outcomes = await collect(createLiveExecutor({ ...fixture, journal, signer }).reconcile(journal.openIntents()));
  expect(journal.openIntents()).toStrictEqual([]);
  journal.close();
  return outcomes;
}

describe('a process that ends between two attempts', () => {
  it.each([
    ['the second was begun', 'building', 'abandoned'],
    ['the second was signed', 'signed', 'confirmed'],
    ['the second was sent', 'submitted', 'confirmed'],
  ] as const)('after %s books the fees of both, to the lamport', async (_when, state, end) => {
    const before: ReadonlyMap<Mint, Amount> = await fixture.wallet();
    const intent = fixture.intent();
    await diesAfter((outcome) => outcome.attempt === 2 && outcome.state === state, intent);
    const [open] = fixture.journal.openIntents();
    expect(open).toMatchObject({ attempt: 2, state });
    expect(open!.spentLamports).toBeGreaterThanOrEqual(5_000n);
    const outcomes = await recover();
    expect(outcomes.at(-1)).toMatchObject({ attempt: 2, state: end });
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
    expect(fixture.landed.filter(({ succeeded }) => succeeded)).toHaveLength(end === 'confirmed' ? 1 : 0);
  });

  it('is recovered with the end of the first attempt: a recovery starts no new one', async () => {
    const before = await fixture.wallet();
    const intent = fixture.intent();
    await diesAfter(({ state }) => state === 'submitted', intent);
    const outcomes = await recover();
    expect(outcomes.at(-1)).toMatchObject({ attempt: 1, state: 'failed', code: '6001' });
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
  });
});

describe('a resolution while the journal waits for its disk', () => {
  it('is refused where the journal holds an earlier attempt', async () => {
    const service = movingAway(1);
    let orders = 0;
    let stale: ReturnType<ExecutorPorts['journal']['openIntents']> = [];
    const second = Promise.withResolvers<void>();
    const executor = createLiveExecutor({
      ...fixture,
      service: {
        ...service,
        order: (...request) => {
          orders += 1;
          if (orders === 1) return service.order(...request);
          second.resolve();
          return new Promise(() => undefined);
        },
      },
      journal: { ...fixture.journal, openIntents: () => stale },
    });
    const intent = fixture.intent({ maxSlippageBps: 10 as Intent['maxSlippageBps'] });
    const outcomes: Outcome[] = [];
    const subscription = executor.execute(intent).subscribe((outcome) => {
      outcomes.push(outcome);
      if (outcome.state === 'submitted') stale = fixture.journal.openIntents();
    });
    await second.promise;
    const told = outcomes.length;
    expect(stale).toMatchObject([{ state: 'submitted', attempt: 1 }]);
    expect(outcomes.at(-1)).toMatchObject({ state: 'building', attempt: 2 });
    await expect(executor.resolve(intent.id, { as: 'expired', reason: 'said' }))
      .rejects.toThrow(/journal knows of attempt 1 only/);
    expect(outcomes).toHaveLength(told);
    subscription.unsubscribe();
  });
});
