import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';
import { printable } from '../../../core/text.ts';
import { GENERATION } from './strategy-modules.ts';

/** The effect of a strategy's access to anything outside its process. */
export interface AccessMode {
  /** On files and processes: the box decides and the access is recorded, or it fails. */
  readonly disk: 'watch' | 'refuse';
  readonly network: 'watch' | 'refuse';
}

/** Intercepts the accesses of this process to files, processes, threads and the network. */
interface AccessGuard {
  /** Files that are part of the strategies' code, without links: reading them is no access. */
  codeData: ReadonlySet<string>;
  /** Does work during which every access belongs to a strategy. */
  during<T>(mode: AccessMode, work: () => T): T;
  /** The same for asynchronous work. */
  duringTurn<T>(mode: AccessMode, work: () => Promise<T>): Promise<T>;
  /** The same while Node loads a strategy's modules. */
  duringImport<T>(mode: AccessMode, work: () => Promise<T>): Promise<T>;
  /** Does the project's own work in between. */
  aside<T>(work: () => T): T;
  /** Returns the accesses since the last call. */
  takeAccesses(): string[];
}

/** Files that Node reads to load modules: while it loads a strategy, and when packages load their parts later. */
const MODULE_FILE = /(?:\.[cm]?[jt]s|package\.json)(?:\?.*)?$|[\\/]node_modules(?:[\\/]|$)/;
const PACKAGE_FILE = /[\\/]package\.json$|[\\/]node_modules(?:[\\/]|$)/;

/** Functions that return the content of a file, and nothing that the file's hash does not fix. */
const READS = new Set(['existsSync', 'readFile', 'readFileSync']);

/** The current effect of accesses, and those so far. */
interface GuardState {
  /** Undefined while the project's own code runs. */
  mode: AccessMode | undefined;
  isLoading: boolean;
  codeData: ReadonlySet<string>;
  readonly accesses: Set<string>;
}

/**
 * Permanently intercepts the accesses of this process. Functions are replaced besides Node's permission model, because
 * accesses must be recorded as well.
 */
export function createAccessGuard(): AccessGuard {
  const state: GuardState = { mode: undefined, isLoading: false, codeData: new Set(), accesses: new Set() };
  interceptAccesses(state);
  const under = <T>(mode: AccessMode | undefined, work: () => T): T => {
    const before = state.mode;
    state.mode = mode;
    try {
      return work();
    } finally {
      state.mode = before;
    }
  };
  const throughout = async <T>(mode: AccessMode, work: () => Promise<T>): Promise<T> => {
    state.mode = mode;
    try {
      return await work();
    } finally {
      state.mode = undefined;
    }
  };
  return {
    get codeData() { return state.codeData; },
    set codeData(files) { state.codeData = files; },
    during: under,
    duringTurn: throughout,
    duringImport: async (mode, work) => {
      state.isLoading = true;
      try {
        return await throughout(mode, work);
      } finally {
        state.isLoading = false;
      }
    },
    aside: (work) => under(undefined, work),
    takeAccesses: () => {
      const taken = [...state.accesses];
      state.accesses.clear();
      return taken;
    },
  };
}

function interceptAccesses(state: GuardState): void {
  const { accesses } = state;
  const { realpathSync } = fs;
  const isCodeData = (path: string): boolean => {
    if (state.codeData.size === 0) return false;
    try {
      return state.codeData.has(realpathSync(path));
    } catch {
      // There is no such file.
      return false;
    }
  };
  const accessFile: Interceptor = (name, args) => {
    const { mode } = state;
    const path = pathOf(args[0]);
    if (mode === undefined || path === undefined) return args;
    if ((state.isLoading ? MODULE_FILE : PACKAGE_FILE).test(path) && !isByStrategy()) return args;
    if (isCodeData(path) && (READS.has(name) || !isByStrategy())) return args;
    accesses.add(path);
    if (mode.disk === 'refuse') {
      const message = `ENOENT: no such file or directory, ${name} '${path}'`;
      throw Object.assign(new Error(message), { code: 'ENOENT', path });
    }
    return args;
  };
  interceptFunctions(fs, accessFile);
  interceptFunctions(fs.promises, accessFile, { promises: true });
  const accessOther = (what: string): Interceptor => (name, args) => {
    if (state.mode === undefined) return args;
    accesses.add(`${what} (${name})`);
    if (state.mode.disk === 'refuse') throw new Error(`${name} is not available here`);
    return args;
  };
  interceptFunctions(childProcess, accessOther('a process'));
  interceptClass(workerThreads, 'Worker', accessOther('a thread'));
  interceptNetwork((what) => {
    if (state.mode === undefined) return;
    accesses.add(`the network (${what})`);
    if (state.mode.network === 'watch') return;
    throw Object.assign(new Error(`the network is not available here (${what})`), { code: 'ENETUNREACH' });
  });
  syncBuiltinESMExports();
}

/** Returns whether the caller is a strategy, or a package that it uses, and not Node, which loads its modules. */
function isByStrategy(): boolean {
  const lines = new Error().stack?.split('\n') ?? [];
  const caller = lines.find((line) => GENERATION.test(line) || line.includes('node:internal/modules/'));
  return caller !== undefined && GENERATION.test(caller);
}

function pathOf(value: unknown): string | undefined {
  try {
    if (value instanceof URL) return fileURLToPath(value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString();
    return typeof value === 'string' ? value : undefined;
  } catch {
    // A URL of another kind names no file; the call reports that itself.
    return undefined;
  }
}

/** Receives the name of a function and its arguments, and returns the arguments to use instead. */
type Interceptor = (name: string, args: unknown[]) => unknown[];

interface InterceptOptions {
  /** Whether the functions return promises: an error of the interceptor then rejects instead of throwing. */
  readonly promises?: boolean | undefined;
}

const CLASS_OR_HELPER = /^(?:[A-Z_]|toUnixTimestamp)/;

/** Calls the interceptor before all functions of a module. The caller gets the error that it throws. */
function interceptFunctions(module: object, intercept: Interceptor, options?: InterceptOptions): void {
  for (const name of Object.keys(module)) {
    if (!CLASS_OR_HELPER.test(name)) interceptFunction(module, name, intercept, options);
  }
}

/** Does the same for one member, if it is a function. */
function interceptFunction(
  owner: object, name: string, intercept: Interceptor, { promises = false }: InterceptOptions = {},
): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  // A proxy keeps the properties of a function, such as realpathSync.native.
  Reflect.set(owner, name, new Proxy(original, {
    apply: (target, self, args: unknown[]): unknown => {
      try {
        return Reflect.apply(target, self, intercept(name, args));
      } catch (error) {
        if (name === 'existsSync') return false;
        if (promises) return Promise.reject(error);
        throw error;
      }
    },
  }));
}

/** Calls the interceptor before each construction of a class. */
function interceptClass(owner: object, name: string, intercept: Interceptor): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  Reflect.set(owner, name, new Proxy(original, {
    construct: (target, args: unknown[], newTarget): object => (
      Reflect.construct(target, intercept(name, args), newTarget) as object),
  }));
}

/** Reports every use of the network, not only new connections: a request may reuse an open one. */
function interceptNetwork(accessed: (what: string) => void): void {
  const intercept: Interceptor = (name, args) => {
    accessed(`${name}${targetOf(args)}`);
    return args;
  };
  for (const owner of [http, https]) {
    for (const name of ['request', 'get']) interceptFunction(owner, name, intercept);
  }
  for (const [owner, name] of [
    [http2, 'connect'], [net, 'connect'], [net, 'createConnection'], [tls, 'connect'], [dgram, 'createSocket'],
  ] as const) interceptFunction(owner, name, intercept);
  interceptFunctions(dns, intercept);
  interceptFunctions(dns.promises, intercept, { promises: true });
  interceptFunction(globalThis, 'fetch', intercept, { promises: true });
  interceptFunction(net.Socket.prototype, 'connect', intercept);
  interceptClass(globalThis, 'WebSocket', intercept);
}

/** Returns an address for people; empty when the argument is no address. */
function targetOf([first]: readonly unknown[]): string {
  if (typeof first === 'string' || first instanceof URL) return ` ${printable(String(first), 80)}`;
  return first instanceof Request ? ` ${printable(first.url, 80)}` : '';
}
