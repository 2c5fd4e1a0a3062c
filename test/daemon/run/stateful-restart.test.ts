import * as fc from 'fast-check';
import { ignoreElements, map, merge, mergeMap } from 'rxjs';
import { expect, it } from 'vitest';
import { replayRun } from '../../../src/backtest/replay.ts';
import { stringifyJson } from '../../../src/core/json.ts';
import { saveStrategyStates } from '../../../src/daemon/run/state-saving.ts';
import { recoverState } from '../../../src/daemon/run/recover.ts';
import { Engine } from '../../../src/engine/engine.ts';
import type { LoggedDecision } from '../../../src/engine/decision-log.ts';
import type { JournalStore } from '../../../src/store/journal.ts';
import type { Intent, Outcome } from '../../../src/trading/intent.ts';
import { isTerminal, readOutcome } from '../../../src/trading/intent.ts';
import type { EngineState } from '../../../src/trading/engine-state.ts';
import { createState, freshSnapshot, snapshotState } from '../../../src/trading/engine-state.ts';
import type { Input } from '../../../src/trading/step.ts';
import { strategy } from '../../engine/runs.ts';
import { buyingSol, PURCHASE } from '../../market/events.ts';
import { SOL_USDC, TOKENS, USDC } from '../../market/tokens.ts';
import { temporaryJournal } from '../../store/fixtures.ts';
import { fillOf, outcome, strategySetup, WALLET, WIDE } from '../../trading/states.ts';

interface Kept {
  readonly prices: number;
  readonly ended: readonly string[];
}

/** Remembers how many prices it saw and which of its swaps ended, and buys whenever it has nothing under way. */
const KEEPER = strategy('keeper', ({ price }, context) => {
  const kept = context.stateful<Kept, Outcome | 'price'>('kept', { prices: 0, ended: [] }, ({ prices, ended }, event) =>
    (
      event === 'price' ? { prices: prices + 1, ended }
        : isTerminal(event.state) ? { prices, ended: [...ended, event.intentId] } : { prices, ended }));
  return merge(
    context.outcomes$.pipe(kept, ignoreElements()),
    price!.pipe(map(() => 'price' as const), kept, mergeMap(({ state }) => (context.openIntents() > 0 ? []
      : [context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, stringifyJson(state), {
        key: `after ${state.prices} prices and ${state.ended.length} ends`,
      })]))),
  );
});

const SETUP = { tokens: TOKENS, limits: WIDE, strategies: [strategySetup('keeper')] };

/** Thrown where a process would die. */
class Crash extends Error {}

/** Between what the process dies: nothing after it happens. */
type Moment = 'journalled' | 'settled' | 'seen';
type Step = { readonly do: 'price' } | { readonly do: 'minute' }
  | { readonly do: 'outcome'; readonly ends: boolean; readonly dies?: Moment | undefined } | { readonly do: 'die' };

/** One process on a journal that outlives it. */
class Life {
  readonly engine: Engine;
  readonly state: EngineState;
  readonly restored;
  readonly open;
  readonly snapshot;
  readonly inputs: { seq: number; at: number; input: Input }[] = [];
  readonly logged: LoggedDecision[] = [];
  started = { after_seq: 0, at: 0 };
  dies: Moment | undefined;
  #at: number;
  readonly #past: Past;

  constructor(past: Past, at: number) {
    this.#past = past;
    this.#at = at;
    const { journal } = past;
    const recovered = recoverState(journal, SETUP, past.lives === 0 ? WALLET : undefined);
    past.lives += 1;
    this.restored = recovered.restored;
    this.open = recovered.open;
    this.snapshot = recovered.snapshot;
    this.state = createState({ ...SETUP, snapshot: recovered.snapshot, open: recovered.open });
    this.engine = new Engine({
      state: this.state, strategies: [KEEPER], startAt: at, seed: 7, restored: recovered.restored,
      listener: {
        onInput: (seq, stamped, input) => { this.#onInput(seq, stamped, input); },
        onRuling: (_ruling, logged) => { this.logged.push(logged); },
        onEffect: (effect) => {
          if (effect.kind !== 'execute') return;
          journal.intentApproved(effect.intent, effect.strategyState);
          past.approved = JSON.parse(effect.strategyState!.text) as { kept: Kept };
        },
      },
    });
  }

  /** As the daemon does: what was open is resolved, then the strategies start. */
  begin(): void {
    for (const { intent, state } of this.open)
      this.end(intent, state === 'approved' || state === 'building' ? 'abandoned' : 'expired');
    this.engine.advanceTo(this.#at);
    this.started = { after_seq: this.engine.seq, at: this.#at };
    this.engine.start();
    saveStrategyStates(
      this.engine, (states) => { this.#past.journal.saveSnapshot(snapshotState(this.state), [], states); },
    );
  }

  play(step: Step): void {
    this.#at += 1_000;
    if (step.do === 'price') this.engine.accept(buyingSol(150_000, this.#at), this.#at);
    else if (step.do === 'minute') saveStrategyStates(
      this.engine, (states) => { this.#past.journal.saveSnapshot(snapshotState(this.state), [], states); },
    );
    else if (step.do === 'die') throw new Crash();
    else this.#moveOn(step);
  }

  end(intent: Intent, as: 'abandoned' | 'expired' | 'confirmed'): void {
    this.#tell(outcome(intent, as, as === 'confirmed' ? { fill: fillOf(intent, 1_000_000n) } : {}));
  }

  #moveOn({ ends, dies }: Extract<Step, { do: 'outcome' }>): void {
    const [tracked] = this.state.intents.values();
    if (tracked === undefined) return;
    this.dies = dies;
    const { intent, state } = tracked;
    if (state === 'approved') this.#tell(outcome(intent, 'building'));
    else if (state === 'building' && !ends) this.#tell(outcome(intent, 'signed'));
    else this.end(intent, state === 'building' ? 'abandoned' : 'confirmed');
    if (dies === 'seen') throw new Crash();
  }

  #tell(told: Outcome): void {
    const { journal, ended } = this.#past;
    journal.transition(told);
    if (isTerminal(told.state)) ended.push(told.intentId);
    if (this.dies === 'journalled') throw new Crash();
    this.engine.accept(told, this.#at);
  }

  /** As the runRecorder does: the state with the outcome in it is saved before the strategies see it. */
  #onInput(seq: number, at: number, input: Input): void {
    this.inputs.push({ seq, at, input });
    if (input.kind !== 'outcome' || !isTerminal(input.state)) return;
    saveStrategyStates(this.engine, (states) => {
      this.#past.journal.saveSnapshot(snapshotState(this.state), [input.intentId], states);
    });
    if (this.dies === 'settled') throw new Crash();
  }
}

/** What outlives a process, and what the test knows of all of them. */
interface Past {
  readonly journal: JournalStore;
  /** Intents in the order in which the journal wrote down their ends. */
  readonly ended: string[];
  approved: { readonly kept: Kept } | undefined;
  lives: number;
}

const dying = fc.constantFrom<Moment>('journalled', 'settled', 'seen');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ do: 'price' } as const) },
  { weight: 6, arbitrary: fc.record({
    do: fc.constant('outcome' as const), ends: fc.boolean(), dies: fc.option(dying, { nil: undefined, freq: 4 }),
  }) },
  { weight: 1, arbitrary: fc.constant({ do: 'minute' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'die' } as const) },
);

function keptBy(journal: JournalStore): Kept {
  return (JSON.parse(journal.loadStrategyStates().states['keeper']!) as { kept: Kept }).kept;
}

/** Returns whether a run decides the same from what its manifest would hold. */
function replays(life: Life): boolean {
  let place = -1;
  const { states, unseen } = life.restored;
  return replayRun({
    state: createState({
      ...SETUP, snapshot: JSON.parse(stringifyJson(life.snapshot)) as typeof life.snapshot, open: life.open,
    }), strategies: [KEEPER], seed: 7, startAt: life.started.at - 1, started: life.started, stopped: null, cutOff: true,
    restored: { states, unseen: unseen.map((one) => readOutcome(stringifyJson(one))) },
    cursor: {
      next: () => ++place < life.inputs.length,
      get seq() { return life.inputs[place]!.seq; },
      get at() { return life.inputs[place]!.at; },
      get input() { return life.inputs[place]!.input; },
    },
    recorded: life.logged.map(({ seq, at, h }) => ({ seq, at, h })),
  }).match;
}

it('after a crash at any point, a strategy continues with all its swaps and sees each end exactly once', () => {
  fc.assert(fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
    const past: Past = { journal: temporaryJournal(), ended: [], approved: undefined, lives: 0 };
    let at = 1_000;
    let life = new Life(past, at);
    life.begin();
    for (const next of [...steps, { do: 'die' } as const]) {
      try {
        life.play(next);
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        expect(replays(life)).toBe(true);
        at += 100_000;
        const { prices, ended } = keptBy(past.journal);
        // Some state that it was in, with all that led to a swap.
        expect(prices).toBeGreaterThanOrEqual(past.approved?.kept.prices ?? 0);
        expect(ended).toEqual(past.ended.slice(0, ended.length));
        expect(ended.length).toBeGreaterThanOrEqual(past.approved?.kept.ended.length ?? 0);
        life = new Life(past, at);
        life.begin();
        expect(keptBy(past.journal).ended).toEqual(past.ended);
      }
    }
    expect(past.journal.unsettledOutcomes()).toEqual([]);
    expect(past.journal.loadStrategyStates().unseen).toEqual([]);
  }), { numRuns: 20 });
});

it('a strategy configured again finds its state and the outcomes in between', () => {
  const past: Past = { journal: temporaryJournal(), ended: [], approved: undefined, lives: 0 };
  const first = new Life(past, 1_000);
  first.begin();
  first.play({ do: 'price' });
  const without = recoverState(past.journal, { ...SETUP, strategies: [strategySetup('renamed')] }, undefined);
  expect(without.restored).toEqual({ states: {}, unseen: [] });
  const { intent } = without.open[0]!;
  past.journal.transition(outcome(intent, 'abandoned'));
  past.journal.saveSnapshot(freshSnapshot(WALLET), [intent.id]);
  const back = new Life(past, 2_000);
  expect(back.restored)
    .toEqual({
      states: { keeper: '{"kept":{"prices":1,"ended":[]}}' },
      unseen: [outcome(intent, 'abandoned', { key: 'after 1 prices and 0 ends' })],
    });
  back.begin();
  expect(keptBy(past.journal)).toEqual({ prices: 1, ended: ['keeper-1'] });
});
