import type { FeedInterval } from '../../config/request-rate.ts';
import type { Millis } from '../../core/time.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import type { FeedHealth } from '../../market/event.ts';
import type { SignerDescription } from '../../signer/channel/channel-protocol.ts';
import type { Intent } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { ProtectionChange } from '../../trading/protections/memory.ts';
import type { Denial } from '../../trading/limits.ts';
import type { TradingChange } from '../control/trading-view.ts';
import type { IntentRecord, RunSummary } from './counters.ts';

/** The place of an event in a run. */
export interface Stamp {
  readonly seq: number;
  readonly at: Millis;
}

/** What a run reports at its start. */
export interface RunStart {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  /** Whether swaps of this run move real money. */
  readonly isRealMoney: boolean;
  readonly service: string;
  readonly wallet: string | undefined;
  readonly strategies: readonly {
    readonly name: string; readonly summary: string; readonly budget: string | undefined;
  }[];
  readonly feeds: readonly FeedInterval[];
  readonly balances: readonly string[];
  readonly limits: readonly string[];
  readonly protections: readonly string[];
  /** Undefined for paper runs, which sign nothing. `words` are for people. */
  readonly signer: (SignerDescription & { readonly words: readonly string[] }) | undefined;
  readonly controlUrl: string | undefined;
  /** The default port, where it was in use and the control API took the next free one. */
  readonly controlPortTaken: number | undefined;
  /** Makes a link that logs in once: for the operator's terminal alone. Absent without a control API. */
  readonly loginLink?: (() => string) | undefined;
}

/** Reports the events of a run, as text or as JSON lines. */
export interface Reporter {
  started(stamp: Stamp, start: RunStart): void;
  /** An approved proposal, and the intent for it. */
  decided(decision: LoggedDecision, intent: Intent | undefined): void;
  denied(decision: LoggedDecision, denial: Denial): void;
  intent(stamp: Stamp, record: IntentRecord): void;
  /** An alert of a strategy, or of the run where `strategy` is undefined. */
  alert(stamp: Stamp, strategy: string | undefined, alert: AlertProposal): void;
  feed(stamp: Stamp, health: FeedHealth): void;
  /** A change of the run's state: recovering, trading, draining. */
  state(stamp: Stamp, state: string, message: string): void;
  /** A change of what may be traded. */
  trading(stamp: Stamp, change: TradingChange): void;
  /** A protection was triggered or cleared. */
  protection(stamp: Stamp, change: ProtectionChange): void;
  summary(stamp: Stamp, summary: RunSummary): void;
}

/** Hears nothing: what hears some events alone begins with it. */
export const IDLE_REPORTER: Reporter = {
  started: () => undefined, decided: () => undefined, denied: () => undefined, intent: () => undefined,
  alert: () => undefined, feed: () => undefined, state: () => undefined, trading: () => undefined,
  protection: () => undefined, summary: () => undefined,
};

/** Returns a reporter that passes every event to several others, in their order. */
export function reportToAll(reporters: readonly Reporter[]): Reporter {
  return {
    started: (...args) => { for (const each of reporters) each.started(...args); },
    decided: (...args) => { for (const each of reporters) each.decided(...args); },
    denied: (...args) => { for (const each of reporters) each.denied(...args); },
    intent: (...args) => { for (const each of reporters) each.intent(...args); },
    alert: (...args) => { for (const each of reporters) each.alert(...args); },
    feed: (...args) => { for (const each of reporters) each.feed(...args); },
    state: (...args) => { for (const each of reporters) each.state(...args); },
    trading: (...args) => { for (const each of reporters) each.trading(...args); },
    protection: (...args) => { for (const each of reporters) each.protection(...args); },
    summary: (...args) => { for (const each of reporters) each.summary(...args); },
  };
}
