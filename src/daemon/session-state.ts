import type { Millis } from '../core/time.ts';
import type { TokenTable } from '../market/token.ts';
import type { FeedStats } from '../service/feeds/feed-record.ts';
import type { ServiceAccessState } from '../trading/command.ts';
import { describeFeedKey } from './market-text.ts';

/** What the daemon can be asked about itself: `/api/state`, and what `gannet status` shows. */
export interface SessionState {
  readonly run_id: string;
  readonly mode: string;
  readonly phase: string;
  readonly trading: string;
  readonly service_access: AccessState;
  readonly at: Millis;
  readonly seq: number;
  readonly decisions: number;
  readonly decision_hash: string;
  readonly strategies: readonly object[];
  readonly feeds: readonly FeedState[];
  readonly wallet: Readonly<Record<string, string>>;
  readonly intents: { readonly open: readonly object[]; readonly recent: readonly object[]; readonly counts: Readonly<Record<string, number>> };
  readonly denials: Readonly<Record<string, number>>;
}

/** What there is to say of a daemon that has not begun its run yet. */
export type StartingState = Pick<SessionState, 'run_id' | 'phase'>;

/** Whether the service lets the run in. */
export interface AccessState {
  readonly state: ServiceAccessState;
  /** What the service said; null unless it was refused or came back. */
  readonly reason: string | null;
  /** When that began; null where it was never otherwise. */
  readonly since: Millis | null;
}

/** One feed with its counters since the start, as `/api/feeds` lists it. Ages are null before the first answer. */
export interface FeedState {
  readonly feed: string;
  /** For people. */
  readonly watches: string;
  readonly status: string;
  readonly polls: number;
  readonly answers: number;
  readonly failures: number;
  readonly consecutive_failures: number;
  readonly last_answer_at: Millis | null;
  /** How often it is wanted. */
  readonly every_ms: Millis;
  readonly weight: number;
  readonly age_ms: Millis | null;
  /** Over the time since the first answer. */
  readonly mean_age_ms: Millis | null;
  /** The oldest it ever was. */
  readonly max_age_ms: Millis | null;
}

/** Returns the feeds as the control API shows them, in the order of the counters. */
export function feedStates(stats: readonly FeedStats[], tokens: TokenTable): FeedState[] {
  return stats.map(({ feed, status, polls, answers, failures, consecutiveFailures, lastAnswerAt, everyMs, weight, ageMs, meanAgeMs, maxAgeMs }) => ({
    feed,
    watches: describeFeedKey(tokens, feed),
    status, polls, answers, failures,
    consecutive_failures: consecutiveFailures,
    last_answer_at: lastAnswerAt ?? null,
    every_ms: everyMs,
    weight,
    age_ms: wholeMs(ageMs),
    mean_age_ms: wholeMs(meanAgeMs),
    max_age_ms: wholeMs(maxAgeMs),
  }));
}

function wholeMs(span: Millis | undefined): Millis | null {
  return span === undefined ? null : Math.round(span);
}
