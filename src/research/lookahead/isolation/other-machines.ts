import type { CpuInfo } from 'node:os';
import type { MachineVariant } from '../pass.ts';

/**
 * Another machine, as strategies would see it. Platform and architecture stay, because results of others are not
 * comparable anyway.
 */
interface OtherMachine {
  /** The answers of functions of node:os. */
  readonly os: Readonly<Record<string, unknown>>;
  /** The answers of functions of `process`. */
  readonly processCalls: Readonly<Record<string, unknown>>;
  readonly processValues: Readonly<Record<string, unknown>>;
  readonly parallelism: number;
  /** A figure of the heap, in bytes. */
  readonly heapBytes: number;
  /** The members of standard output and standard error. */
  readonly terminal: Readonly<Record<string, unknown>>;
  /** The byte that all randomness consists of. */
  readonly randomByte: number;
  /** Returns the variables of the machine where the real one has these. */
  environment(names: readonly string[]): Readonly<Record<string, string>>;
}

const GIB = 2 ** 30;
const MIB = 2 ** 20;
/** A letter for each machine. */
const LETTERS = ['h', 'o', 'z'] as const;
const NO_LOAD = [0, 0.01, 0.05] as const;
const LOADS = [[97.5, 86.25, 75.125], NO_LOAD, [1.5, 2.25, 3.125]] as const;
/** `0x5a` has the bits that `0xa5` has not. */
const RANDOM_BYTES = [0xa5, 0x5a, 0x3c] as const;

/**
 * Returns a whole number below 2^bits for a machine. The first machine has the given one. The second one has every bit
 * that the first one has not: a strategy that tests one bit of it differs on one of the two. The third one has every
 * other bit.
 */
export function numberOn(variant: MachineVariant, bits: number, first: number): number {
  const all = 2 ** bits - 1;
  return [first, all - first, Math.floor(all / 3)][variant]!;
}

/** Returns a text whose length is such a number. */
function textOn(variant: MachineVariant, bits: number, first: number): string {
  return LETTERS[variant].repeat(numberOn(variant, bits, first));
}

/** Returns an absolute path whose length is such a number. */
function pathOn(variant: MachineVariant, bits: number, first: number): string {
  return `/${LETTERS[variant].repeat(numberOn(variant, bits, first) - 1)}`;
}

/** Returns one of the other machines. */
export function otherMachine(variant: MachineVariant): OtherMachine {
  const number = (bits: number, first: number): number => numberOn(variant, bits, first);
  const text = (bits: number, first: number): string => textOn(variant, bits, first);
  const path = (bits: number, first: number): string => pathOn(variant, bits, first);
  const parallelism = number(7, 1);
  const [uid, gid] = [number(14, 9_777), number(14, 9_778)];
  const heapBytes = number(43, 765 * MIB + 7);
  const memoryUsage = Object.fromEntries(
    ['rss', 'heapTotal', 'heapUsed', 'external', 'arrayBuffers'].map((name, i) => [name, number(36, (7 - i) * GIB)]),
  );
  const times = Object.fromEntries(['user', 'nice', 'sys', 'idle', 'irq'].map((name) => [name, number(40, 7)]));
  const cpu: CpuInfo = { model: text(6, 17), speed: number(12, 77), times: times as unknown as CpuInfo['times'] };
  return {
    parallelism, heapBytes,
    randomByte: RANDOM_BYTES[variant],
    os: {
      availableParallelism: parallelism, cpus: Array.from({ length: parallelism }, () => cpu),
      freemem: number(42, 3 * GIB + 7), getPriority: number(4, 7), homedir: path(6, 12), hostname: text(5, 4),
      loadavg: LOADS[variant], machine: text(5, 7), release: `${number(7, 97)}.0.0`, version: text(6, 15),
      networkInterfaces: Object.fromEntries(Array.from({ length: number(4, 0) }, (_, i) => [`other${i}`, []])),
      tmpdir: path(6, 11), totalmem: number(43, 5 * GIB + 7), uptime: number(27, 98_765_432),
      userInfo: { username: text(5, 7), uid, gid, shell: null, homedir: path(6, 12) },
    },
    processCalls: {
      availableMemory: number(42, 3 * GIB + 7), constrainedMemory: number(43, 5 * GIB + 7),
      cpuUsage: { user: number(30, 97_531), system: number(30, 86_420) }, memoryUsage,
      cwd: path(6, 5), getuid: uid, geteuid: uid, getgid: gid, getegid: gid, getgroups: [gid],
      getActiveResourcesInfo: Array.from({ length: number(4, 1) }, () => 'Timeout'),
    },
    processValues: {
      pid: number(22, 97_777), ppid: number(22, 97_776), title: text(5, 7),
      execPath: path(6, 10), execArgv: Array.from({ length: number(4, 0) }, () => '--no-warnings'),
      argv: Array.from({ length: number(5, 1) }, () => text(6, 9)), debugPort: number(16, 9_777),
    },
    terminal: { isTTY: variant === 1, columns: number(8, 79), rows: number(7, 23) },
    environment: (names) => (variant === 0 ? {} : otherVariables(variant, names)),
  };
}

/** Variables that other machines have, also where the real one has them not. */
const USUAL_VARIABLES = ['HOME', 'HOSTNAME', 'LANG', 'LOGNAME', 'NODE_ENV', 'PATH', 'PWD', 'SHELL', 'TMPDIR', 'USER'];

/** The first machine has no variable. Those of the second one have a number, and lengths, with every bit set. */
function otherVariables(
  variant: MachineVariant, names: readonly string[],
): Readonly<Record<string, string>> {
  // Node changes the time zone of the whole process with this variable; the time zone is another factor.
  const kept = [...new Set([...names, ...USUAL_VARIABLES])].filter((name) => name !== 'TZ');
  const bits = Math.max(7, Math.ceil(Math.log2(kept.length + 1)) + 2);
  const extra = Array.from({ length: numberOn(variant, bits, 0) - kept.length }, (_, i) => `OTHER_${i}`);
  return Object.fromEntries([...kept, ...extra].map((name) => [name, textOn(variant, 10, 0)]));
}
