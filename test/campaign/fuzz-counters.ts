/** Something that should never have happened, and what led to it. */
export interface Violation {
  readonly what: string;
  readonly request: string;
}

/** The sandbox shares the machine with others; a thousand times a usual answer. */
export const SLOWEST_MS = 10_000;

/** What became of the requests so far. */
export interface FuzzCounters {
  /** Answers by door and status. */
  readonly answers: Record<string, number>;
  readonly violations: Violation[];
  slowest: { ms: number; request: string };
  /** Whether the sandbox's process has ended. */
  isDead: boolean;
  count(door: string, result: string | number): void;
  time(ms: number, request: string): void;
  violation(what: string, request: string): void;
}

/** Returns the counters of nothing. */
export function createFuzzCounters(): FuzzCounters {
  const counters: FuzzCounters = {
    answers: {}, violations: [], slowest: { ms: 0, request: '' }, isDead: false,
    count(door, result) {
      counters.answers[`${door} ${result}`] = (counters.answers[`${door} ${result}`] ?? 0) + 1;
    },
    time(ms, request) {
      if (ms > counters.slowest.ms) counters.slowest = { ms: Math.round(ms), request };
      if (ms > SLOWEST_MS) counters.violation(`answered after ${Math.round(ms)} ms`, request);
    },
    violation(what, request) {
      counters.violations.push({ what, request: request.slice(0, 2_000) });
    },
  };
  return counters;
}
