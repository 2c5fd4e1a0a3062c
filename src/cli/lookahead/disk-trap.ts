import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';

/** What happens to a strategy that reaches for files or processes. */
export type DiskMode =
  /** It gets what is there, and it is remembered. */
  | { readonly kind: 'watch' }
  /** It finds another folder in the place of the recording's. */
  | { readonly kind: 'redirect'; readonly to: string }
  /** There is nothing. */
  | { readonly kind: 'refuse' };

/** Stands before the thread's file system. */
export interface DiskTrap {
  /** Does work during which whatever reaches for the disk is a strategy. */
  during<T>(mode: DiskMode, work: () => T): T;
  /** The same where the work waits in between. */
  duringImport<T>(mode: DiskMode, work: () => Promise<T>): Promise<T>;
  /** Does work of our own in between. */
  aside<T>(work: () => T): T;
  /** Returns what was reached for since this was last asked. */
  takeReaches(): string[];
}

/** What Node itself reads to load modules: while it loads a strategy, and what packages load when they are first needed. */
const MODULE_FILE = /(?:\.[cm]?[jt]s|package\.json)(?:\?.*)?$|[\\/]node_modules(?:[\\/]|$)/;
const PACKAGE_FILE = /[\\/]package\.json$|[\\/]node_modules(?:[\\/]|$)/;
const CLASS_OR_HELPER = /^(?:[A-Z_]|toUnixTimestamp)/;

/** Puts a trap before the files, databases, processes and threads that Node has for this thread, for good; `recordingDir` is what may be redirected. */
export function setDiskTrap(recordingDir: string): DiskTrap {
  let mode: DiskMode | undefined;
  let isLoading = false;
  const reaches = new Set<string>();
  const realDir = fs.realpathSync(recordingDir);

  const arrived = (name: string, args: unknown[]): unknown[] => {
    const path = pathOf(args[0]);
    if (mode === undefined || path === undefined || (isLoading ? MODULE_FILE : PACKAGE_FILE).test(path)) return args;
    reaches.add(path);
    if (mode.kind === 'refuse') throw Object.assign(new Error(`ENOENT: no such file or directory, ${name} '${path}'`), { code: 'ENOENT', path });
    if (mode.kind === 'watch') return args;
    const redirected = movedBelow(path, [resolve(recordingDir), realDir], mode.to);
    return redirected === undefined ? args : [redirected, ...args.slice(1)];
  };
  trapFunctions(fs, arrived);
  trapFunctions(fs.promises, arrived);
  const elsewhere = (what: string) => (name: string, args: unknown[]): unknown[] => {
    if (mode === undefined) return args;
    reaches.add(`${what} (${name})`);
    if (mode.kind === 'refuse') throw new Error(`there is no ${name} here`);
    return args;
  };
  trapFunctions(childProcess, elsewhere('a process'));
  trapClass(workerThreads, 'Worker', elsewhere('a thread'));
  trapDatabases((path) => { arrived('open', [path]); });
  syncBuiltinESMExports();

  const under = <T>(other: DiskMode | undefined, work: () => T): T => {
    const before = mode;
    mode = other;
    try {
      return work();
    } finally {
      mode = before;
    }
  };
  return {
    during: under,
    duringImport: async (other, work) => {
      mode = other;
      isLoading = true;
      try {
        return await work();
      } finally {
        mode = undefined;
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

function trapFunctions(module: object, arrived: (name: string, args: unknown[]) => unknown[]): void {
  for (const name of Object.keys(module)) {
    const original: unknown = Reflect.get(module, name);
    if (typeof original !== 'function' || CLASS_OR_HELPER.test(name)) continue;
    // What hangs on a function, such as realpathSync.native, stays on it.
    Reflect.set(module, name, new Proxy(original, {
      apply: (target, self, args: unknown[]): unknown => {
        try {
          return Reflect.apply(target, self, arrived(name, args));
        } catch (error) {
          if (name === 'existsSync') return false;
          throw error;
        }
      },
    }));
  }
}

function trapClass(module: object, name: string, arrived: (name: string, args: unknown[]) => unknown[]): void {
  const original = Reflect.get(module, name) as new (...args: unknown[]) => object;
  Reflect.set(module, name, new Proxy(original, {
    construct: (target, args: unknown[], newTarget): object => Reflect.construct(target, arrived(name, args), newTarget) as object,
  }));
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
