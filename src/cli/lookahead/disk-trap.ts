import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';
import { GENERATION } from './fresh-modules.ts';
import { trapNetwork } from './network-trap.ts';
import { trapClass, trapFunctions } from './trap-functions.ts';
import type { TrapMode } from './trap-mode.ts';

/** Stands before the thread's file system and network. */
export interface DiskTrap {
  /** Does work during which whatever reaches for them is a strategy. */
  during<T>(mode: TrapMode, work: () => T): T;
  /** The same where the work waits in between. */
  duringTurn<T>(mode: TrapMode, work: () => Promise<T>): Promise<T>;
  /** The same while Node loads a strategy's modules. */
  duringImport<T>(mode: TrapMode, work: () => Promise<T>): Promise<T>;
  /** Does work of our own in between. */
  aside<T>(work: () => T): T;
  /** Returns what was reached for since this was last asked. */
  takeReaches(): string[];
}

/** What Node itself reads to load modules: while it loads a strategy, and what packages load when they are first needed. */
const MODULE_FILE = /(?:\.[cm]?[jt]s|package\.json)(?:\?.*)?$|[\\/]node_modules(?:[\\/]|$)/;
const PACKAGE_FILE = /[\\/]package\.json$|[\\/]node_modules(?:[\\/]|$)/;

/** Puts a trap before the files, databases, processes, threads and connections that Node has for this thread, for good; `recordingDir` is what may be redirected. */
export function setDiskTrap(recordingDir: string): DiskTrap {
  let mode: TrapMode | undefined;
  let isLoading = false;
  const reaches = new Set<string>();
  const realDir = fs.realpathSync(recordingDir);

  const arrived = (name: string, args: unknown[]): unknown[] => {
    const path = pathOf(args[0]);
    if (mode === undefined || path === undefined || ((isLoading ? MODULE_FILE : PACKAGE_FILE).test(path) && !isByStrategy())) return args;
    const { disk } = mode;
    reaches.add(path);
    if (disk.kind === 'refuse') throw Object.assign(new Error(`ENOENT: no such file or directory, ${name} '${path}'`), { code: 'ENOENT', path });
    if (disk.kind === 'watch') return args;
    const redirected = movedBelow(path, [resolve(recordingDir), realDir], disk.to);
    return redirected === undefined ? args : [redirected, ...args.slice(1)];
  };
  trapFunctions(fs, arrived);
  trapFunctions(fs.promises, arrived, { promises: true });
  const elsewhere = (what: string) => (name: string, args: unknown[]): unknown[] => {
    if (mode === undefined) return args;
    reaches.add(`${what} (${name})`);
    if (mode.disk.kind === 'refuse') throw new Error(`there is no ${name} here`);
    return args;
  };
  trapFunctions(childProcess, elsewhere('a process'));
  trapClass(workerThreads, 'Worker', elsewhere('a thread'));
  trapDatabases((path) => { arrived('open', [path]); });
  trapNetwork((what) => {
    if (mode === undefined) return;
    reaches.add(`the network (${what})`);
    if (mode.network === 'refuse') throw Object.assign(new Error(`there is no network here (${what})`), { code: 'ENETUNREACH' });
  });
  syncBuiltinESMExports();

  const under = <T>(other: TrapMode | undefined, work: () => T): T => {
    const before = mode;
    mode = other;
    try {
      return work();
    } finally {
      mode = before;
    }
  };
  const throughout = async <T>(other: TrapMode, work: () => Promise<T>): Promise<T> => {
    mode = other;
    try {
      return await work();
    } finally {
      mode = undefined;
    }
  };
  return {
    during: under,
    duringTurn: throughout,
    duringImport: async (other, work) => {
      isLoading = true;
      try {
        return await throughout(other, work);
      } finally {
        isLoading = false;
      }
    },
    aside: (work) => under(undefined, work),
    takeReaches: () => {
      const taken = [...reaches];
      reaches.clear();
      return taken;
    },
  };
}

/** Whether a strategy asks, itself or through a package, and not Node, which loads its modules. */
function isByStrategy(): boolean {
  const caller = new Error().stack?.split('\n').find((line) => GENERATION.test(line) || line.includes('node:internal/modules/'));
  return caller !== undefined && GENERATION.test(caller);
}

/** By what a database does and not by its class: exports of node:sqlite are not brought up to date. One in memory is no file. */
function trapDatabases(reached: (path: string) => void): void {
  const databases = DatabaseSync.prototype;
  for (const name of ['exec', 'prepare'] as const) {
    Reflect.set(databases, name, new Proxy(databases[name], {
      apply: (target, self: DatabaseSync, args: unknown[]): unknown => {
        const path = self.isOpen ? self.location() : null;
        if (path !== null) reached(path);
        return Reflect.apply(target, self, args);
      },
    }));
  }
}

function pathOf(value: unknown): string | undefined {
  try {
    if (value instanceof URL) return fileURLToPath(value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString();
    return typeof value === 'string' ? value : undefined;
  } catch {
    // No file can be at an address of another kind: the call says so itself.
    return undefined;
  }
}

function movedBelow(path: string, from: readonly string[], to: string): string | undefined {
  const absolute = resolve(path);
  for (const dir of from) {
    if (absolute === dir) return to;
    if (absolute.startsWith(dir + sep)) return join(to, absolute.slice(dir.length));
  }
  return undefined;
}
