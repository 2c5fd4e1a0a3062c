import type { Millis } from '../../../src/core/time.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { Strategy } from '../../../src/strategy/index.ts';
import type { StateSnapshot } from '../../../src/trading/engine-state.ts';
import { freshSnapshot, snapshotState } from '../../../src/trading/engine-state.ts';
import type { RiskLimits } from '../../../src/trading/limits.ts';
import type { RestoredStates } from '../../../src/trading/strategy-state.ts';
import type { Run } from '../../engine/runs.ts';
import { start } from '../../engine/runs.ts';
import { TOKENS } from '../../market/tokens.ts';
import { WALLET } from '../../trading/states.ts';
import { configured, fillAtOnce } from '../instances.ts';

/** What a trial begins with, where it is not the first of its strategy. */
interface Past {
  readonly startAt?: Millis;
  readonly snapshot?: StateSnapshot;
  readonly restored?: RestoredStates;
}

/** A strategy of 500 USDC in virtual time, whose swaps fill at once at the last price of their pair. */
export interface Trial {
  readonly run: Run;
  /** Shows events, each at the time of its receipt. */
  show(...events: readonly MarketEvent[]): Trial;
  /** What it said and swapped, each with its second: "5 alert …", "5 USDC>SOL …", with the code of a refusal. */
  said(): string[];
  /** Ends it as a kill does, and returns the one that is started after it. */
  restarted(): Trial;
}

/** Returns a trial of a strategy with parameters. Throws what its schema throws. */
export function trial(
  strategy: Strategy, params: object, { limits, ...past }: Past & { readonly limits?: Partial<RiskLimits> } = {},
): Trial {
  let savedText = past.restored?.states['diver'];
  const fill = fillAtOnce(() => run.state);
  const run: Run = start([configured(strategy, params, 'diver')], {
    snapshot: freshSnapshot(WALLET), ...past, ...(limits === undefined ? {} : { limits }),
    onEffect: (effect, engine) => {
      if (effect.kind === 'execute') savedText = effect.strategyState?.text ?? savedText;
      fill(effect, engine);
    },
  });
  const advance = (until: Millis): void => {
    const { clock } = run.engine;
    for (let due = clock.nextAt(); due <= until; due = clock.nextAt()) run.engine.advanceTo(due);
    if (clock.now() < until) run.engine.advanceTo(until);
  };
  const itself: Trial = {
    run,
    show(...events) {
      for (const event of events) {
        advance(event.receivedAt);
        run.engine.accept(event, event.receivedAt);
      }
      return itself;
    },
    said: () => run.logged.map(({ at, proposal, verdict, code }) => {
      if (proposal.kind === 'alert') return `${at / 1_000} alert ${proposal.message}`;
      const [from, to] = [proposal.inputMint, proposal.outputMint].map((mint) => TOKENS.byMint(mint)?.symbol ?? mint);
      return `${at / 1_000} ${from}>${to}${verdict === 'approved' ? '' : ` ${code}`}`;
    }),
    restarted() {
      const text = run.engine.takeStrategyStates()[0]?.text ?? savedText;
      run.engine.stop();
      return trial(strategy, params, {
        startAt: run.engine.clock.now(), ...(limits === undefined ? {} : { limits }),
        snapshot: JSON.parse(JSON.stringify(snapshotState(run.state))) as StateSnapshot,
        restored: { states: text === undefined ? {} : { diver: text }, unseen: [] },
      });
    },
  };
  return itself;
}
