import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Executor, OpenIntent } from '../../src/trading/executor.ts';
import type { Intent, IntentState, Outcome } from '../../src/trading/intent.ts';
import { canTransition, isTerminal } from '../../src/trading/intent.ts';
import { minimumOut } from '../../src/trading/swap-terms.ts';

/** One executor with the market that it trades on, and a hand in both. */
export interface ExecutorHarness {
  readonly executor: Executor;
  /** Returns an intent that this market fills: a fresh id each time, terms that fit. */
  intent(overrides?: Partial<Intent>): Intent;
  /** Returns an intent of a size that moves the price by well over ten basis points. */
  largeIntent(overrides?: Partial<Intent>): Intent;
  /** Carries an intent out to the end, letting time pass; rejects where the executor errors. */
  run(outcomes$: ReturnType<Executor['execute']>, onOutcome?: (outcome: Outcome) => void): Promise<Outcome[]>;
  /** Makes everything that is bought dearer by a tenth, at once. */
  worsenPrice(): void;
  /** From now on the service gives no quotes. */
  breakQuotes(): Promise<void>;
  /** Leaves an intent behind as a process does that ends before anything was signed. */
  leaveOpen(intent: Intent, state: 'approved' | 'building'): OpenIntent;
  /** How many transactions were signed so far; 0 where nothing ever is. */
  signatures(): number;
  close(): Promise<void>;
}

/** Cases that do not hold for an executor, each with the reason. */
export type ExecutorSkips = Readonly<Partial<Record<'reconcile', string>>>;

/**
 * Runs the cases that every executor must pass: the engine, the journal and replay rely on nothing else.
 */
export function executorContract(options: {
  readonly name: string;
  readonly create: () => Promise<ExecutorHarness>;
  readonly skips?: ExecutorSkips;
}): void {
  const { name, create, skips = {} } = options;

  describe(`the contract of executors: ${name}`, () => {
    let harness: ExecutorHarness;
    beforeEach(async () => { harness = await create(); });
    afterEach(() => harness.close());

    const carryOut = async (intent: Intent, onOutcome?: (outcome: Outcome) => void): Promise<Outcome[]> => {
      const outcomes = await harness.run(harness.executor.execute(intent), onOutcome);
      expectOneCourse(intent, outcomes);
      return outcomes;
    };

    for (const route of ['order', 'build'] as const) {
      it(`carries an intent of the route "${route}" from building to confirmed, step by step`, async () => {
        const intent = harness.intent({ route });
        const outcomes = await carryOut(intent);
        expect(outcomes.map(({ state }) => state)).toStrictEqual(['building', 'signed', 'submitted', 'confirmed']);
        const quoted = outcomes.find(({ state }) => state === 'signed')!;
        expect(quoted.quotedOut).toBeGreaterThan(0n);
        expect(quoted.router).toBeTruthy();
        expectFill(intent, outcomes);
      });
    }

    it('reports no fill without a fee or below the minimum of the accepted quote', async () => {
      for (const maxSlippageBps of [1, 10, 50] as Bps[]) {
        const intent = harness.intent({ maxSlippageBps, amountIn: 7_654_321n as Amount });
        expectFill(intent, await carryOut(intent));
      }
    });

    it('does nothing before it has a subscriber', async () => {
      const intent = harness.intent();
      const unheard = harness.executor.execute(intent);
      expect(harness.signatures()).toBe(0);
      const outcomes = await harness.run(unheard);
      expectOneCourse(intent, outcomes);
    });

    it('fails with 6001, pays the fee and swaps nothing where the price moved too far on the way', async () => {
      const intent = harness.intent();
      const outcomes = await carryOut(intent, ({ state }) => {
        if (state === 'signed') harness.worsenPrice();
      });
      const last = outcomes.at(-1)!;
      expect(last).toMatchObject({ state: 'failed', code: '6001' });
      expect(last.fill).toBeUndefined();
      expect(last.feeLamports).toBeGreaterThan(0n);
      expect(last.reason).toBeTruthy();
    });

    it.each([
      ['the price impact is above the cap', 'IMPACT_EXCEEDS_MAX', (): Intent =>
        harness.largeIntent({ maxPriceImpactBps: 1 as Bps })],
      ['the fee is above the cap', 'FEE_EXCEEDS_MAX', (): Intent => harness.intent({ maxFeeBps: 0 as Bps })],
      ['the output is below the strategy’s limit', 'LIMIT_NOT_MET', (): Intent =>
        harness.intent({ minimumOut: 10n ** 18n as Amount })],
    ] as const)('gives up and signs nothing where %s', async (_case, code, create) => {
      const outcomes = await carryOut(create());
      const last = outcomes.at(-1)!;
      expect(outcomes.map(({ state }) => state)).toStrictEqual(['building', 'abandoned']);
      expect(last).toMatchObject({ code });
      expect(last.reason).toMatch(/\d/);
      expect(last.feeLamports).toBeUndefined();
      expect(harness.signatures()).toBe(0);
    });

    it('keeps the strategy’s own floor, however near the market it is', async () => {
      const probe = await carryOut(harness.intent());
      const { amountOut } = probe.at(-1)!.fill!;
      for (const share of [9_900n, 9_970n, 9_999n, 10_001n, 10_100n]) {
        const floor = (amountOut * share) / 10_000n as Amount;
        const intent = harness.intent({ minimumOut: floor });
        const last = (await carryOut(intent)).at(-1)!;
        expect(['confirmed', 'abandoned']).toContain(last.state);
        if (last.state === 'confirmed') expect(last.fill!.amountOut).toBeGreaterThanOrEqual(floor);
        // Closer to the market than the slippage that is allowed, too: then less slippage is asked for.
        if (share <= 9_970n) expect(last.state, String(last.code)).toBe('confirmed');
        if (share === 10_100n) expect(last).toMatchObject({ state: 'abandoned', code: 'LIMIT_NOT_MET' });
      }
    });

    it('gives up with a code, and never errors, without quotes', async () => {
      await harness.breakQuotes();
      for (const route of ['order', 'build'] as const) {
        const outcomes = await carryOut(harness.intent({ route }));
        expect(outcomes.map(({ state }) => state)).toStrictEqual(['building', 'abandoned']);
        expect(outcomes.at(-1)!.code).toMatch(/^[A-Z_]+$/);
        expect(outcomes.at(-1)!.reason).toBeTruthy();
      }
      expect(harness.signatures()).toBe(0);
    });

    it('carries several intents out at once without mixing them up', async () => {
      const intents = [harness.intent(), harness.intent({ route: 'build' }), harness.intent({ maxFeeBps: 0 as Bps })];
      const courses = await Promise.all(intents.map((intent) => harness.run(harness.executor.execute(intent))));
      courses.forEach((outcomes, index) => { expectOneCourse(intents[index]!, outcomes); });
      expect(courses.map((outcomes) => outcomes.at(-1)!.state)).toStrictEqual(['confirmed', 'confirmed', 'abandoned']);
    });

    it('finds nothing to reconcile where nothing was open', async () => {
      expect(await harness.run(harness.executor.reconcile([]))).toStrictEqual([]);
    });

    it('brings every intent that an earlier process left open to one terminal state', async (context) => {
      // A harness that leaves it out says why, and the runner prints it.
      if (skips.reconcile !== undefined) context.skip(skips.reconcile);
      for (const state of ['approved', 'building'] as const) {
        const intent = harness.intent();
        const outcomes = await harness.run(harness.executor.reconcile([harness.leaveOpen(intent, state)]));
        expectCourseFrom(state, intent, outcomes);
        expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', code: 'RESTARTED' });
      }
      expect(harness.signatures()).toBe(0);
    });
  });
}

/**
 * The states follow the closed machine from `approved`, `building` comes first, one is terminal, and it is the last.
 */
function expectOneCourse(intent: Intent, outcomes: readonly Outcome[]): void {
  expect(outcomes[0]?.state).toBe('building');
  expectCourseFrom('approved', intent, outcomes);
}

function expectCourseFrom(start: IntentState, intent: Intent, outcomes: readonly Outcome[]): void {
  let state = start;
  for (const outcome of outcomes) {
    expect(canTransition(state, outcome.state), `${state} to ${outcome.state}`).toBe(true);
    expect(outcome).toMatchObject({ kind: 'outcome', intentId: intent.id, attempt: 1 });
    ({ state } = outcome);
  }
  expect(outcomes.filter((outcome) => isTerminal(outcome.state))).toHaveLength(1);
  expect(isTerminal(state)).toBe(true);
}

function expectFill(intent: Intent, outcomes: readonly Outcome[]): void {
  const { state, fill } = outcomes.at(-1)!;
  expect(state).toBe('confirmed');
  const { quotedOut } = outcomes.find((outcome) => outcome.state === 'signed')!;
  expect(fill).toMatchObject({ inputMint: intent.inputMint, outputMint: intent.outputMint, amountIn: intent.amountIn });
  expect(fill!.amountOut).toBeGreaterThanOrEqual(minimumOut(intent, quotedOut!));
  expect(fill!.amountOut).toBeGreaterThan(0n);
  expect(fill!.feeLamports).toBeGreaterThan(0n);
  expect(fill!.rentLamports).toBeGreaterThanOrEqual(0n);
}
