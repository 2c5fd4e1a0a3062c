import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import type { MachineFactor } from '../pass.ts';
import { perturbLocale, redefineMember, replaceMember, stopClock } from './time-and-locale.ts';

/** In the order of their application: each builds on the state before. Disk and network belong to the access guard. */
const PERTURB: ReadonlyMap<MachineFactor, () => () => void> = new Map([
  ['clock', stopClock], ['locale', perturbLocale], ['chance', fixRandomness], ['environment', perturbEnvironment],
]);

/**
 * Makes this thread's machine perturbable, permanently: a function that is imported by name cannot be replaced later.
 */
export function prepareMachinePerturbation(): void {
  prepareEnvironment();
  prepareRandomness();
  syncBuiltinESMExports();
}

/** Perturbs some properties of the machine, and returns a function that restores them. */
export function perturbMachine(factors: readonly MachineFactor[]): () => void {
  const restores = [...PERTURB].filter(([factor]) => factors.includes(factor)).map(([, perturb]) => perturb());
  return () => { for (const restore of restores.reverse()) restore(); };
}

const GIB = 2 ** 30;
const CPU: os.CpuInfo = {
  model: 'another processor', speed: 77, times: { user: 7, nice: 7, sys: 7, idle: 7, irq: 7 },
};

/**
 * The answers of another machine. Platform and architecture stay, because results of others are not comparable anyway.
 */
const OTHER_OS: Readonly<Record<string, unknown>> = {
  availableParallelism: 97, cpus: Array.from({ length: 97 }, () => CPU), freemem: 3 * GIB + 7, getPriority: 7,
  homedir: '/another/home', hostname: 'another-machine', loadavg: [97.5, 86.25, 75.125], machine: 'another',
  networkInterfaces: {}, release: '97.0.0', tmpdir: '/another/tmp', totalmem: 5 * GIB + 7, uptime: 98_765_432,
  userInfo: { username: 'another', uid: 9_777, gid: 9_777, shell: null, homedir: '/another/home' },
  version: 'another version',
};
const OTHER_PROCESS_CALLS: Readonly<Record<string, unknown>> = {
  availableMemory: 3 * GIB + 7, constrainedMemory: 5 * GIB + 7, cpuUsage: { user: 97_531, system: 86_420 },
  memoryUsage: { rss: 7 * GIB, heapTotal: 6 * GIB, heapUsed: 5 * GIB, external: 4 * GIB, arrayBuffers: 3 * GIB },
};
const OTHER_PROCESS_VALUES = { pid: 97_777, ppid: 97_776, title: 'another' };
const OTHER_PARALLELISM = 97;

let isOtherMachine = false;

/** Makes the functions of node:os switchable, permanently. */
function prepareEnvironment(): void {
  for (const [name, answer] of Object.entries(OTHER_OS)) {
    Reflect.set(os, name, new Proxy(Reflect.get(os, name) as (...args: unknown[]) => unknown, {
      apply: (target, self, args: unknown[]): unknown => (
        isOtherMachine ? structuredClone(answer) : Reflect.apply(target, self, args)),
    }));
  }
}

/** Clears the environment and changes the machine and the process; returns a function that restores them. */
function perturbEnvironment(): () => void {
  isOtherMachine = true;
  const environment = { ...process.env };
  const { argv } = process;
  // A thread has its own variables.
  for (const name of Object.keys(environment)) delete process.env[name];
  process.argv = argv.slice(0, 2);
  const members = process as unknown as Record<string, unknown>;
  const restores = [
    ...Object.entries(OTHER_PROCESS_CALLS).map(([name, answer]) => (
      replaceMember(members, name, () => structuredClone(answer)))),
    ...Object.entries(OTHER_PROCESS_VALUES).map(([name, value]) => replaceMember(members, name, value)),
    redefineMember(Object.getPrototypeOf(navigator) as object, 'hardwareConcurrency', {
      configurable: true, get: () => OTHER_PARALLELISM,
    }),
  ];
  return () => {
    isOtherMachine = false;
    for (const restore of restores.reverse()) restore();
    Object.assign(process.env, environment);
    process.argv = argv;
  };
}

const FIXED_UUID = '5eed5eed-5eed-4eed-8eed-5eed5eed5eed';
const FIXED_BYTE = 0xa5;

let isRandomnessFixed = false;

/** Makes the randomness of node:crypto switchable, permanently. */
function prepareRandomness(): void {
  fixable(crypto, 'randomBytes', ([size]) => Buffer.alloc(Number(size), FIXED_BYTE));
  fixable(crypto, 'randomInt', ([low, high]) => (typeof high === 'number' ? low : 0));
  fixable(crypto, 'randomUUID', () => FIXED_UUID);
  fixable(crypto, 'randomFillSync', ([buffer]) => filled(buffer));
  fixable(crypto, 'getRandomValues', ([buffer]) => filled(buffer));
  const webcrypto = crypto.webcrypto.constructor.prototype as object;
  fixable(webcrypto, 'getRandomValues', ([buffer]) => filled(buffer));
  fixable(webcrypto, 'randomUUID', () => FIXED_UUID);
}

function fixable(owner: object, name: string, fixed: (args: readonly unknown[]) => unknown): void {
  Reflect.set(owner, name, new Proxy(Reflect.get(owner, name) as (...args: unknown[]) => unknown, {
    apply: (target, self, args: unknown[]): unknown => (
      isRandomnessFixed ? fixed(args) : Reflect.apply(target, self, args)),
  }));
}

/** Fixes all randomness, and returns a function that restores it. */
function fixRandomness(): () => void {
  isRandomnessFixed = true;
  const restore = replaceMember(Math, 'random', extremes());
  return () => {
    isRandomnessFixed = false;
    restore();
  };
}

/** Alternates between the two extremes, so that both answers of a comparison with a random number occur. */
function extremes(): () => number {
  let isHigh = true;
  return () => {
    isHigh = !isHigh;
    return isHigh ? 1 - 2 ** -53 : 0;
  };
}

function filled(buffer: unknown): unknown {
  if (ArrayBuffer.isView(buffer)) new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).fill(FIXED_BYTE);
  return buffer;
}
