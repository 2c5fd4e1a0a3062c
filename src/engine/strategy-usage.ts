import type { Millis } from '../core/time.ts';
import type { Proposal } from '../trading/proposal.ts';

/** A strategy that answers each refusal with a new proposal would never let time go on. */
const PROPOSALS_PER_INSTANT_MAX = 1_000;
const PROPOSALS_PER_SECOND_MAX = 2_000;
/** A timer that keeps rescheduling itself at the same instant would never let time go on either. */
const TIMERS_PER_INSTANT_MAX = 1_000;
/** More than people or a disk take. */
const ALERTS_PER_MINUTE_MAX = 600;
const LOG_LINES_PER_MINUTE_MAX = 6_000;
/** Each watch is a place in the state of the engine, and a request at once. */
const WATCHES_PER_MINUTE_MAX = 120;

/** Counts what a strategy uses in the engine's time. Each method returns the bound that was passed, if any. */
interface Usage {
  proposal(proposal: Proposal, now: Millis): string | undefined;
  timer(now: Millis): string | undefined;
  logLine(now: Millis): string | undefined;
  /** Counts the begin of a watch of one feed. */
  watch(now: Millis): string | undefined;
}

/** A count within a window that begins with its first event. */
interface Count {
  readonly spanMs: Millis;
  readonly most: number;
  readonly what: string;
  since: Millis;
  count: number;
}

const count = (what: string, most: number, spanMs: Millis): Count =>
  ({ what, most, spanMs, since: -Infinity, count: 0 });

function passes(window: Count, now: Millis): string | undefined {
  if (now - window.since > window.spanMs) {
    window.since = now;
    window.count = 0;
  }
  window.count += 1;
  return window.count > window.most ? window.what : undefined;
}

/** Returns the counters of one strategy. They depend on the engine's time alone, so a replay passes the same bounds. */
export function createUsage(): Usage {
  const instant = count('it keeps proposing at one instant', PROPOSALS_PER_INSTANT_MAX, 0);
  const second = count(`it makes more than ${PROPOSALS_PER_SECOND_MAX} proposals in a second`,
    PROPOSALS_PER_SECOND_MAX, 1_000);
  const alerts =
    count(`it raises more than ${ALERTS_PER_MINUTE_MAX} alerts in a minute`, ALERTS_PER_MINUTE_MAX, 60_000);
  const timers = count('its timers keep firing at one instant', TIMERS_PER_INSTANT_MAX, 0);
  const lines =
    count(`it logs more than ${LOG_LINES_PER_MINUTE_MAX} lines in a minute`, LOG_LINES_PER_MINUTE_MAX, 60_000);
  const watches =
    count(`it begins to watch more than ${WATCHES_PER_MINUTE_MAX} feeds in a minute`, WATCHES_PER_MINUTE_MAX, 60_000);
  return {
    proposal: ({ kind }, now) =>
      passes(instant, now) ?? passes(second, now) ?? (kind === 'alert' ? passes(alerts, now) : undefined),
    timer: (now) => passes(timers, now),
    logLine: (now) => passes(lines, now),
    watch: (now) => passes(watches, now),
  };
}
