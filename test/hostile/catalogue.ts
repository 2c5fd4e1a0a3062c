import type { Acts } from './strategies/attack.ts';
import { CHANNEL_ATTACKS } from './strategies/channel.ts';
import { CONTROL_ATTACKS } from './strategies/control.ts';
import { DETERMINISM_ATTACKS } from './strategies/determinism.ts';
import { FILE_ATTACKS } from './strategies/files.ts';
import { KEY_ATTACKS } from './strategies/key.ts';
import { LOADING_ATTACKS } from './strategies/loading.ts';
import { NEIGHBOUR_ATTACKS } from './strategies/neighbours.ts';
import { NETWORK_ATTACKS } from './strategies/network.ts';
import { PROCESS_ATTACKS } from './strategies/processes.ts';
import { PROPOSAL_ATTACKS } from './strategies/proposals.ts';
import { PROTOTYPE_ATTACKS } from './strategies/prototypes.ts';
import { RISK_ATTACKS } from './strategies/risk.ts';
import { SIGNER_ATTACKS } from './strategies/signer.ts';
import { TERMINAL_ATTACKS } from './strategies/terminal.ts';

/** What an attack is after. */
export type Asset = 'key' | 'signer' | 'state' | 'risk' | 'neighbours' | 'recording and replay' | 'journal'
  | 'control API' | 'network' | 'processes and signals' | 'time and memory' | 'channel' | 'terminal' | 'declarations';

/** How an attack shows in the engine's own process, without a box, that it works. */
export type Evidence =
  /** It says what it gained, or leaves a mark. */
  | 'gains'
  /** Something arrives at a listener. */
  | 'arrives'
  /** A swap beyond the limits is approved. */
  | 'approved'
  /** A swap of another strategy is changed. */
  | 'disturbs'
  /** The process ends, or answers no more. */
  | 'ends'
  /** Nothing: it has an effect only beside others, or none at all on this code. */
  | 'none';

/** An attack of the catalogue. */
export interface Attack {
  /** Unique. */
  readonly name: string;
  readonly asset: Asset;
  /** In `strategies/`, without its ending. */
  readonly file: string;
  /** In the engine's own process. */
  readonly evidence: Evidence;
  /**
   * How a run must end it: its codes of `strategies[].stopped`. Empty where it must go on to its end, and where either
   * is right.
   */
  readonly stops: readonly string[];
  /** Whether it changes its process so that other attacks in it would no longer say anything. */
  readonly alone: boolean;
  /** Whether the configuration must refuse it, because it acts before a run begins. */
  readonly refused: boolean;
}

const FAILED = ['STRATEGY_FAILED'];
const ASYNC = ['STRATEGY_ASYNC'];
/** What ends a process that takes too much, whichever bound it meets first. */
const TOO_MUCH = ['STRATEGY_TIMEOUT', 'STRATEGY_MEMORY', 'STRATEGY_BOUND', 'STRATEGY_ENDED', 'STRATEGY_FAILED'];
const BROKEN_CHANNEL = [
  'STRATEGY_INVALID_ANSWER', 'STRATEGY_ENDED', 'STRATEGY_TIMEOUT', 'STRATEGY_FAILED', 'STRATEGY_BOUND',
];

interface Table {
  readonly asset: Asset;
  readonly file: string;
  readonly names: readonly string[];
  readonly evidence: Evidence;
  readonly alone?: boolean;
  readonly refused?: boolean;
  /** Of those that differ from the others. */
  readonly but?: Readonly<Record<string, Partial<Attack>>>;
}

function listed({ asset, file, names, evidence, alone = false, refused = false, but = {} }: Table): Attack[] {
  return names.map((name) => ({ name, asset, file, evidence, stops: [], alone, refused, ...but[name] }));
}

const of = (acts: Acts): string[] => Object.keys(acts);

/** Proposals that the engine refuses as such, so that they end their strategy. */
const NO_PROPOSALS = [
  'getter-shifts-the-kind', 'getter-throws', 'proxy-revoked', 'promise', 'symbol-as-reason', 'value-of', 'boxed-bigint',
  'amount-as-number', 'amount-as-text', 'amount-of-a-megabyte', 'fraction-nan', 'fraction-infinite', 'slippage-nan',
  'slippage-negative', 'route-unknown', 'kind-unknown', 'key-as-object', 'huge-reason', 'huge-alert', 'proto-in-data',
  'cyclic-data', 'nested-data', 'shared-buffer', 'array', 'function', 'nothing',
];
const WAITING = { stops: ASYNC, alone: true } as const;
const ENDING = { evidence: 'ends', alone: true } as const;

/** Attacks that use up time or memory, or break something that ends their process; each alone. */
const BOUNDS: readonly (readonly [name: string, stops: readonly string[]])[] = [
  ...[
    'loop-in-next', 'loop-in-a-getter', 'loop-in-a-generator', 'regular-expression', 'heap', 'memory-of-buffers',
    'text-doubled', 'webassembly-memory', 'waiting', 'microtasks-without-end', 'proposals-without-end',
    'timers-without-end', 'loop-in-run', 'loop-in-a-timer', 'thrown-with-a-getter',
  ].map((name) => [name, TOO_MUCH] as const),
  ...[
    'json-bomb', 'stack', 'thrown', 'thrown-symbol', 'clock-of-no-delay', 'log-without-end', 'exit', 'exit-as-it-was',
    'thrown-in-run',
  ].map((name) => [name, [...TOO_MUCH]] as const),
  ...['promise-rejected', 'thrown-in-a-timer', 'timers-of-no-delay', 'immediates', 'late-proposal'].map((name) =>
    [name, [...ASYNC, ...FAILED]] as const),
];

/** Every attack. */
export const CATALOGUE: readonly Attack[] = [
  ...listed({ asset: 'key', file: 'key', names: of(KEY_ATTACKS), evidence: 'gains' }),
  ...listed({ asset: 'signer', file: 'signer', names: of(SIGNER_ATTACKS), evidence: 'gains', but: {
    'signer-stopped': { evidence: 'none' },
  } }),
  ...listed({ asset: 'journal', file: 'files', names: of(FILE_ATTACKS), evidence: 'gains' }),
  ...listed({ asset: 'control API', file: 'control', names: of(CONTROL_ATTACKS), evidence: 'arrives', but: {
    'order-by-fetch': WAITING,
  } }),
  ...listed({ asset: 'network', file: 'network', names: of(NETWORK_ATTACKS), evidence: 'arrives', but: {
    'dns-lookup': { evidence: 'gains' }, 'listening': { evidence: 'gains' },
    'descriptors-as-sockets': { evidence: 'gains' },
    // What the global functions do waits by timers of the machine.
    'fetch': { alone: true }, 'fetch-at-once': { alone: true }, 'websocket': { alone: true },
    'event-source': { alone: true }, 'undici': { alone: true },
  } }),
  ...listed({ asset: 'processes and signals', file: 'processes', names: of(PROCESS_ATTACKS), evidence: 'gains', but: {
    'execve': ENDING, 'binding-of-processes': ENDING, 'abort': ENDING, 'exit-of-the-system': ENDING,
    'message-to-other-threads': { evidence: 'none' }, 'inspector-of-the-parent': { evidence: 'none' },
    'linked-binding': { evidence: 'none' }, 'other-messages': { evidence: 'none' },
    'active-handles': { evidence: 'none' }, 'permission-dropped': { evidence: 'none', alone: true },
    'signal-to-a-neighbour': { alone: true },
    'signal-without-process-kill': { alone: true }, 'debug-signal': { alone: true }, 'other-user': { alone: true },
    'title-changed': { alone: true },
  } }),
  ...listed({ asset: 'processes and signals', file: 'loading', names: of(LOADING_ATTACKS), evidence: 'gains', but: {
    'blob-url': { evidence: 'none' }, 'module-hooks': { alone: true }, 'module-register': { alone: true },
  } }),
  ...listed({ asset: 'state', file: 'proposals', names: of(PROPOSAL_ATTACKS), evidence: 'none', but:
    Object.fromEntries(NO_PROPOSALS.map((name) => [name, { stops: FAILED, alone: true }])) }),
  ...listed({
    asset: 'state', file: 'prototypes', names: of(PROTOTYPE_ATTACKS), evidence: 'none', alone: true,
    but: { 'rules-skipped': { evidence: 'approved' },
      'swap-of-a-neighbour': { evidence: 'disturbs' }, 'global-names': { evidence: 'ends' } },
  }),
  ...listed({ asset: 'risk', file: 'risk', names: of(RISK_ATTACKS), evidence: 'none' }),
  ...listed({ asset: 'neighbours', file: 'neighbours', names: of(NEIGHBOUR_ATTACKS), evidence: 'none', but: {
    'timers-of-the-machine': { alone: true }, 'rxjs-hooks': { alone: true }, 'many-alerts': { alone: true },
  } }),
  ...listed({
    asset: 'recording and replay', file: 'determinism', names: of(DETERMINISM_ATTACKS), evidence: 'none',
    but: { microtasks: { alone: true } },
  }),
  ...listed({ asset: 'terminal', file: 'terminal', names: of(TERMINAL_ATTACKS), evidence: 'none' }),
  ...BOUNDS.flatMap(([name, stops]) => listed({
    asset: 'time and memory', file: 'bounds', names: [name], evidence: 'ends', alone: true, but: { [name]: { stops } },
  })),
  ...listed({
    asset: 'time and memory', file: 'spin', names: ['spin'], evidence: 'ends', alone: true,
    but: { spin: { stops: ['STRATEGY_TIMEOUT'] } },
  }),
  ...listed({
    asset: 'time and memory', file: 'bounds', names: ['complete', 'loop-at-the-end'], evidence: 'none', alone: true,
  }),
  ...listed({
    asset: 'time and memory', file: 'bounds', names: ['loop-in-schema', 'loop-in-inputs', 'thrown-in-inputs'],
    evidence: 'ends', alone: true, refused: true,
  }),
  ...['loop-at-import', 'exit-at-import', 'reject-at-import'].flatMap((file) =>
    listed({ asset: 'time and memory', file, names: [file], evidence: 'ends', alone: true, refused: true })),
  ...listed({
    asset: 'declarations', file: 'declarations', evidence: 'none', alone: true, refused: true, names: [
      'issues-without-end', 'issue-with-escapes', 'inputs-without-end', 'input-of-no-interval',
      'input-of-a-nan-interval', 'input-of-a-negative-weight', 'input-of-a-huge-weight', 'input-of-an-unknown-kind',
      'input-of-a-prototype', 'input-with-a-getter',
    ],
  }),
  ...listed({
    asset: 'channel', file: 'channel', names: of(CHANNEL_ATTACKS), evidence: 'none', alone: true,
    but: Object.fromEntries([
      'frame-without-end', 'frame-cut-off', 'answer-deep', 'answer-of-another-form', 'answer-for-another-call',
      'answer-with-escapes', 'answer-with-other-kinds', 'answer-with-bad-timers', 'answer-before-the-question',
      'questions-without-end', 'signals-ignored',
    ].map((name) => [name, { stops: BROKEN_CHANNEL }])),
  }),
];
