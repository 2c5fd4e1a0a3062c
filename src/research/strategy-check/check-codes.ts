/** The checks of a strategy, in the order in which they are printed. */
export const CHECKS = [
  'schema', 'code', 'run', 'determinism', 'look-ahead', 'unsubscribe', 'restart', 'warm-up', 'memory', 'cost',
] as const;
export type CheckName = (typeof CHECKS)[number];

interface CheckCodeInfo {
  readonly check: CheckName;
  /** A failure makes results wrong or endangers a run; a warning makes a strategy hard to use. */
  readonly level: 'failure' | 'warning';
  /** What was found, for the documents. */
  readonly what: string;
  /** What to do. */
  readonly remedy: string;
}

const failure = (check: CheckName, what: string, remedy: string): CheckCodeInfo =>
  ({ check, level: 'failure', what, remedy });
const warning = (check: CheckName, what: string, remedy: string): CheckCodeInfo =>
  ({ check, level: 'warning', what, remedy });

/** What `gannet strategy check` finds, by code. */
export const CHECK_CODES = {
  SUMMARY_SHORT: failure('schema', 'the summary has fewer than three words',
    'say in one sentence what it buys and sells, and when'),
  NAME_OTHER: failure('schema', 'the name is not the file’s', 'give both the same name: `use` takes the file’s'),
  PARAM_UNDESCRIBED: warning('schema', 'a parameter has no description', 'add .describe("…") to it'),
  LOSSES_UNSAID: warning('schema', '`losesMoneyWhen` is missing', 'name the markets and settings in which it loses'),
  USES_CLOCK: failure('code', 'the code reads a clock, or waits by one',
    'take the time from ctx.now(), and time operators from the SDK'),
  USES_CHANCE: failure('code', 'the code draws random numbers of its own', 'draw from ctx.random'),
  USES_IO: failure('code', 'the code uses files, the network or modules of Node',
    'declare what it watches in `inputs`'),
  USES_PROMISES: failure('code', 'the code uses promises, `async` or `await`', 'return a value or a stream'),
  USES_MACHINE: failure('code', 'the code reads the environment, the locale or the machine',
    'take what it needs as a parameter'),
  OWN_SUBSCRIPTION: failure('code', 'the code subscribes to a stream', 'return the stream: the engine subscribes'),
  HIDDEN_CODE: failure('code', 'the code runs text, or imports a module of a computed name', 'write the code out'),
  THROWS: failure('run', 'it throws, proposes what is no proposal, or passes a bound of the engine',
    'correct the line: a run stops the strategy there'),
  DECIDES_LATE: failure('run', 'it acts in a promise or in a timer of the machine',
    'decide while an event is delivered, with the time operators of the SDK'),
  COMPLETES: warning('run', 'its stream ends before the recording', 'keep it open, unless it has done all it is for'),
  NOT_REPEATABLE: failure('determinism', 'two runs over the same recording decide differently',
    'remove what differs between them: clock, chance, environment, or a variable outside `run`'),
  NEEDS_FUTURE: failure('look-ahead', 'a decision changes with data of its future',
    'decide by events that have arrived, and keep nothing outside `run`'),
  SUBSCRIPTION_LEFT: failure('unsubscribe', 'it still subscribes after its end',
    'give `share` and `shareReplay` a refCount, and return every stream'),
  TIMER_LEFT: failure('unsubscribe', 'a timer still waits after its end',
    'use the time operators of the SDK, or cancel it when the stream is unsubscribed'),
  WATCH_LEFT: failure('unsubscribe', 'a watch is still open after its end',
    'merge ctx.watch into the returned stream, without a replay that stays open'),
  PROPOSES_AFTER_END: failure('unsubscribe', 'it proposes after its end', 'return every stream that it proposes by'),
  FORGETS: failure('restart', 'it decides differently after a restart with its saved state and a full warm-up',
    'keep what it learns of its swaps with ctx.stateful'),
  DECIDES_EARLY: warning('warm-up', 'it decides before it has seen enough',
    'wait for enough values, or set `warmup` of its entry'),
  KEEPS_MORE: failure('memory', 'what it keeps grows with every event', 'bound lists and maps, or drop old entries'),
  SLOW: warning('cost', 'an event takes more than a millisecond of processor time',
    'keep running values instead of computing over all of them'),
} as const satisfies Readonly<Record<string, CheckCodeInfo>>;
export type CheckCode = keyof typeof CHECK_CODES;

/** What a check found. */
export interface CheckFinding {
  readonly code: CheckCode;
  /** For people: what it does, with the facts. */
  readonly message: string;
  /** The author's line, "dip.ts:12:5", where it is known. */
  readonly place?: string | undefined;
}

/** The result of one check. */
export interface CheckResult {
  readonly check: CheckName;
  readonly findings: readonly CheckFinding[];
  /** Why it could not be made. */
  readonly leftOut?: string | undefined;
  /** What was checked, with its figures. */
  readonly detail: string;
}
