import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { placeIn } from '../../core/throw-place.ts';
import type { Millis } from '../../core/time.ts';
import {
  endedReason, exhaustedReason, lateCallReason, lateLoadReason, LOAD_FACTOR, ownMegabytes, processorMs, saysHeapIsFull,
} from '../../core/watched-process.ts';
import { stopwatch } from '../stopwatch.ts';
import { culprit } from './culprit.ts';
import { passOutput } from './pass-output.ts';

/** The most processor time in which strategies must go on: one row, one timer, one start, or the load of one file. */
const LIMIT_MS: Millis = 10_000;
const POLL_MS: Millis = 50;
/** The time in which a process that awaits no answer may be idle once strategies have run in it. */
const IDLE_MS: Millis = 30_000;
/** What a process uses of the processor while it does nothing. */
const IDLE_SHARE = 0.01;
/** Node says where the code is as soon as the code calls something or begins a round of a loop. */
const LAST_WORDS_MS: Millis = 3_000;
/** What grows more briefly is no sign that the memory runs out. */
const GROWTH_MS: Millis = 200;
const GROWTH_SHARE = 0.6;
/** V8 adds its young generation to the limit of the heap. */
const YOUNG_MB = 96;
const WORDS_MAX = 1_048_576;
const LINE_MAX = 65_536;
const NAMES_MAX = 1_000;
/** With these words Node begins to say why it ends. */
const LAST_WORDS = /^(?:<--- Last few GCs|FATAL ERROR: |KEYBOARD_INTERRUPT: )/m;
/** The exit codes that the project's own code ends a boxed process with; no other one is in order. */
const OWN_CODES: ReadonlySet<number | null> = new Set([0, 1, 2, 130]);
/** No code in a box can send these. */
const FROM_OUTSIDE: ReadonlySet<string | null> = new Set(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']);

const name = z.string().max(200);
const megabytes = z.number().nonnegative();
/** What a boxed process may say about its strategies. It may be hostile: nothing else is read. */
const SAID = z.union([
  megabytes,
  z.strictObject({
    enter: z.int(), kind: z.enum(['load', 'run']), heapMb: megabytes, usedMb: megabytes,
    of: z.array(z.strictObject({ name, use: z.string().max(4_096).optional() })).max(NAMES_MAX),
  }),
  z.strictObject({ leave: z.int() }),
]);
type Entered = Extract<z.infer<typeof SAID>, { readonly enter: number }>;

/** Why the code of a strategy was stopped together with its process. */
interface StrategyStop {
  readonly code: 'STRATEGY_ENDED' | 'STRATEGY_MEMORY' | 'STRATEGY_TIMEOUT';
  /** For people: "strategy dip", or the several that it may have been. */
  readonly who: string;
  readonly reason: string;
  /** The author's line where it is known. */
  readonly place?: string | undefined;
}

/** The end of a boxed process. */
export interface BoxEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Set where a strategy caused it. */
  readonly stop?: StrategyStop | undefined;
}

/** A boxed process that is watched. */
export interface SupervisedBox {
  /** Resolves when the process is gone and its output is read. */
  readonly ended: Promise<BoxEnd>;
  /** Whether code of a strategy runs in it. */
  readonly isInStrategy: () => boolean;
}

/** Returns a stop for people: "strategy dip: it took longer than 10 s for one call, at dip.ts:6:72". */
export function stopText({ who, reason, place }: StrategyStop): string {
  return `${who}: ${reason}${place === undefined ? '' : `, at ${place}`}`;
}

/** The use of a process at the instant when it last said that its strategies go on. */
interface Mark {
  readonly at: Millis;
  readonly processorMs: Millis | undefined;
  readonly ownMb: number;
}

/**
 * Watches a boxed process: passes on its output, ends it where a strategy goes on no longer or fills the memory, and
 * reads from the last words of Node where the strategy was. Only time of the processor counts, as long as a strategy
 * uses any. With `isWaiting`, it also ends a process that strategies have left in a state in which it neither works nor
 * ends, for example without the functions of JavaScript that it needs.
 */
export function superviseBox(child: ChildProcess, { out, err, limitMs = LIMIT_MS, idleMs = IDLE_MS, isWaiting }: {
  readonly out: Writable;
  readonly err: Writable;
  readonly limitMs?: Millis | undefined;
  readonly idleMs?: Millis | undefined;
  /** Whether another process still has to answer it. Left out, it may be idle for as long as it likes. */
  readonly isWaiting?: (() => boolean) | undefined;
}): SupervisedBox {
  const open = new Map<number, Entered>();
  /** The strategies that have run in it. */
  const known = new Set<string>();
  const uses = new Map<string, string>();
  let heapMb = 0;
  let usedMb = 0;
  let words: string | undefined;
  let mark: Mark | undefined;
  let idleSince: Mark | undefined;
  let isSuspect = false;
  let stopping: Pick<StrategyStop, 'code' | 'reason'> | undefined;
  let interruptedAt: Mark | undefined;

  const sift = (text: string): string => {
    if (words === undefined) {
      const begin = text.search(LAST_WORDS);
      if (begin < 0) return text;
      words = text.slice(begin);
      return text.slice(0, begin);
    }
    words += text;
    if (words.length <= WORDS_MAX) return '';
    // Too much to be Node's.
    const all = words;
    words = undefined;
    return all;
  };
  const output = passOutput(child.stdout!, out, (text) => text);
  const errors = passOutput(child.stderr!, err, sift);

  readLines(child.stdio[3] as Readable, (line) => {
    const said = saidIn(line);
    mark = undefined;
    if (said === undefined) return;
    if (typeof said === 'number') usedMb = said;
    else if ('leave' in said) open.delete(said.leave);
    else if (open.size < NAMES_MAX) {
      open.set(said.enter, said);
      ({ heapMb, usedMb } = said);
      for (const { name: own, use } of said.of) {
        if (known.size < NAMES_MAX) known.add(own);
        if (use !== undefined && uses.size < NAMES_MAX) uses.set(own, use);
      }
    }
  });

  const interrupt = (why: Pick<StrategyStop, 'code' | 'reason'>): void => {
    stopping = why;
    interruptedAt = markOf(child.pid);
    child.kill('SIGINT');
  };
  const watchIdle = (): void => {
    const mayWork = known.size === 0 || open.size > 0 || output.isBlocked() || errors.isBlocked();
    if (mayWork || isWaiting === undefined || isWaiting()) {
      idleSince = undefined;
      return;
    }
    const now = markOf(child.pid);
    idleSince ??= now;
    const spentMs = now.at - idleSince.at;
    const usedMs = (now.processorMs ?? Infinity) - (idleSince.processorMs ?? 0);
    if (spentMs < idleMs) return;
    if (usedMs > spentMs * IDLE_SHARE) {
      idleSince = now;
      return;
    }
    stopping = { code: 'STRATEGY_ENDED', reason: idleReason(idleMs) };
    child.kill('SIGKILL');
  };
  const watch = (): void => {
    watchIdle();
    if (interruptedAt !== undefined) {
      if (isOver(interruptedAt, markOf(child.pid), LAST_WORDS_MS)) child.kill('SIGKILL');
      return;
    }
    // A process whose output is not taken waits without a fault.
    if (open.size === 0 || output.isBlocked() || errors.isBlocked()) mark = undefined;
    if (mark === undefined) {
      isSuspect = false;
      if (open.size > 0) mark = markOf(child.pid);
      return;
    }
    const now = markOf(child.pid);
    const isLate = isOver(mark, now, limitMs);
    const isFull = isOver(mark, now, GROWTH_MS)
      && now.ownMb - mark.ownMb >= GROWTH_SHARE * Math.max(YOUNG_MB, heapMb - YOUNG_MB - usedMb);
    if (!isLate && !isFull) isSuspect = false;
    else if (!isSuspect) isSuspect = true; // What it has said in the meantime is read before it is stopped.
    else if (isFull) interrupt({ code: 'STRATEGY_MEMORY', reason: exhaustedReason(heapMb) });
    else interrupt({ code: 'STRATEGY_TIMEOUT', reason: [...open.values()].at(-1)!.kind === 'load'
      ? lateLoadReason(limitMs) : lateCallReason(limitMs) });
  };
  const timer = setInterval(watch, POLL_MS);

  const stopOf = (code: number | null, signal: NodeJS.Signals | null): StrategyStop | undefined => {
    const said = words?.slice(Math.max(0, words.lastIndexOf('KEYBOARD_INTERRUPT'))) ?? '';
    const place = placeIn(said);
    const running = [...open.values()].flatMap(({ of }) => of.map((each) => each.name));
    const names = running.length > 0 ? running : [...known];
    const told = { who: culprit(names, uses, place), ...(place === undefined ? {} : { place }) };
    if (stopping !== undefined) return { ...stopping, ...told };
    if (open.size === 0 || OWN_CODES.has(code) || FROM_OUTSIDE.has(signal)) return undefined;
    if (saysHeapIsFull(said)) return { code: 'STRATEGY_MEMORY', reason: exhaustedReason(heapMb), ...told };
    return { code: 'STRATEGY_ENDED', reason: endedReason(code, signal), ...told };
  };

  return {
    isInStrategy: () => open.size > 0,
    ended: new Promise((resolve, reject) => {
      child.on('error', (error) => {
        clearInterval(timer);
        reject(error);
      });
      child.on('close', (code, signal) => {
        clearInterval(timer);
        const stop = stopOf(code, signal);
        if (stop === undefined && words !== undefined) errors.write(words);
        resolve({ code, signal, ...(stop === undefined ? {} : { stop }) });
      });
    }),
  };
}

function idleReason(idleMs: Millis): string {
  return `it left its process in a state in which it neither works nor ends, for ${idleMs / 1_000} s`;
}

function markOf(pid: number | undefined): Mark {
  return { at: stopwatch(), processorMs: processorMs(pid), ownMb: ownMegabytes(pid) };
}

/** Returns whether a process has used a span of processor time since a mark, or has waited much longer for it. */
function isOver(mark: Mark, now: Mark, spanMs: Millis): boolean {
  const spentMs = now.at - mark.at;
  if (spentMs < spanMs || spentMs >= LOAD_FACTOR * spanMs) return spentMs >= spanMs;
  return now.processorMs === undefined || mark.processorMs === undefined
    || now.processorMs - mark.processorMs >= spanMs;
}

function saidIn(line: string): z.infer<typeof SAID> | undefined {
  try {
    return SAID.safeParse(JSON.parse(line)).data;
  } catch {
    // A strategy may write anything to the pipe.
    return undefined;
  }
}

/** Calls `onLine` for each line; a line that is too long is cut. */
function readLines(from: Readable, onLine: (line: string) => void): void {
  let rest = '';
  from.on('error', () => { from.destroy(); });
  from.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop()!.slice(0, LINE_MAX);
    for (const line of lines) onLine(Buffer.from(line, 'latin1').toString());
  });
}
