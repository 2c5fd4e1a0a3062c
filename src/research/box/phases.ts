import { writeSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import type { Millis } from '../../core/time.ts';
import { stopwatch } from '../stopwatch.ts';
import { culprit } from './culprit.ts';

// What a boxed process says about the code of strategies in it: when such code begins and ends to run, and that it goes
// on. The process that started it stops it where it goes on no longer.

/** The pipe to the process that started this one. */
const DESCRIPTOR = 3;
/** Work whose rows take less is asked for the time at every 32nd row alone, so that a check costs next to nothing. */
const BRIEF_MS: Millis = 1;
const LONG_MS: Millis = 20;
const LONGEST_STRIDE = 31;
const EVERY_MS: Millis = 100;
const MEGABYTE = 1_048_576;

/** What strategies do: their files are loaded and their parameters read, or they run. */
type PhaseKind = 'load' | 'run';

/** A strategy of a phase. */
interface PhaseStrategy {
  readonly name: string;
  /** Its name among the project's, or its file; undefined where an earlier phase has said it. */
  readonly use?: string | undefined;
}

let write: ((line: string) => void) | undefined;
/** The strategies that were last said to run or to be loaded, and the files of all. */
let latest: readonly PhaseStrategy[] = [];
const uses = new Map<string, string>();
let phases = 0;
let open = 0;
let stride = 0;
let left = 0;
let checkedAt: Millis = 0;
let saidAt: Millis = 0;

/** Begins to say what strategies do. It belongs at the start of a boxed process; elsewhere it says nothing. */
export function openPhases(descriptor = DESCRIPTOR): void {
  write = (line) => {
    try {
      writeSync(descriptor, `${line}\n`);
    } catch {
      // The other end is gone, and so is this process in a moment.
      write = undefined;
    }
  };
}

/** Says that code of strategies begins to run, and returns the function that says that it ended. */
function enter(kind: PhaseKind, strategies: readonly PhaseStrategy[]): () => void {
  const id = ++phases;
  open += 1;
  latest = strategies;
  for (const { name, use } of strategies) if (use !== undefined) uses.set(name, use);
  const heapMb = Math.round(getHeapStatistics().heap_size_limit / MEGABYTE);
  // A strategy of a run has more members than a phase says.
  const of = strategies.map(({ name, use }) => (use === undefined ? { name } : { name, use }));
  write?.(JSON.stringify({ enter: id, kind, of, heapMb, usedMb: usedMb() }));
  return () => {
    open -= 1;
    write?.(JSON.stringify({ leave: id }));
  };
}

/** Names, for people, the strategy that a place in its code belongs to. */
export function strategyAt(place: string | undefined): string {
  return culprit(latest.map(({ name }) => name), uses, place);
}

/** Does work in which strategies are loaded. */
export async function whileLoading<T>(strategies: readonly PhaseStrategy[], work: () => Promise<T> | T): Promise<T> {
  const leave = enter('load', strategies);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Does work of several turns of the event loop in which strategies run. */
export async function whileWorking<T>(strategies: readonly PhaseStrategy[], work: () => Promise<T>): Promise<T> {
  const leave = enter('run', strategies);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Does work in which strategies run, at once. */
export function whileRunning<T>(strategies: readonly PhaseStrategy[], work: () => T): T {
  const leave = enter('run', strategies);
  try {
    return work();
  } finally {
    leave();
  }
}

/** Returns work in which strategies run, in the same steps. */
export function* runningInChunks<T>(strategies: readonly PhaseStrategy[], steps: ChunkedWork<T>): ChunkedWork<T> {
  const leave = enter('run', strategies);
  try {
    return yield* steps;
  } finally {
    leave();
  }
}

/**
 * Says, now and then, that the strategies go on. It belongs before every row that they get, and before every run of
 * rows of which they take the prices alone.
 */
export function goesOn(): void {
  if (left > 0) left -= 1;
  else check();
}

function check(): void {
  const now = stopwatch();
  const tookMs = now - checkedAt;
  checkedAt = now;
  if (tookMs > LONG_MS) stride = 0;
  else if (tookMs < BRIEF_MS) stride = Math.min(LONGEST_STRIDE, 2 * stride + 1);
  left = stride;
  if (now - saidAt < EVERY_MS || open === 0) return;
  saidAt = now;
  write?.(String(usedMb()));
}

function usedMb(): number {
  return Math.round(getHeapStatistics().used_heap_size / MEGABYTE);
}
