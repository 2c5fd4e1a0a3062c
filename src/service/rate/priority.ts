/**
 * Who goes first where requests are scarce: `execute` (landing and reconciling what is signed) before `exit`
 * before `entry` before `watch`.
 */
export const PRIORITIES = ['execute', 'exit', 'entry', 'watch'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Returns whether `a` goes before `b`. */
export function isMoreUrgent(a: Priority, b: Priority): boolean {
  return PRIORITIES.indexOf(a) < PRIORITIES.indexOf(b);
}

/** How one call wants to be treated. */
export interface CallOptions {
  readonly priority?: Priority | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the request leaves, or joins one that has left: from then on it waits for its answer alone. */
  readonly onStart?: (() => void) | undefined;
}
