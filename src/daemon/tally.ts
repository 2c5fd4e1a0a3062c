import type { Lamports } from '../core/amount.ts';
import type { Fill, Intent, IntentState, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';

/** An intent with all that is known of it so far. */
export interface IntentRecord {
  readonly intent: Intent;
  readonly state: IntentState;
  readonly router?: string | undefined;
  readonly quotedOut?: bigint | undefined;
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly fill?: Fill | undefined;
}

/** How many finished intents are kept at hand; the journal has them all. */
const RECENT_MAX = 200;

/** Counts what a run did, for the page, the status command and the summary. */
export class Tally {
  readonly #open = new Map<string, IntentRecord>();
  readonly #recent: IntentRecord[] = [];
  readonly byState: Record<string, number> = {};
  readonly denials: Record<string, number> = {};
  decisions = 0;
  alerts = 0;
  feesLamports = 0n as Lamports;
  rentLamports = 0n as Lamports;

  opened(intent: Intent, state: IntentState = 'approved'): void {
    this.#open.set(intent.id, { intent, state });
  }

  /** Takes a transition and returns the intent as it stands now; undefined for one that was never opened here. */
  moved(outcome: Outcome): IntentRecord | undefined {
    const before = this.#open.get(outcome.intentId);
    if (before === undefined) return undefined;
    const record: IntentRecord = {
      intent: before.intent,
      state: outcome.state,
      router: outcome.router ?? before.router,
      quotedOut: outcome.quotedOut ?? before.quotedOut,
      signature: outcome.signature ?? before.signature,
      code: outcome.code,
      reason: outcome.reason,
      fill: outcome.fill,
    };
    if (isTerminal(outcome.state)) this.#close(record, outcome);
    else this.#open.set(outcome.intentId, record);
    return record;
  }

  denied(code: string): void {
    this.denials[code] = (this.denials[code] ?? 0) + 1;
  }

  /** Returns the open intents, oldest first. */
  get open(): IntentRecord[] {
    return [...this.#open.values()];
  }

  /** Returns the finished intents, newest first, up to a few hundred. */
  get recent(): IntentRecord[] {
    return [...this.#recent].reverse();
  }

  #close(record: IntentRecord, outcome: Outcome): void {
    this.#open.delete(outcome.intentId);
    this.#recent.push(record);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    this.byState[outcome.state] = (this.byState[outcome.state] ?? 0) + 1;
    this.feesLamports = (this.feesLamports + (outcome.fill?.feeLamports ?? outcome.feeLamports ?? 0n)) as Lamports;
    this.rentLamports = (this.rentLamports + (outcome.fill?.rentLamports ?? 0n)) as Lamports;
  }
}
