import { entryFile } from '../../core/code-files.ts';
import { printable } from '../../core/text.ts';
import { placeIn } from '../../core/throw-place.ts';
import {
  endedReason, exhaustedReason, lateCallReason, lateLoadReason, LOAD_FACTOR, ownMegabytes, processorMs, procFile,
  saysHeapIsFull,
} from '../../core/watched-process.ts';
import { wait } from '../../execution/monotonic-time.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { CallResult, Ending, PortfolioView, StrategyCall } from '../../engine/host/strategy-call.ts';
import type { Mint } from '../../market/token.ts';
import { startBox } from './box.ts';
import type { ChannelFault } from './host-channel.ts';
import { elapsedMs, HostChannel } from './host-channel.ts';
import type { AskRequest, ReportedFault, Told } from './host-messages.ts';
import type { PortfolioQuestion } from './read-answer.ts';
import { ANSWER_MAX, readAnswer } from './read-answer.ts';

/** The bounds of a process that runs strategies. */
interface HostBounds {
  /** The most for one call, in time of the processor: a busy machine counts up to eight times less. */
  readonly callMs: Millis;
  /** The same for the call that starts a strategy. */
  readonly startMs: Millis;
  /** The most for loading one strategy, in time of the clock. */
  readonly loadMs: Millis;
  /** The memory of its own, of which Node takes about 50 MB. */
  readonly memoryMb: number;
}

/** How a process ended. */
export interface ProcessEnd extends Ending {
  /** The instance that caused it; undefined where it came from outside, or no strategy can be named. */
  readonly culprit: number | undefined;
}

/** What a strategy says about itself, unread; or why its process was ended before. */
type Said = { readonly said: string } | { readonly ended: ProcessEnd };

/** A call that is over by then has cost nothing worth a measurement. */
const BRIEF_MS = 5;
/** V8's heap may take more than the process: so the end of the memory is noticed first, and named with its line. */
const HEAP_RESERVE_MB = 64;
const LAST_WORDS_MS = 200;
const EXIT_MS = 100;
const LOAD_POLL_MS = 2;
const ENTRY = entryFile('strategy-host');

/** Counts what passes of a call's bounds. */
interface Watch {
  isOver(): boolean;
  /** Why it is over. */
  reason(): Pick<Ending, 'code' | 'reason'>;
}

/** A question that the process has not answered yet. */
interface Asked {
  readonly n: number;
  readonly id: number;
  readonly watch: Watch;
  result: Said | undefined;
}

/** A process that runs strategies, in a box, from its start to its end. It is never started again. */
export class StrategyProcess {
  readonly #child: ReturnType<typeof startBox>['child'];
  readonly #channel: HostChannel;
  readonly #bounds: HostBounds;
  readonly #clock: Clock;
  readonly #onEnd: (end: ProcessEnd) => void;
  readonly #onFault: (id: number, ending: Ending) => void;
  readonly #timers = new Map<number, Set<number>>();
  /** The name that it runs under, where that is not the daemon's own user. */
  readonly userId: number | undefined;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  #count = 0;
  #asked: Asked | undefined;
  #end: ProcessEnd | undefined;

  constructor(options: {
    /** The files of its strategies. */
    readonly readable: readonly string[];
    readonly bounds: HostBounds;
    readonly clock: Clock;
    /** Called once, never within a call. */
    readonly onEnd: (end: ProcessEnd) => void;
    /** Called within a call, for a strategy other than the one that was called. */
    readonly onFault: (id: number, ending: Ending) => void;
    /** The file that it runs; that of a strategy host unless given. */
    readonly entry?: string | undefined;
  }) {
    const { readable, bounds, clock, onEnd, onFault, entry = ENTRY } = options;
    const { child, userId } = startBox({ entry, readable, heapMb: bounds.memoryMb + HEAP_RESERVE_MB });
    this.#child = child;
    this.#channel = new HostChannel(child);
    this.#bounds = bounds;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#onFault = onFault;
    this.userId = userId;
    this.exited = new Promise((resolve) => {
      const finish = (what: string): void => {
        this.#finish(endedBy(what));
        resolve();
      };
      child.once('error', () => { finish('could not be started'); });
      child.once('exit', (code, signal) => { finish(endText(code, signal)); });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How it ended; undefined while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  /** Asks what a strategy says about itself. One question after the other, and each after the answer to the last. */
  async ask(question: Omit<AskRequest, 'kind' | 'n'>): Promise<Said> {
    if (this.#end !== undefined) return { ended: this.#end };
    const n = ++this.#count;
    const limitMs = this.#bounds.loadMs;
    const watch = this.#watch(limitMs, lateLoadReason(limitMs));
    const asked: Asked = { n, id: question.id, watch, result: undefined };
    this.#asked = asked;
    const fault = this.#channel.write({ ...question, kind: 'ask', n }, () => watch.isOver());
    if (fault !== undefined) asked.result = { ended: this.#fails(fault, asked.id, watch) };
    while (asked.result === undefined) {
      this.#hear(asked, () => true);
      if (asked.result === undefined) await wait(this.#clock, LOAD_POLL_MS);
    }
    this.#asked = undefined;
    return asked.result;
  }

  /** Takes the answer to a question, if it comes before the caller gives up, or the time is up. */
  #hear(asked: Asked, giveUp: () => boolean): void {
    if (this.#end !== undefined) {
      asked.result = { ended: this.#end };
      return;
    }
    const { n, id, watch } = asked;
    const frame = this.#channel.read(giveUp);
    if (frame === 'late' && !watch.isOver()) return;
    if (typeof frame === 'string') asked.result = { ended: this.#fails(frame, id, watch) };
    else {
      const said = readSaid(frame.text, n);
      asked.result = said === undefined ? { ended: this.#kill(id, invalidAnswer('it is no description')) } : { said };
    }
  }

  /** Makes a call, and waits for its effects within the bounds. `occasion` describes the call for people. */
  call(id: number, call: StrategyCall, portfolio: PortfolioView, occasion: string): CallResult {
    // A question that is still open is answered before: the process does one thing after the other.
    const asked = this.#asked;
    if (asked !== undefined && asked.result === undefined) this.#hear(asked, () => asked.watch.isOver());
    if (this.#end !== undefined) return { ending: this.#end };
    const n = ++this.#count;
    const limitMs = call.kind === 'start' ? this.#bounds.startMs : this.#bounds.callMs;
    const watch = this.#watch(limitMs, lateCallReason(limitMs, occasion));
    const giveUp = (): boolean => watch.isOver();
    let fault = this.#channel.write({ kind: 'call', n, id, call }, giveUp);
    for (let questions = 0; fault === undefined;) {
      const frame = this.#channel.read(giveUp);
      if (typeof frame === 'string') {
        fault = frame;
        break;
      }
      const answer = readAnswer(frame.text, n);
      switch (answer.kind) {
        case 'effects': return this.#effects(id, call, answer);
        case 'bound': return { ending: this.#kill(id, { code: 'STRATEGY_BOUND', reason: answer.reason }) };
        case 'invalid': return { ending: this.#kill(id, invalidAnswer(answer.reason)) };
        case 'question':
          if (++questions > ANSWER_MAX.questions) return { ending: this.#kill(id, {
            code: 'STRATEGY_BOUND',
            reason: `it asked for its portfolio more than ${ANSWER_MAX.questions} times in one call (${occasion})`,
          }) };
          fault = giveUp() ? 'late'
            : this.#channel.write({ kind: 'told', value: tellPortfolio(portfolio, answer) }, giveUp);
      }
    }
    return { ending: this.#fails(fault, id, watch) };
  }

  /** Ends it where it has grown too large; called now and then, between calls, with the strategies that it runs. */
  check(instances: readonly { readonly id: number }[]): void {
    // What Node has said so far must not fill its pipe.
    this.#channel.lastWords();
    if (this.#end !== undefined || !this.#isTooLarge()) return;
    const [only] = instances.length === 1 ? instances : [];
    this.#kill(only?.id, { code: 'STRATEGY_MEMORY', reason: this.#memoryText() });
  }

  /** Ends it, and resolves when it is gone. */
  async close(): Promise<void> {
    this.#end ??= endedBy('was closed');
    this.#channel.close();
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #effects(id: number, call: StrategyCall, { effects, faults }: Extract<ReturnType<typeof readAnswer>, {
    readonly kind: 'effects';
  }>): CallResult {
    for (const fault of faults) {
      if (fault.id !== id) this.#onFault(fault.id, endingOf(fault));
    }
    const own = faults.find((fault) => fault.id === id);
    if (own !== undefined) return { ending: endingOf(own) };
    const pending = call.kind === 'start' ? new Set<number>() : this.#timers.get(id) ?? new Set<number>();
    this.#timers.set(id, pending);
    if (call.kind === 'timer') pending.delete(call.id);
    for (const effect of effects) {
      if (effect.kind === 'schedule') pending.add(effect.id);
      else if (effect.kind === 'cancel') pending.delete(effect.id);
    }
    return pending.size <= ANSWER_MAX.pendingTimers ? { effects } : { ending: this.#kill(id, {
      code: 'STRATEGY_BOUND', reason: `${pending.size} timers of it wait, and ${ANSWER_MAX.pendingTimers} may`,
    }) };
  }

  #fails(fault: ChannelFault, id: number, watch: Watch): ProcessEnd {
    if (this.#end !== undefined) return this.#end;
    switch (fault) {
      case 'late': return this.#kill(id, watch.reason());
      case 'malformed': return this.#kill(id, invalidAnswer('its length is impossible'));
      case 'gone': return this.#gone(id);
    }
  }

  /** Ends it for a fault of a strategy. Node first says where its code is. */
  #kill(culprit: number | undefined, ending: Ending): ProcessEnd {
    const place = culprit === undefined ? undefined : this.#interrupted();
    this.#child.kill('SIGKILL');
    return this.#finish({ ...ending, ...(place === undefined ? {} : { place }), culprit });
  }

  /** Interrupts its code and returns the author's line where it was. */
  #interrupted(): string | undefined {
    this.#child.kill('SIGINT');
    let words = '';
    pollUntil(LAST_WORDS_MS, () => {
      words += this.#channel.lastWords();
      return words.includes('\n\n') || this.#exitStatus() !== undefined;
    });
    return placeIn(words + this.#channel.lastWords());
  }

  /** It closed its channel, or it is gone. */
  #gone(id: number): ProcessEnd {
    let status: number | undefined;
    pollUntil(EXIT_MS, () => (status = this.#exitStatus()) !== undefined);
    const words = this.#channel.lastWords();
    this.#child.kill('SIGKILL');
    if (status === undefined) return this.#finish({
      code: 'STRATEGY_ENDED', reason: 'it closed the channel of its process', culprit: id,
    });
    if (saysHeapIsFull(words)) return this.#finish({
      code: 'STRATEGY_MEMORY', reason: exhaustedReason(this.#bounds.memoryMb), culprit: id,
    });
    const signal = status & 0x7f;
    return this.#finish({
      code: 'STRATEGY_ENDED',
      reason: endedReason(status >> 8, signal === 0 ? null : signal),
      // No code in the box can send these.
      culprit: signal === SIGKILL || signal === SIGTERM ? undefined : id,
    });
  }

  #finish(end: ProcessEnd): ProcessEnd {
    if (this.#end !== undefined) return this.#end;
    this.#end = end;
    this.#channel.close();
    setImmediate(() => { this.#onEnd(end); });
    return end;
  }

  #watch(limitMs: Millis, text: string): Watch {
    const startedAt = elapsedMs();
    let usedBefore: number | undefined;
    let measuredAt = startedAt;
    let over: Pick<Ending, 'code' | 'reason'> | undefined;
    return {
      isOver: () => {
        const now = elapsedMs();
        const spentMs = now - startedAt;
        if (spentMs < BRIEF_MS) return false;
        usedBefore ??= processorMs(this.pid);
        if (now - measuredAt > BRIEF_MS) {
          measuredAt = now;
          if (this.#isTooLarge()) over = { code: 'STRATEGY_MEMORY', reason: this.#memoryText() };
        }
        if (spentMs >= limitMs * LOAD_FACTOR || (spentMs >= limitMs && this.#used(usedBefore) >= limitMs - BRIEF_MS))
          over ??= { code: 'STRATEGY_TIMEOUT', reason: text };
        return over !== undefined;
      },
      reason: () => over ?? { code: 'STRATEGY_TIMEOUT', reason: text },
    };
  }

  /** The processor time since `before`, Infinity where the platform does not tell. */
  #used(before: number | undefined): number {
    const used = processorMs(this.pid);
    return used === undefined || before === undefined ? Infinity : used - before;
  }

  #isTooLarge(): boolean {
    return ownMegabytes(this.pid) > this.#bounds.memoryMb;
  }

  #memoryText(): string {
    const tookMb = Math.ceil(ownMegabytes(this.pid));
    return `its process took ${tookMb} MB of memory, and may take ${this.#bounds.memoryMb} MB`;
  }

  /** The wait status of the process where it has ended; undefined while it runs. */
  #exitStatus(): number | undefined {
    const stat = procFile(this.pid, 'stat');
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).trim().split(' ');
    return fields?.[0] === 'Z' || fields?.[0] === 'X' ? Number(fields.at(-1)) : undefined;
  }
}

function tellPortfolio(portfolio: PortfolioView, { asks, mint }: PortfolioQuestion): Told {
  switch (asks) {
    case 'available': return portfolio.available(mint as Mint);
    case 'holding': return portfolio.holding(mint as Mint);
    case 'open-intents': return portfolio.openIntents();
    case 'equity': return portfolio.equity();
    case 'budget': return portfolio.budget();
  }
}

const SIGKILL = 9;
const SIGTERM = 15;

function endedBy(what: string): ProcessEnd {
  return { code: 'STRATEGY_ENDED', reason: `its process ${what}`, culprit: undefined };
}

function endText(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal} from outside, or for lack of memory`;
}

function invalidAnswer(fault: string): Ending {
  return { code: 'STRATEGY_INVALID_ANSWER', reason: `its process sent what is no answer: ${printable(fault, 300)}` };
}

function endingOf({ code, reason, place }: ReportedFault): Ending {
  return { code, reason, ...(place === undefined ? {} : { place }) };
}

function readSaid(text: string, n: number): string | undefined {
  try {
    const { n: answered, said } = JSON.parse(text) as { readonly n?: unknown; readonly said?: unknown };
    return answered === n && typeof said === 'string' ? said : undefined;
  } catch {
    // What is not JSON, or null, says nothing.
    return undefined;
  }
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Waits until a condition holds, or the time is up. */
function pollUntil(mostMs: Millis, isDone: () => boolean): void {
  const until = elapsedMs() + mostMs;
  while (!isDone() && elapsedMs() < until) Atomics.wait(cell, 0, 0, 1);
}
