import { Observable } from 'rxjs';
import type { RunConfig, StrategyConfig } from '../../../src/config/run-config.ts';
import { strategyLimits, watchedBy } from '../../../src/config/run-config.ts';
import { trustingUnchecked } from '../../../src/backtest/recorded-checks.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { LoggedDecision } from '../../../src/engine/decision-log.ts';
import { Engine } from '../../../src/engine/engine.ts';
import type { StrategyInstance } from '../../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { feedKey } from '../../../src/market/feed.ts';
import { outputAt } from '../../../src/market/quote.ts';
import type { StateSnapshot } from '../../../src/trading/engine-state.ts';
import { createState, freshSnapshot, snapshotState } from '../../../src/trading/engine-state.ts';
import type { Intent } from '../../../src/trading/intent.ts';
import type { RestoredStates } from '../../../src/trading/strategy-state.ts';
import { NO_RESTORED_STATES } from '../../../src/trading/strategy-state.ts';
import { fillOf, outcome } from '../../trading/states.ts';

/** A strategy as its configuration sets it up: its own limits, budget and balances. */
export interface EntrySetup {
  readonly config: RunConfig;
  readonly own: StrategyConfig;
}

/** What a run begins with: nothing, or what an earlier one left. */
interface Past {
  readonly startAt: Millis;
  readonly snapshot?: StateSnapshot;
  readonly restored?: RestoredStates;
  readonly under?: ReadonlyMap<string, PendingFill>;
  /** What a warm-up shows. */
  readonly events?: readonly MarketEvent[];
}

interface PendingFill {
  readonly intent: Intent;
  readonly amountOut: bigint;
}

/** A run in virtual time whose swaps take two seconds to fill, at the last price of their approval. */
export interface EntryRun {
  readonly engine: Engine;
  readonly logged: readonly LoggedDecision[];
  /** What it swapped and said, in order, without times, amounts and figures. */
  readonly decided: readonly string[];
  /** Why the engine stopped the strategy; empty where it did not. */
  readonly failures: readonly string[];
  /** Shows events, each at its time. */
  show(events: readonly MarketEvent[]): void;
  /** Ends this run as a kill does, and returns the one that is started after it; `seen` may warm it up. */
  killed(seen: readonly MarketEvent[]): EntryRun;
}

const FILL_MS: Millis = 2_000;
const RESTART_MS: Millis = 1_000;

/** Returns the state of a setup: tokens that only the configuration knows count as checked. */
export function entryState(
  { config, own }: EntrySetup, { snapshot, under }: Pick<Past, 'snapshot' | 'under'> = {},
): ReturnType<typeof createState> {
  return createState({
    tokens: config.tokens, limits: trustingUnchecked(config.limits, config.tokens.all.map(({ mint }) => mint)),
    snapshot: snapshot ?? freshSnapshot(config.backtest.balances),
    open: [...under?.values() ?? []].map(({ intent }) => ({ intent, state: 'submitted' as const })),
    strategies: [{ name: own.name, budget: own.budget, limits: strategyLimits(own) }],
  });
}

/** Returns the events of what a strategy watches. */
export function eventsFor({ own }: Pick<EntrySetup, 'own'>, events: readonly MarketEvent[]): readonly MarketEvent[] {
  const feeds = new Set(watchedBy(own).map(({ spec }) => feedKey(spec)));
  return events.filter(({ feed }) => feeds.has(feed));
}

/** Returns a started run of a setup; `instance` stands for the strategy of the configuration. */
export function entryRun(setup: EntrySetup, instance: StrategyInstance, past: Past): EntryRun {
  const { own: { name } } = setup;
  const state = entryState(setup, past);
  const under = new Map(past.under);
  const logged: LoggedDecision[] = [];
  const decided: string[] = [];
  const failures: string[] = [];
  let savedText = past.restored?.states[name];
  const amountOutOf = ({ inputMint, outputMint, amountIn }: Intent): bigint => {
    const direct = state.market.latestQuote(inputMint, outputMint);
    if (direct !== undefined) return outputAt(direct, amountIn);
    const reverse = state.market.latestQuote(outputMint, inputMint);
    return reverse === undefined ? 100_000_000n
      : outputAt({ inAmount: reverse.outAmount, outAmount: reverse.inAmount }, amountIn);
  };
  const fill = (id: string): void => {
    const { intent, amountOut } = under.get(id)!;
    under.delete(id);
    engine.accept(outcome(intent, 'confirmed', { fill: fillOf(intent, amountOut) }), engine.clock.now());
  };
  const engine: Engine = new Engine({
    state, strategies: [instance], startAt: past.startAt, seed: 7, restored: past.restored ?? NO_RESTORED_STATES,
    listener: {
      onRuling: (_ruling, decision) => {
        logged.push(decision);
        const { proposal, verdict } = decision;
        if (proposal.kind === 'alert') decided.push(`alert ${proposal.message.replace(/\d[\d.]*/g, '#')}`);
        else if (verdict === 'approved')
          decided.push(`${proposal.inputMint} ${proposal.outputMint} ${proposal.key ?? ''}`);
      },
      onStopped: ({ reason, place }) => { failures.push(`${place ?? name}: ${reason}`); },
      onEffect: (effect) => {
        if (effect.kind !== 'execute') return;
        const { intent, strategyState } = effect;
        if (strategyState !== undefined) savedText = strategyState.text;
        under.set(intent.id, { intent, amountOut: amountOutOf(intent) });
        engine.clock.schedule(() => {
          for (const reached of ['building', 'signed', 'submitted'] as const)
            engine.accept(outcome(intent, reached), engine.clock.now());
          fill(intent.id);
        }, FILL_MS);
      },
    },
  });
  if (past.events !== undefined) engine.warmUp(cursorOf(past.events));
  engine.start();
  for (const id of past.under?.keys() ?? []) engine.clock.schedule(() => { fill(id); }, RESTART_MS);
  return {
    engine, logged, decided, failures,
    show(events) {
      for (const event of events) {
        for (let due = engine.clock.nextAt(); due <= event.receivedAt; due = engine.clock.nextAt())
          engine.advanceTo(due);
        engine.accept(event, Math.max(event.receivedAt, engine.clock.now()));
      }
    },
    killed(seen) {
      const text = engine.takeStrategyStates()[0]?.text ?? savedText;
      engine.stop();
      return entryRun(setup, instance, {
        // A warm-up shows what is older than the start.
        startAt: engine.clock.now() + 1, under, events: seen,
        snapshot: JSON.parse(JSON.stringify(snapshotState(state))) as StateSnapshot,
        restored: { states: text === undefined ? {} : { [name]: text }, unseen: [] },
      });
    },
  };
}

/** Returns a cursor over events. */
export function cursorOf(
  events: readonly MarketEvent[],
): { next(): boolean; readonly at: Millis; readonly input: MarketEvent } {
  let place = -1;
  return {
    next: () => ++place < events.length,
    get at() { return events[place]!.receivedAt; },
    get input() { return events[place]!; },
  };
}

/** Returns an instance that counts the live subscriptions of its strategy to inputs, outcomes, refusals and watches. */
export function counted(
  instance: StrategyInstance,
): { readonly instance: StrategyInstance; readonly live: () => number } {
  let live = 0;
  const count = <T>(source: Observable<T>): Observable<T> => new Observable((subscriber) => {
    live += 1;
    const subscription = source.subscribe(subscriber);
    return () => {
      live -= 1;
      subscription.unsubscribe();
    };
  });
  const { strategy } = instance;
  return {
    live: () => live,
    instance: { ...instance, strategy: { ...strategy, run: (streams, params, context) => strategy.run(
      Object.fromEntries(Object.entries(streams).map(([name, stream]) => [name, count(stream)])), params,
      { ...context, outcomes$: count(context.outcomes$), denials$: count(context.denials$),
        fills$: count(context.fills$),
        watch: (input) => count(context.watch(input)) },
    ) } },
  };
}
