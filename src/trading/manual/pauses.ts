import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { SetPause } from '../engine-command.ts';

/** A time in which entries into a pair, in either direction, or of one strategy are refused. */
export interface Pause {
  readonly pair?: readonly [Mint, Mint] | undefined;
  readonly strategy?: string | undefined;
  readonly since: Millis;
  /** Null where only an operator ends it. */
  readonly until: Millis | null;
  /** For people. */
  readonly reason: string;
}

/** A pause as plain data, which it is. */
export type PauseSnapshot = Pause;

/** Returns the name of what is paused; a pair has one name for both directions. */
function pauseKey({ pair, strategy }: Pick<Pause, 'pair' | 'strategy'>): string {
  return pair === undefined ? strategy ?? '' : pairKey(...pair);
}

function pairKey(one: Mint, other: Mint): string {
  return one < other ? `${one}/${other}` : `${other}/${one}`;
}

/** Returns the pauses of a snapshot by name. */
export function restorePauses(saved: readonly PauseSnapshot[] = []): Map<string, Pause> {
  return new Map(saved.map((pause) => [pauseKey(pause), pause]));
}

/** Begins, changes or ends a pause, and forgets those that are over. */
export function setPause(
  pauses: Map<string, Pause>, { pair, strategy, isPaused, until, reason }: SetPause, at: Millis,
): void {
  for (const [key, pause] of pauses) if (!isOn(pause, at)) pauses.delete(key);
  const key = pauseKey({ pair, strategy });
  if (isPaused) {
    const since = pauses.get(key)?.since ?? at;
    pauses.set(key, { ...(pair === undefined ? { strategy } : { pair }), since, until, reason });
  } else {
    pauses.delete(key);
  }
}

/** Returns the pause of a pair or a strategy at an instant, undefined where there is none. */
export function pauseAt(
  pauses: ReadonlyMap<string, Pause>, what: Pick<Pause, 'pair' | 'strategy'>, at: Millis,
): Pause | undefined {
  const pause = pauses.get(pauseKey(what));
  return pause !== undefined && isOn(pause, at) ? pause : undefined;
}

/** Returns the pauses that hold at an instant, oldest first. */
export function pausesAt(pauses: ReadonlyMap<string, Pause>, at: Millis): Pause[] {
  return [...pauses.values()].filter((pause) => isOn(pause, at));
}

function isOn({ until }: Pause, at: Millis): boolean {
  return until === null || at < until;
}
