import type { FeedInterval } from '../config/request-rate.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { FeedHealth } from '../market/event.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { Intent } from '../trading/intent.ts';
import type { TradingState } from '../trading/command.ts';
import type { ProtectionChange } from '../trading/protections/protection-change.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { Denial } from '../trading/risk/denial.ts';
import type { IntentRecord } from './tally.ts';
import type { TradingChange } from './trading-board.ts';

/** When something happened in a run. */
export interface Stamp {
  readonly seq: number;
  readonly at: Millis;
}

export interface RunStart {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  /** Whether its swaps move real money. */
  readonly isRealMoney: boolean;
  readonly service: string;
  readonly wallet: string | undefined;
  readonly strategies: readonly { readonly name: string; readonly summary: string; readonly budget: string | undefined }[];
  readonly feeds: readonly FeedInterval[];
  readonly balances: readonly string[];
  readonly limits: readonly string[];
  readonly protections: readonly string[];
  /** Undefined on paper, which signs nothing. `words` are for people. */
  readonly signer: (SignerDescription & { readonly words: readonly string[] }) | undefined;
  readonly controlUrl: string | undefined;
  /** The default port, where another program has it and the control API took the next free one. */
  readonly controlPortTaken: number | undefined;
}

export interface RunSummary {
  readonly runId: string;
  readonly runDir: string;
  readonly durationMs: Millis;
  readonly events: number;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly denials: Readonly<Record<string, number>>;
  readonly intents: Readonly<Record<string, number>>;
  readonly open: readonly string[];
  readonly alerts: number;
  readonly feesLamports: bigint;
  readonly rentLamports: bigint;
  readonly strategies: readonly { readonly name: string; readonly swaps: number; readonly holds: readonly string[]; readonly running: boolean }[];
  readonly recording: string | undefined;
  /** What may be traded as the run ends. */
  readonly trading: TradingState;
}

/** Who tells the user what happens, in words or in JSON lines. */
export interface Reporter {
  started(stamp: Stamp, start: RunStart): void;
  /** An approved proposal: the decision, and the intent it became. */
  decided(decision: LoggedDecision, intent: Intent | undefined): void;
  denied(decision: LoggedDecision, denial: Denial): void;
  intent(stamp: Stamp, record: IntentRecord): void;
  /** An alert of a strategy, or of the run itself where there is none. */
  alert(stamp: Stamp, strategy: string | undefined, alert: AlertProposal): void;
  feed(stamp: Stamp, health: FeedHealth): void;
  /** A change of the run's own state: recovering, trading, draining. */
  state(stamp: Stamp, state: string, message: string): void;
  /** A change of what may be traded. */
  trading(stamp: Stamp, change: TradingChange): void;
  /** A protection that came on or let go. */
  protection(stamp: Stamp, change: ProtectionChange): void;
  summary(stamp: Stamp, summary: RunSummary): void;
}

/** Returns a reporter that tells each of several the same, in their order. */
export function tellAll(reporters: readonly Reporter[]): Reporter {
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
