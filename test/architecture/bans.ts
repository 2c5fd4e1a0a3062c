import { importsOf } from '../../src/core/source-imports.ts';
import type { SourceFile } from './layers.ts';
import type { Ban } from '../../src/config/strategies/code-bans.ts';
import { ban, DETERMINISTIC_BANS, NO_FETCH, wallClockNames } from '../../src/config/strategies/code-bans.ts';
import { codeOf, lineAt } from '../../src/core/source-text.ts';

/** One file takes members of `process` away from strategies. */
const DETERMINISTIC =
  /^(?:src\/(?:core(?!\/harden-process\.ts$)|market|trading|strategy|engine)|strategies)\//;

const WALL_CLOCK: readonly Ban[] = [
  ban(
    'the wall clock', /(?<![\w$.])(?:Date\s*\.\s*now\b|new\s+Date\s*\(\s*\)|performance\s*\.\s*now\b)/g,
    'take a Clock as a parameter',
  ),
  ban('a timer', /(?<![\w$.])set(?:Timeout|Interval|Immediate)\b/g, 'schedule on a Clock taken as a parameter'),
];

/** Folders that are the edge to the real world; one of them makes the Clock that all others are given. */
const AT_THE_EDGE = /^src\/(?:daemon|cli|bench|dashboard)\//;

/** Single files elsewhere that may read the wall clock, each with its reason. */
const EDGE_FILES: ReadonlyMap<string, string> = new Map([
  [
    'src/signer/authorise.ts',
    'the signer’s process shares no clock with anybody: what others say of the time proves nothing there',
  ],
  [
    'src/signer/channel/socket-service.ts',
    'a signer of its own unit tells the service manager from its event loop that it is well',
  ],
  [
    'src/sandbox/sandbox.ts',
    'starts the embedded chain: its slots follow the wall clock from here, everything below takes slots as arguments',
  ],
  [
    'src/sandbox/rpc/dispatch.ts',
    'measures how long a batch of calls holds the thread, so that the slots go on; no answer depends on it',
  ],
  ['src/sandbox/rpc/server.ts', 'gives the last answers time to leave while it shuts down'],
  [
    'src/recording/interrupt.ts',
    'gives the event loop a turn, in which an interrupt arrives; a turn of the loop, no span of time',
  ],
  ['src/research/stopwatch.ts', 'measures durations for people; no decision depends on them'],
  ['src/research/trials/trial-pool.ts', 'ends a thread whose trial takes too long'],
  ['src/research/box/supervise.ts', 'watches processes, and ends one whose strategy does not go on'],
  ['src/research/trials/trial-worker.ts', 'gives the event loop turns between trials; no span of time'],
  [
    'src/research/lookahead/isolation/lookahead-worker.ts',
    'gives timers of a strategy the time to fire, so that its late decisions show',
  ],
  [
    'src/sandbox/rpc/websocket.ts',
    'gives a client the time to listen for its subscription before the first notice; no answer depends on it',
  ],
]);

const NO_MODULE_MOCKS: Ban = ban('vi.mock', /\bvi\s*\.\s*(?:mock|doMock|hoisted)\b/g,
  'use a real implementation: the sandbox, the virtual clock, SQLite in memory, a socket on loopback');

const BANNED_NAMES = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'managers', 'misc', 'types']);

// In pieces, so that this file does not hold the words it looks for. The short ones are looked for at the start of a
// word only.
const VENDOR_WORDS = new RegExp([
  ['ju', 'piter'], ['d', 'flow'], ['me', 'tis'], ['ji', 'to'], ['kal', 'shi'], ['poly', 'market'],
  ['(?<![A-Za-z0-9])', 'j', 'up'], ['for', 'J', 'up'], ['(?<![A-Za-z0-9])', 'ok', 'x'],
].map((pieces) => pieces.join('')).join('|'), 'gi');
const MAY_NAME_VENDORS = /^config\/dialects\//;
/** The package of a vendor's own client. */
const VENDOR_PACKAGES = new RegExp(['\'@j', 'up-ag/api\''].join(''), 'g');

/** Returns what a file does that its place forbids, each as `file:line: what; what instead`. */
export function banViolations(file: SourceFile): string[] {
  const code = codeOf(file.text);
  return bansFor(file.path).flatMap(({ what, pattern, instead }) =>
    [...code.matchAll(pattern)]
      .map((match) => `${file.path}:${lineAt(code, match.index)}: ${what} is banned here; ${instead}`));
}

function bansFor(path: string): Ban[] {
  if (path.startsWith('test/')) return [NO_MODULE_MOCKS];
  if (DETERMINISTIC.test(path)) return [...DETERMINISTIC_BANS, NO_FETCH];
  if (path.startsWith('src/dashboard/')) return [];
  return AT_THE_EDGE.test(path) || EDGE_FILES.has(path) ? [NO_FETCH] : [NO_FETCH, ...WALL_CLOCK];
}

/** Returns the files that the list of exceptions names in vain, so that it cannot outlive its reasons. */
export function needlessExceptions(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, codeOf(file.text)]));
  return [...EDGE_FILES.keys()].filter((path) => {
    const code = byPath.get(path);
    return code === undefined || !WALL_CLOCK.some(({ pattern }) => code.search(pattern) >= 0);
  });
}

/** Returns where a strategy takes from a package what reads the wall clock. */
export function packageTimeViolations(file: SourceFile): string[] {
  if (!file.path.startsWith('strategies/')) return [];
  return importsOf(file.text).flatMap(({ line, specifier = '', names }) => {
    if (specifier !== 'rxjs' && specifier !== 'trading-signals') return [];
    const place = `${file.path}:${line}`;
    const clocks = wallClockNames(specifier, names).map((name) =>
      `${place}: "${name}" of ${specifier} is banned here, it reads the wall clock; take the time from ctx`);
    return names.includes('*')
      ? [`${place}: all of ${specifier} at once is banned here; name what is taken, so that it can be judged`]
      : clocks;
  });
}

/** Returns what is wrong with the name of a file. */
export function nameViolations(path: string): string[] {
  const complaints: string[] = [];
  for (const part of path.split('/')) {
    const words = part.toLowerCase().split(/[.-]/);
    const banned = words.find((word) => BANNED_NAMES.has(word));
    if (banned !== undefined)
      complaints.push(`${path}:1: the name "${banned}" is banned; name the file by its one concept`);
  }
  if (!/^[a-z0-9]+(?:[.-][a-z0-9]+)*\.ts$/.test(path.split('/').at(-1)!)) {
    complaints.push(`${path}:1: expected a file name in kebab-case; name the file by its one concept`);
  }
  return complaints;
}

/** Returns where a text, comments and strings included, names a vendor. */
export function vendorViolations(file: SourceFile): string[] {
  if (MAY_NAME_VENDORS.test(file.path)) return [];
  const text = file.text.replaceAll(VENDOR_PACKAGES, (name) => ' '.repeat(name.length));
  return [...text.matchAll(VENDOR_WORDS)].map((match) =>
    `${file.path}:${lineAt(file.text, match.index)}: the vendor's word "${match[0]}" is banned; `
    + "use the reference's neutral name, the wire's word belongs in config/dialects");
}
