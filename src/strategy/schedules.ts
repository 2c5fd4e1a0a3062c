import type { Observable, OperatorFunction } from 'rxjs';
import { defer, filter, map, merge, mergeMap, of, tap } from 'rxjs';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { TokenAmount } from '../market/token.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import type { StrategyContext } from './context.ts';
import { sliceOf } from './sizing.ts';
import { delay, slotsOf, timer } from './time.ts';

// Swaps by the clock. Each has a key, as the orders have.

/**
 * What becomes of runs that were missed while the bot was down or the machine slept. skip: the next run is the next of
 * the schedule. once: one run at once stands for all. catch-up: each is made up for, at most the last ten.
 */
export type MissedRuns = 'skip' | 'once' | 'catch-up';

const CATCH_UP_MAX = 10;
/** The pause before an abandoned swap is proposed again. */
export const RETRY_EVERY_MS = 5_000;

/** What an operator takes that swaps by the clock, under keys. */
export type Timed = Pick<StrategyContext, 'clock' | 'now' | 'outcomes$' | 'stateful'>;

/**
 * Proposes the swaps again that were abandoned before their signature, after a pause. `proposalOf` returns the swap of
 * a number under its key, undefined where its time is over.
 */
function abandonedAgain(
  context: Timed, key: string, proposalOf: (number: number) => SwapProposal | undefined,
): Observable<SwapProposal> {
  const prefix = `${key}/`;
  return context.outcomes$.pipe(
    // After a further attempt, an earlier one may have been signed under this key.
    filter(({ state, attempt, key: ended }) =>
      state === 'abandoned' && attempt === 1 && ended?.startsWith(prefix) === true),
    delay(context, `${RETRY_EVERY_MS}ms`),
    map(({ key: ended }) => proposalOf(Number(ended!.slice(prefix.length)))),
    filter((proposal) => proposal !== undefined),
  );
}

/** Returns a swap under a key, waited for until a time. */
function keyed(swap: SwapProposal | undefined, key: string, until: Millis): SwapProposal | undefined {
  return swap && { ...swap, key, retry: { until, everyMs: RETRY_EVERY_MS } };
}

/** A schedule of swaps. */
interface Schedule {
  readonly key: string;
  readonly every: string;
  /** Shifts the runs on the grid of the interval since the epoch. */
  readonly offset?: string | undefined;
  readonly missed?: MissedRuns | undefined;
}

/**
 * Swaps at each interval of the clock, once for each run, over restarts too. A refusal that passes is waited for until
 * the next run, and longer where several were missed; a swap that was abandoned is proposed again until the next run.
 * The first run is the first that begins after the first start. Where `swap` returns undefined, the run has no swap.
 */
export function scheduled(
  context: Timed, { key, every, offset, missed = 'skip' }: Schedule,
  swap: (run: number) => SwapProposal | undefined,
): Observable<SwapProposal> {
  const everyMs = parseDuration(every);
  const offsetMs = offset === undefined ? 0 : parseDuration(offset);
  const startOf = (run: number): Millis => run * everyMs + offsetMs;
  const last = context.stateful<number | null, { readonly run: number; readonly before: number | null }>(
    `schedule-${key}`, null, (_, { run }) => run);
  const proposalOf = (run: number, until: Millis): SwapProposal | undefined =>
    keyed(swap(run), `${key}/${run}`, until);
  const due = defer(() => slotsOf(context, everyMs, offsetMs)).pipe(
    map((run) => ({ run, before: last.value })), last,
    mergeMap(({ event: { run, before } }) =>
      dueRuns(run, before, { isPunctual: context.now() === startOf(run), missed })
        .map((each, _index, { length }) => proposalOf(each, startOf(run + length)))),
    filter((proposal) => proposal !== undefined),
  );
  return merge(due, abandonedAgain(context, key, (run) => {
    const next = startOf((missed === 'catch-up' ? last.value ?? run : run) + 1);
    return context.now() < next ? proposalOf(run, next) : undefined;
  }));
}

function dueRuns(run: number, before: number | null, { isPunctual, missed }: {
  readonly isPunctual: boolean; readonly missed: MissedRuns;
}): number[] {
  if (before !== null && run <= before) return [];
  const isOnlyThis = isPunctual && (before === null || before === run - 1);
  if (isOnlyThis || (missed === 'once' && before !== null)) return [run];
  if (before === null || missed === 'skip') return isPunctual ? [run] : [];
  const first = Math.max(before + 1, run - CATCH_UP_MAX + 1);
  return Array.from({ length: run - first + 1 }, (_, index) => first + index);
}

/** A total that is swapped in slices of the same size. */
interface Slices {
  readonly key: string;
  readonly total: TokenAmount;
  readonly slices: number;
  readonly every: string;
  /** Delays each slice by a random part of its interval, at most this one: 0.2 is a fifth. None where absent. */
  readonly jitter?: number | undefined;
}

/**
 * Time-weighted average price: swaps a total in slices of the same size at equal intervals from the first start on, to
 * the smallest unit. A refusal that passes is waited for until the end, one interval after the last slice is due, and a
 * slice that was abandoned is proposed again until then. A slice whose time the bot was down for is left out, and so is
 * one for which `swap` returns undefined. Throws RangeError unless there is a whole number of slices above 0, and a
 * jitter from 0 to 1.
 */
export function twap(
  context: Timed & Pick<StrategyContext, 'random'>, { key, total, slices, every, jitter = 0 }: Slices,
  swap: (size: TokenAmount, slice: number) => SwapProposal | undefined,
): Observable<SwapProposal> {
  if (!(Number.isInteger(slices) && slices > 0)) throw new RangeError(`expected a number of slices, got ${slices}`);
  if (!(jitter >= 0 && jitter <= 1)) throw new RangeError(`expected a jitter from 0 to 1, got ${jitter}`);
  const everyMs = parseDuration(every);
  const begun = context.stateful<number | null, Millis>(`twap-${key}`, null, (known, now) => known ?? now);
  return defer(() => of(context.now())).pipe(begun, mergeMap(({ state }) => {
    const from = state!;
    const until = from + slices * everyMs;
    const proposalOf = (slice: number): SwapProposal | undefined =>
      keyed(swap(sliceOf(total, slice, slices), slice), `${key}/${slice}`, until);
    const delayed = (slice: number): Observable<number> => {
      const delayMs = jitter === 0 ? 0 : Math.floor(context.random() * jitter * everyMs);
      return delayMs === 0 ? of(slice) : of(slice).pipe(delay(context, `${delayMs}ms`));
    };
    const due = slotsOf(context, everyMs, from % everyMs).pipe(
      map((slot) => slot - Math.floor(from / everyMs)),
      filter((slice) => slice < slices && sliceOf(total, slice, slices).amount > 0n),
      mergeMap(delayed),
      map(proposalOf),
      filter((proposal) => proposal !== undefined),
    );
    return merge(due, abandonedAgain(context, key, (slice) =>
      (context.now() < until ? proposalOf(slice) : undefined)));
  }));
}

/** The longest pause before a swap is proposed again, in seconds. */
const LONGEST_PAUSE = 60;

/**
 * Proposes the swap of each number of a stream, of `slots` for example, and again until the next number: where a
 * refusal passes by itself, and where it was abandoned before its signature. The pauses are 1, 2, 4 … seconds, at
 * most a minute. The key is made of `key` and the number, so there is one swap for each, over restarts too. A wait
 * ends with the run; one that survives restarts is the `retry` of a swap. Where `swap` returns undefined, there is
 * none.
 */
export function oncePerSlot(
  context: Pick<StrategyContext, 'clock' | 'denials$' | 'outcomes$'>, key: string,
  swap: (slot: number) => SwapProposal | undefined,
): OperatorFunction<number, SwapProposal> {
  const keyOf = (slot: number): string => `${key}-${slot}`;
  return (source) => defer(() => {
    let present: number | undefined;
    let tries = 0;
    const begun = source.pipe(tap((slot) => {
      present = slot;
      tries = 0;
    }));
    const again = merge(
      context.denials$.pipe(filter(({ isPassing }) => isPassing)),
      context.outcomes$.pipe(filter(({ state }) => state === 'abandoned')),
    ).pipe(
      map((ended) => ({ slot: present, ended: ended.key })),
      filter(({ slot, ended }) => slot !== undefined && ended === keyOf(slot)),
      mergeMap(({ slot }) => timer(context, `${Math.min(2 ** tries++, LONGEST_PAUSE)}s`).pipe(map(() => slot!))),
      filter((slot) => slot === present),
    );
    return merge(begun, again).pipe(
      map((slot) => ({ slot, proposal: swap(slot) })),
      mergeMap(({ slot, proposal }) => (proposal === undefined ? [] : [{ ...proposal, key: keyOf(slot) }])),
    );
  });
}
