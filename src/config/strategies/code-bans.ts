/** What banned code would reach. */
export type BanTopic = 'clock' | 'chance' | 'io' | 'promises' | 'machine' | 'subscription' | 'hidden';

/** Something that may not stand in the code of some files, and what to write instead. */
export interface Ban {
  readonly what: string;
  readonly pattern: RegExp;
  readonly instead: string;
  readonly topic: BanTopic;
}

/** Returns a ban. */
export function ban(what: string, pattern: RegExp, instead: string, topic: BanTopic = 'machine'): Ban {
  return { what, pattern, instead, topic };
}

const NO_PROMISES = 'return an Observable or a value; io belongs behind an executor or a feed';

/** What makes two runs over the same data differ. */
export const DETERMINISTIC_BANS: readonly Ban[] = [
  ban('Date', /(?<![\w$.])Date\b/g, 'take the time from a Clock: ctx.now(), or the stamp `at`', 'clock'),
  ban('performance', /(?<![\w$.])performance\s*\.(?!\.)/g, 'measure outside: a strategy has ctx.now() alone',
    'clock'),
  ban('a timer', /(?<![\w$.])(?:set|clear)(?:Timeout|Interval|Immediate)\b/g, 'schedule on a Clock', 'clock'),
  ban('queueMicrotask', /(?<![\w$.])queueMicrotask\b/g, 'return a value or a stream', 'promises'),
  ban('Math.random', /\bMath\s*\.\s*random\b/g, 'draw from seededRandom (ctx.random)', 'chance'),
  ban('randomness of crypto',
    /\b(?:crypto\s*\.\s*(?:random|getRandom)\w*|(?<!\.)(?:random(?:UUID|Bytes|Int|Fill|FillSync)|getRandomValues)\b)/g,
      'derive ids from strategy and counter, draw from seededRandom', 'chance'),
  ban('process', /(?<![\w$.])process\s*(?:\.(?!\.)|\[)/g, 'take what is needed as a parameter'),
  ban(
    'async', /(?<![\w$.])async\b(?!\s*[:=,)])/g,
    NO_PROMISES, 'promises',
  ),
  ban('await', /(?<![\w$.])await\b/g, NO_PROMISES, 'promises'),
  ban('Promise', /(?<![\w$.])Promise\b/g, NO_PROMISES, 'promises'),
  ban('globalThis', /(?<![\w$.])globalThis\b/g, 'name what is needed, so that it can be judged'),
  ban('Intl', /(?<![\w$.])Intl\b/g, 'write the format out: locales differ between machines'),
  ban(
    'text that follows the locale', /\.\s*(?:localeCompare|toLocale\w*)\b/g,
    'compare by code unit, format it yourself: locales differ between machines',
  ),
];

/** What reads the wall clock, by package. */
const WALL_CLOCK_NAMES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['rxjs', new Set([
    'animationFrames', 'animationFrameScheduler', 'asap', 'asapScheduler', 'async', 'asyncScheduler', 'auditTime',
    'bufferTime', 'debounceTime', 'delay', 'interval', 'queue', 'queueScheduler', 'repeat', 'retry', 'sampleTime',
    'throttleTime', 'timeInterval', 'timeout', 'timeoutWith', 'timer', 'timestamp', 'VirtualTimeScheduler',
    'windowTime',
  ])],
  ['trading-signals', new Set([
    'isFriday', 'isMonday', 'isSaturday', 'isSunday', 'isThursday', 'isTuesday', 'isWednesday',
  ])],
]);

/** Returns those names of an import from a package that read the wall clock. */
export function wallClockNames(specifier: string, names: readonly string[]): string[] {
  return names.filter((name) => WALL_CLOCK_NAMES.get(specifier)?.has(name) === true);
}

/** No transport but those that know the rate and the timeout. */
export const NO_FETCH: Ban = ban('the global fetch', /(?<![\w$.])fetch\s*\(/g,
  'use the transport of service or the RPC of chain: they know the rate, the timeout and what a lost answer means',
  'io');
