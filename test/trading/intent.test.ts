import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import type { Intent, IntentState, Outcome } from '../../src/trading/intent.ts';
import {
  OPEN_STATES, TERMINAL_STATES, TrackedIntents, canTransition, isTerminal, readOutcome,
} from '../../src/trading/intent.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { WALLET, apply, approve, buy, fillOf, outcome, stateWith, strategySetup, verdictOn } from './states.ts';
import { stringifyJson } from '../../src/core/json.ts';

const ALL: readonly IntentState[] = [...OPEN_STATES, ...TERMINAL_STATES];

describe('the states of an intent', () => {
  it('include a path from every open state to a terminal one', () => {
    for (const state of TERMINAL_STATES) {
      expect(isTerminal(state)).toBe(true);
      expect(ALL.filter((to) => canTransition(state, to))).toEqual([]);
    }
    for (const state of OPEN_STATES) {
      expect(isTerminal(state)).toBe(false);
      const reached = new Set<IntentState>([state]);
      for (const at of reached) for (const to of ALL) if (canTransition(at, to)) reached.add(to);
      expect(TERMINAL_STATES.some((terminal) => reached.has(terminal)), state).toBe(true);
    }
  });

  it('allow no abandonment after the signature without proof, and no signature before the build', () => {
    for (const state of ['signed', 'submitted', 'unknown'] as const)
      expect(canTransition(state, 'abandoned')).toBe(false);
    for (const state of ['approved', 'building'] as const) {
      for (const landed of ['confirmed', 'failed', 'expired', 'unknown', 'submitted'] as const)
        expect(canTransition(state, landed)).toBe(false);
    }
    expect(canTransition('approved', 'signed')).toBe(false);
    expect(canTransition('signed', 'building')).toBe(false);
    for (const state of ALL) expect(canTransition(state, 'approved')).toBe(false);
  });
});

describe('an outcome', () => {
  it('of an unknown intent, or outside the state machine, is a bug', () => {
    const state = stateWith();
    const intent = approve(state, buy());
    expect(() => { apply(state, outcome(intent, 'confirmed')); }).toThrow('cannot go from approved to confirmed');
    expect(() => { apply(state, { ...outcome(intent, 'building'), intentId: 'diver-99' }); })
      .toThrow('diver-99, which is not open');
    apply(state, outcome(intent, 'abandoned'));
    expect(() => { apply(state, outcome(intent, 'building')); }).toThrow('not open');
  });

  it('of a failure books only its fee', () => {
    const state = stateWith();
    const intent = approve(state, buy());
    for (const reached of ['building', 'signed', 'submitted'] as const) apply(state, outcome(intent, reached));
    apply(state, outcome(intent, 'failed', { code: '6001', feeLamports: 5_000n as Lamports }));
    expect(state.portfolio.available('diver', USDC.mint)).toBe(500_000_000n);
    expect(state.portfolio.wallet.get(SOL.mint)).toBe(WALLET.get(SOL.mint)! - 5_000n);
    expect(state.portfolio.book('diver')).toMatchObject({ feesLamports: 5_000n, swaps: 0 });
  });

  it.each(['abandoned', 'expired'] as const)('"%s" costs nothing and releases the reservation', (terminal) => {
    const state = stateWith();
    const intent = approve(state, buy());
    if (terminal === 'expired')
      for (const reached of ['building', 'signed'] as const) apply(state, outcome(intent, reached));
    apply(state, outcome(intent, terminal));
    expect(state.portfolio.wallet).toEqual(WALLET);
    expect(state.portfolio.available('diver', USDC.mint)).toBe(500_000_000n);
    expect(state.intents.size).toBe(0);
  });
});

/** What the model knows: the open intents with their states, and what the wallet must hold. */
interface Model {
  readonly open: Map<string, { intent: Intent; state: IntentState }>;
  readonly wallet: Map<Mint, bigint>;
  approvals: number;
}

interface Real {
  readonly state: EngineState;
}

const BUDGETS = [['diver', USDC.mint], ['fisher', FISH.mint], ['holder', SOL.mint]] as const;

class Propose implements fc.Command<Model, Real> {
  readonly #strategy: number;
  readonly #amount: bigint;

  constructor(strategy: number, amount: bigint) {
    this.#strategy = strategy;
    this.#amount = amount;
  }

  check(): boolean {
    return true;
  }

  run(model: Model, { state }: Real): void {
    const [strategy, inputMint] = BUDGETS[this.#strategy]!;
    const outputMint = inputMint === SOL.mint ? USDC.mint : SOL.mint;
    const blocked = [...model.open.values()].some(({ intent }) => intent.inputMint === inputMint);
    const proposal = buy({ inputMint, outputMint, amount: this.#amount as Amount });
    if (blocked) {
      expect(verdictOn(state, proposal, { strategy })).toBe('INTENT_OPEN_FOR_MINT');
    } else if (this.#amount > state.portfolio.available(strategy, inputMint)) {
      expect(verdictOn(state, proposal, { strategy })).toBe('BUDGET_EXCEEDED');
    } else {
      const intent = approve(state, proposal, { strategy });
      model.open.set(intent.id, { intent, state: 'approved' });
      model.approvals += 1;
    }
    expectInvariants(model, state);
  }

  toString(): string {
    return `propose(${this.#strategy}, ${this.#amount})`;
  }
}

class Advance implements fc.Command<Model, Real> {
  readonly #which: number;
  readonly #next: number;
  readonly #out: bigint;
  readonly #fee: bigint;

  constructor(which: number, next: number, out: bigint, fee: bigint) {
    this.#which = which;
    this.#next = next;
    this.#out = out;
    this.#fee = fee;
  }

  check(model: Model): boolean {
    return model.open.size > 0;
  }

  run(model: Model, { state }: Real): void {
    const tracked = [...model.open.values()][this.#which % model.open.size]!;
    const allowed = ALL.filter((to) => canTransition(tracked.state, to)) as Outcome['state'][];
    const next = allowed[this.#next % allowed.length]!;
    const { intent } = tracked;
    const add = (mint: Mint, change: bigint): void => { model.wallet.set(mint, model.wallet.get(mint)! + change); };
    if (next === 'confirmed') {
      apply(state, outcome(intent, next, { fill: fillOf(intent, this.#out, this.#fee) }));
      add(intent.inputMint, -intent.amountIn);
      add(intent.outputMint, this.#out);
      add(SOL.mint, -this.#fee);
    } else if (next === 'failed') {
      apply(state, outcome(intent, next, { feeLamports: this.#fee as Lamports }));
      add(SOL.mint, -this.#fee);
    } else {
      apply(state, outcome(intent, next));
    }
    if (isTerminal(next)) model.open.delete(intent.id);
    else tracked.state = next;
    expectInvariants(model, state);
  }

  toString(): string {
    return `advance(${this.#which}, ${this.#next})`;
  }
}

function expectInvariants(model: Model, state: EngineState): void {
  expect(state.intents.values().map(({ intent }) => intent.id).sort()).toEqual([...model.open.keys()].sort());
  for (const [strategy] of BUDGETS) {
    const book = state.portfolio.book(strategy);
    for (const { mint } of [SOL, USDC, FISH]) {
      const open = [...model.open.values()]
        .filter(({ intent }) => intent.strategy === strategy && intent.inputMint === mint);
      const reserved = open.reduce((sum, { intent }) => sum + intent.amountIn, 0n);
      expect(book.reserved.get(mint) ?? 0n).toBe(reserved);
      expect(state.portfolio.available(strategy, mint) + reserved).toBe(book.balances.get(mint) ?? 0n);
    }
  }
  for (const [mint, expected] of model.wallet) expect(state.portfolio.wallet.get(mint) ?? 0n).toBe(expected);
  expect(state.swapRate.times).toHaveLength(model.approvals);
}

describe('any sequence of proposals and outcomes', () => {
  it('keeps reservations equal to open intents, releases them at the end, and loses no unit', () => {
    const commands = fc.commands([
      fc.tuple(fc.nat(2), fc.bigInt({ min: 1n, max: 1_000n }))
        .map(([strategy, amount]) => new Propose(strategy, amount)),
      fc.tuple(fc.nat(), fc.nat(), fc.bigInt({ min: 0n, max: 10_000n }), fc.bigInt({ min: 0n, max: 5_000n }))
        .map(([which, next, out, fee]) => new Advance(which, next, out, fee)),
    ], { maxCommands: 60 });
    fc.assert(fc.property(commands, (sequence) => {
      fc.modelRun(() => ({
        model: { open: new Map(), wallet: new Map<Mint, bigint>(WALLET), approvals: 0 },
        real: { state: stateWith({ strategies: BUDGETS.map(([name, mint]) =>
          strategySetup(name, { budget: { mint, amount: 1_000n as Amount } })) }) },
      }), sequence);
    }), { numRuns: 200 });
  });
});

const intent = approve(stateWith(), buy());

it.each<Outcome>([
  outcome(intent, 'building'),
  outcome(intent, 'signed', {
    router: 'iris', quotedOut: 18_446_744_073_709_551_615n as Amount, signature: 's',
    lastValidBlockHeight: 9_007_199_254_740_993n, feePayer: 'f',
  }),
  outcome(intent, 'failed', { code: '6001', reason: 'slippage', feeLamports: 5_000n as Lamports }),
  outcome(intent, 'confirmed', { fill: fillOf(intent, 0n) }),
  outcome(intent, 'confirmed', { fill: fillOf(intent, 9_007_199_254_740_993n) }),
])('an outcome is what it was after being written and read: %#', (original) => {
  expect(readOutcome(stringifyJson(original))).toEqual(original);
});

const INTENT = approve(stateWith(), buy());
const intentOf = (id: string): Intent => ({ ...INTENT, id });

it('open intents are found by id, oldest first, until their end', () => {
  const intents = new TrackedIntents();
  for (const id of ['b-1', 'a-1', 'a-2']) intents.add({ intent: intentOf(id), state: 'approved' });
  intents.get('a-1')!.state = 'signed';
  expect(intents.values().map(({ intent, state }) => [intent.id, state]))
    .toEqual([['b-1', 'approved'], ['a-1', 'signed'], ['a-2', 'approved']]);
  intents.delete('a-1');
  intents.delete('a-1');
  expect([intents.size, intents.has('a-1'), intents.has('a-2'), intents.get('a-1')])
    .toEqual([2, false, true, undefined]);
  expect(intents.values().map(({ intent }) => intent.id)).toEqual(['b-1', 'a-2']);
});

it('an iteration over open intents does not see later changes', () => {
  const intents = new TrackedIntents();
  for (const id of ['a-1', 'a-2']) intents.add({ intent: intentOf(id), state: 'approved' });
  const seen: string[] = [];
  for (const { intent: { id } } of intents.values()) {
    seen.push(id);
    intents.delete('a-2');
    if (seen.length === 1) intents.add({ intent: intentOf('a-3'), state: 'approved' });
  }
  expect(seen).toEqual(['a-1', 'a-2']);
  expect(intents.values().map(({ intent }) => intent.id)).toEqual(['a-1', 'a-3']);
});
