import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';
import type { MachineFactor, MachineVariant } from '../pass.ts';
import { otherMachine } from './other-machines.ts';
import { perturbLocale, redefineMember, replaceMember, stopClock } from './time-and-locale.ts';

type Perturb = (variant: MachineVariant) => () => void;

/** In the order of their application: each builds on the state before. Disk and network belong to the access guard. */
const PERTURB: ReadonlyMap<MachineFactor, Perturb> = new Map([
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

/** Gives this thread some properties of another machine, and returns a function that restores its own. */
export function perturbMachine(factors: readonly MachineFactor[], variant: MachineVariant = 0): () => void {
  const restores = [...PERTURB].filter(([factor]) => factors.includes(factor)).map(([, perturb]) => perturb(variant));
  return () => { for (const restore of restores.reverse()) restore(); };
}

/** The other machine of the current pass; undefined while the machine is the real one. */
let other: ReturnType<typeof otherMachine> | undefined;

/** Makes the functions of node:os and the figures of the heap switchable, permanently. */
function prepareEnvironment(): void {
  for (const name of Object.keys(otherMachine(0).os)) {
    replaceable(os, name, (_, real) => (other === undefined ? real() : structuredClone(other.os[name])));
  }
  for (const name of ['getHeapStatistics', 'getHeapCodeStatistics', 'getHeapSpaceStatistics']) {
    replaceable(v8, name, (_, real) => otherFigures(real()));
  }
}

/** Returns the figures of the heap, or of its spaces, as the other machine has them. */
function otherFigures(real: unknown): unknown {
  if (other === undefined) return real;
  if (Array.isArray(real)) return real.map(otherFigures);
  const { heapBytes } = other;
  return Object.fromEntries(Object.entries(real as object).map(([name, value]: [string, unknown]) =>
    [name, typeof value === 'number' ? heapBytes : value]));
}

/** Replaces a function by one that decides at each call whether the real one answers. */
function replaceable(
  owner: object, name: string, answer: (args: readonly unknown[], real: () => unknown) => unknown,
): void {
  Reflect.set(owner, name, new Proxy(Reflect.get(owner, name) as (...args: unknown[]) => unknown, {
    apply: (target, self, args: unknown[]): unknown => answer(args, () => Reflect.apply(target, self, args)),
  }));
}

/** Changes the environment, the machine and the process; returns a function that restores them. */
function perturbEnvironment(variant: MachineVariant): () => void {
  const machine = otherMachine(variant);
  const environment = { ...process.env };
  const { memoryUsage, ...calls } = machine.processCalls;
  const members = process as unknown as Record<string, unknown>;
  const navigatorMembers = Object.getPrototypeOf(navigator) as object;
  other = machine;
  // A thread has its own variables.
  setVariables(machine.environment(Object.keys(environment)));
  const restores = [
    ...Object.entries(calls).filter(([name]) => name in process).map(([name, answer]) => (
      replaceMember(members, name, () => structuredClone(answer)))),
    replaceMember(members, 'memoryUsage', Object.assign(() => structuredClone(memoryUsage), {
      rss: () => (memoryUsage as NodeJS.MemoryUsage).rss,
    })),
    ...Object.entries(machine.processValues).map(([name, value]) => replaceMember(members, name, value)),
    ...[process.stdout, process.stderr].flatMap((stream) => Object.entries(machine.terminal).map(([name, value]) => (
      replaceMember(stream as unknown as Record<string, unknown>, name, value)))),
    redefineMember(navigatorMembers, 'hardwareConcurrency', { configurable: true, get: () => machine.parallelism }),
  ];
  return () => {
    other = undefined;
    for (const restore of restores.reverse()) restore();
    setVariables(environment);
  };
}

function setVariables(wanted: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (wanted[name] === undefined) delete process.env[name];
  Object.assign(process.env, wanted);
}

/** The byte that all randomness consists of in the current pass; undefined while it is random. */
let fixedByte: number | undefined;

/** Makes the randomness of node:crypto switchable, permanently. */
function prepareRandomness(): void {
  fixable(crypto, 'randomBytes', ([size]) => Buffer.alloc(Number(size), fixedByte));
  fixable(crypto, 'randomInt', fixedInteger);
  fixable(crypto, 'randomUUID', fixedUuid);
  fixable(crypto, 'randomFillSync', ([buffer]) => filled(buffer));
  fixable(crypto, 'getRandomValues', ([buffer]) => filled(buffer));
  const webcrypto = crypto.webcrypto.constructor.prototype as object;
  fixable(webcrypto, 'getRandomValues', ([buffer]) => filled(buffer));
  fixable(webcrypto, 'randomUUID', fixedUuid);
}

function fixable(owner: object, name: string, fixed: (args: readonly unknown[]) => unknown): void {
  replaceable(owner, name, (args, real) => (fixedByte === undefined ? real() : fixed(args)));
}

function fixedUuid(): string {
  const byte = fixedByte!.toString(16).padStart(2, '0');
  return `${byte.repeat(4)}-${byte.repeat(2)}-4${byte}${byte[0]}-8${byte}${byte[0]}-${byte.repeat(6)}`;
}

/** The byte is odd on the first machine: the first one draws the least number, the others the greatest one. */
function fixedInteger([first, second]: readonly unknown[]): number {
  const [low, end] = typeof second === 'number' ? [Number(first), second] : [0, Number(first)];
  return fixedByte! % 2 === 1 ? low : end - 1;
}

/** Fixes all randomness, and returns a function that restores it. */
function fixRandomness(variant: MachineVariant): () => void {
  fixedByte = otherMachine(variant).randomByte;
  const restore = replaceMember(Math, 'random', extremes(variant === 0));
  return () => {
    fixedByte = undefined;
    restore();
  };
}

/** Alternates between the two extremes, so that both answers of a comparison with a random number occur. */
function extremes(beginsLow: boolean): () => number {
  let isHigh = beginsLow;
  return () => {
    isHigh = !isHigh;
    return isHigh ? 1 - 2 ** -53 : 0;
  };
}

function filled(buffer: unknown): unknown {
  if (ArrayBuffer.isView(buffer)) new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).fill(fixedByte!);
  return buffer;
}
