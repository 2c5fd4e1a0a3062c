import { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { basename } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { createPoints, readDoom } from './points.ts';
import { describeBytes, describeSql } from './describe.ts';
import { createWitness } from './witness.ts';

// Loaded before a process's own code, which knows nothing of it: what it does at its edge (journal, files, sockets,
// processes) becomes a numbered point, before and after which it can be killed.
//   GANNET_CRASH_LOG      where the points are told of
//   GANNET_CRASH_AT       "before:" or "after:" and the name of a point
//   GANNET_CRASH_IN       "daemon", the default, or "signer": which process has points
//   GANNET_CRASH_FROM     "intent" (the first that is journalled, the default) or "start"
//   GANNET_CRASH_WITNESS  where it is told whether what leaves was journalled before

const env = process.env;
const points = createPoints({ log: env['GANNET_CRASH_LOG'], doom: readDoom(env['GANNET_CRASH_AT']) });
const witness = createWitness(env['GANNET_CRASH_WITNESS']);
const fromStart = env['GANNET_CRASH_FROM'] === 'start';

/** The file that only the process with the points opens: the daemon its journal, the signer its counters. */
const own = env['GANNET_CRASH_IN'] === 'signer' ? { file: 'signer.sqlite', first: 'INSERT spends' }
  : { file: 'journal.sqlite', first: 'INSERT intents' };

/** Where that is, once it is open. */
let journal: string | undefined;

watchDatabases();
watchFiles();
watchSockets();
watchProcesses();
syncBuiltinESMExports();

function watchDatabases(): void {
  const databases = new WeakMap<StatementSync, DatabaseSync>();
  const texts = new WeakMap<StatementSync, string>();
  /** What the open transaction of a database has written so far. */
  const written = new WeakMap<DatabaseSync, string[]>();

  const perform = <T>(database: DatabaseSync, sql: string, act: () => T): T => {
    const file = basename(database.location() ?? 'memory');
    const isJournal = file === own.file;
    if (isJournal && journal === undefined) {
      journal = database.location() ?? undefined;
      if (fromStart) points.begin();
    }
    const statement = describeSql(sql);
    if (statement.kind === 'other') return act();
    if (isJournal && statement.what === own.first) points.begin();
    if (statement.kind === 'commit') {
      const what = `${file} (${(written.get(database) ?? []).join(', ') || 'nothing'})`;
      const wrote = (written.get(database)?.length ?? 0) > 0;
      written.delete(database);
      // A transaction that only read has nothing that could be lost.
      if (!wrote) return act();
      const result = points.at('commit', what, act);
      points.step();
      return result;
    }
    if (statement.kind === 'write') written.set(database, [...(written.get(database) ?? []), statement.what]);
    return statement.kind === 'write' ? points.at('sql', `${file} ${statement.what}`, act) : act();
  };

  replace(DatabaseSync.prototype, 'prepare', (database, given, real) => {
    const statement = real() as StatementSync;
    databases.set(statement, database);
    texts.set(statement, String(given[0]));
    return statement;
  });
  replace(DatabaseSync.prototype, 'exec', (database, given, real) => perform(database, String(given[0]), real));
  for (const name of ['run', 'get', 'all']) {
    replace(StatementSync.prototype, name, (statement, _given, real) => {
      const database = databases.get(statement);
      return database === undefined ? real() : perform(database, texts.get(statement) ?? '', real);
    });
  }
}

function watchFiles(): void {
  const paths = new Map<number, string>();
  const { openSync, closeSync } = fs;
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    return fd;
  };
  fs.closeSync = (fd) => {
    paths.delete(fd);
    closeSync(fd);
  };
  for (const name of [
    'writeSync', 'fsyncSync', 'fdatasyncSync', 'ftruncateSync', 'writeFileSync', 'appendFileSync', 'renameSync',
    'unlinkSync',
  ] as const) {
    const real = fs[name] as (...given: readonly unknown[]) => unknown;
    const watched = (...given: readonly unknown[]): unknown => {
      const path = typeof given[0] === 'number' ? paths.get(given[0]) : String(given[0]);
      const told = path === undefined ? undefined : fileName(path);
      return told === undefined ? real(...given)
        : points.at('file', `${name.replace('Sync', '')} ${told}`, () => real(...given));
    };
    Object.defineProperty(fs, name, { value: watched, writable: true, configurable: true });
  }
}

/** Memory that is a folder is a place for files like any other. */
const DEVICE = /^\/dev\/(?!shm\/)/;

/**
 * Returns a file's name without what differs from run to run; undefined for logs and for what is no file of a run's.
 */
function fileName(path: string): string | undefined {
  if (path.startsWith('/proc/') || DEVICE.test(path) || path.includes('/logs/') || path === env['GANNET_CRASH_LOG']
      || path === env['GANNET_CRASH_WITNESS']) return undefined;
  return path.split('/').slice(-2).join('/').replace(/\d{8}T\d{6}-[0-9a-f]{6}/, 'RUN')
    .replace(/\d{4}-\d\d-\d\dT\d\d/, 'HOUR').replace(/\.\d+\.tmp|\.[0-9a-f-]{8,}/, '.TMP');
}

function watchSockets(): void {
  /** What was asked last over a socket: what comes in answers it. */
  const asked = new WeakMap<net.Socket, string>();
  replace(net.Socket.prototype, '_writeGeneric', (socket, given, real) => {
    // While it connects, it will come here again.
    if (socket.connecting || isOutput(socket)) return real();
    const { what, bytes } = describeBytes(given[1]);
    if (journal?.endsWith('journal.sqlite') === true && bytes !== undefined) witness.sent(what, bytes, journal);
    asked.set(socket, what);
    return points.at('send', what, real);
  });
  replace(net.Socket.prototype, 'push', (socket, given, real) => {
    const what = asked.get(socket);
    // How many pieces an answer comes in is chance; the first one counts.
    asked.delete(socket);
    return given[0] === null || what === undefined ? real() : points.at('receive', what, real);
  });
}

/** Standard output and standard error hold no state. */
function isOutput(socket: net.Socket): boolean {
  const { fd } = (Reflect.get(socket, '_handle') ?? {}) as { readonly fd?: number };
  return fd === 0 || fd === 1 || fd === 2;
}

function watchProcesses(): void {
  replace(ChildProcess.prototype, 'spawn', (_child, given, real) =>
    points.at('spawn', basename((given[0] as { readonly file: string }).file), real));
}

/** Puts something around a method; `real` does what it did before. */
function replace<This extends object>(
  prototype: This, name: string, around: (self: This, given: readonly unknown[], real: () => unknown) => unknown,
): void {
  const method = Reflect.get(prototype, name) as (this: This, ...given: readonly unknown[]) => unknown;
  const watched = function (this: This, ...given: readonly unknown[]): unknown {
    return around(this, given, () => method.apply(this, [...given]));
  };
  Object.defineProperty(prototype, name, { value: watched, writable: true, configurable: true });
}
