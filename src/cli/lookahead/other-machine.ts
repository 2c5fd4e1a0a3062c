import os from 'node:os';
import { redefineMember, replaceMember } from './replace-member.ts';

const GIB = 2 ** 30;
const CPU: os.CpuInfo = { model: 'another processor', speed: 77, times: { user: 7, nice: 7, sys: 7, idle: 7, irq: 7 } };

/** What another machine answers. What is the same wherever results may be compared (platform, architecture) is not among it. */
const OTHER: Readonly<Record<string, unknown>> = {
  availableParallelism: 97, cpus: Array.from({ length: 97 }, () => CPU), freemem: 3 * GIB + 7, getPriority: 7, homedir: '/another/home', hostname: 'another-machine', loadavg: [97.5, 86.25, 75.125],
  machine: 'another', networkInterfaces: {}, release: '97.0.0', tmpdir: '/another/tmp', totalmem: 5 * GIB + 7, uptime: 98_765_432, userInfo: { username: 'another', uid: 9_777, gid: 9_777, shell: null, homedir: '/another/home' },
  version: 'another version',
};
const OF_PROCESS: Readonly<Record<string, unknown>> = {
  availableMemory: 3 * GIB + 7, constrainedMemory: 5 * GIB + 7, cpuUsage: { user: 97_531, system: 86_420 }, memoryUsage: { rss: 7 * GIB, heapTotal: 6 * GIB, heapUsed: 5 * GIB, external: 4 * GIB, arrayBuffers: 3 * GIB },
};

let isOther = false;

/** Lets what node:os tells be that of another machine, for good: what is imported by name cannot be replaced later. */
export function prepareMachine(): void {
  for (const [name, answer] of Object.entries(OTHER)) {
    Reflect.set(os, name, new Proxy(Reflect.get(os, name) as (...args: unknown[]) => unknown, {
      apply: (target, self, args: unknown[]): unknown => (isOther ? structuredClone(answer) : Reflect.apply(target, self, args)),
    }));
  }
}

/** Clears the environment and changes the machine and the process, and returns what makes them as they were. */
export function enterOtherMachine(): () => void {
  isOther = true;
  const before = { ...process.env };
  const { argv } = process;
  // A thread has variables of its own.
  for (const name of Object.keys(before)) delete process.env[name];
  process.argv = argv.slice(0, 2);
  const back = [
    ...Object.entries(OF_PROCESS).map(([name, answer]) => replaceMember(process as unknown as Record<string, unknown>, name, () => structuredClone(answer))),
    ...Object.entries({ pid: 97_777, ppid: 97_776, title: 'another' }).map(([name, value]) => replaceMember(process as unknown as Record<string, unknown>, name, value)),
    redefineMember(Object.getPrototypeOf(navigator) as object, 'hardwareConcurrency', { configurable: true, get: () => 97 }),
  ];
  return () => {
    isOther = false;
    for (const undo of back.reverse()) undo();
    Object.assign(process.env, before);
    process.argv = argv;
  };
}
