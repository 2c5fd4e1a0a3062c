import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';
import type { BoxGrants } from './boxed-process.ts';
import { startBoxedProcess } from './boxed-process.ts';
import { readFrames, writeFrame } from './frames.ts';
import type { BoxEnd, SupervisedBox } from './supervise.ts';
import { superviseBox } from './supervise.ts';
import { entryFile } from '../../core/code-files.ts';
import type { Millis } from '../../core/time.ts';

/** What boxed processes do: run trials, or passes of the look-ahead check. */
const WORKER_KINDS = ['trials', 'lookahead'] as const;
type WorkerKind = (typeof WORKER_KINDS)[number];

const ENTRIES = { trials: 'trial-worker', lookahead: 'lookahead-worker' } as const;

/** A boxed process that answers messages. */
export interface BoxedWorker {
  post(message: unknown): void;
  /** Ends the process at once. */
  kill(): void;
}

/** What the caller of a worker does with what comes from it. */
interface WorkerListener {
  readonly onMessage: (message: unknown) => void;
  /** Called once. */
  readonly onEnd: (end: BoxEnd) => void;
}

/** Starts boxed processes. */
export interface WorkerBox {
  start(kind: WorkerKind, listener: WorkerListener): BoxedWorker;
}

/** Returns the boxed processes of a process that may start some. `limitMs` bounds one call of a strategy in them. */
export function ownWorkers(grants: BoxGrants, limitMs?: Millis): WorkerBox {
  return {
    start: (kind, { onMessage, onEnd }) => {
      const { channel, child, ended } = startWorker(kind, grants, limitMs);
      readFrames(channel, (frame) => { onMessage(deserialize(frame)); });
      void ended.then(onEnd);
      return {
        post: (message) => { writeFrame(channel, serialize(message)); },
        kill: () => { child.kill('SIGKILL'); },
      };
    },
  };
}

interface StartedWorker extends Pick<SupervisedBox, 'ended'> {
  readonly child: ChildProcess;
  readonly channel: Duplex;
}

/** Starts a boxed process without a reader of its messages. Whatever it prints goes to standard error. */
function startWorker(kind: WorkerKind, grants: BoxGrants, limitMs?: Millis): StartedWorker {
  const child = startBoxedProcess({ ...grants, entry: entryFile(ENTRIES[kind]), pipes: 1 });
  const channel = child.stdio[4] as Duplex;
  // A process that ended does not read; its end is reported in any case.
  channel.on('error', () => undefined);
  const { ended } = superviseBox(child, { out: process.stderr, err: process.stderr, limitMs });
  return { child, channel, ended: ended.catch(() => ({ code: null, signal: null })) };
}

// A boxed process cannot start others. It asks the process that started it, which starts them in the same box and
// passes the messages on without reading them.
const START = 0;
const DATA = 1;
const KILL = 2;
const ENDED = 3;
const HEAD_BYTES = 5;
/** More processes than any command asks for at a time. */
const WORKERS_MAX = 512;

function head(kind: number, id: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt8(kind);
  bytes.writeUInt32LE(id, 1);
  return bytes;
}

/** Returns the boxed processes that another process starts for this one. */
export function relayedWorkers(channel: Duplex): WorkerBox {
  const listeners = new Map<number, WorkerListener>();
  let started = 0;
  readFrames(channel, (frame) => {
    const id = frame.readUInt32LE(1);
    const body = frame.subarray(HEAD_BYTES);
    const listener = listeners.get(id);
    if (frame[0] === DATA) listener?.onMessage(deserialize(body));
    else {
      listeners.delete(id);
      listener?.onEnd(JSON.parse(body.toString()) as BoxEnd);
    }
  });
  return {
    start: (kind, listener) => {
      const id = ++started;
      listeners.set(id, listener);
      writeFrame(channel, head(START, id), Buffer.from(kind));
      return {
        post: (message) => { writeFrame(channel, head(DATA, id), serialize(message)); },
        kill: () => { writeFrame(channel, head(KILL, id)); },
      };
    },
  };
}

/** The processes that were started for a boxed process. */
interface ServedWorkers {
  /** Whether one of them runs. */
  readonly areRunning: () => boolean;
  /** Ends all of them. */
  readonly stop: () => void;
}

/** Starts the processes that a boxed process asks for over a channel. */
export function serveWorkers(channel: Duplex, grants: BoxGrants): ServedWorkers {
  const running = new Map<number, StartedWorker>();
  const start = (id: number, kind: WorkerKind): void => {
    const worker = startWorker(kind, grants);
    running.set(id, worker);
    readFrames(worker.channel, (frame) => { writeFrame(channel, head(DATA, id), frame); });
    void worker.ended.then((end) => {
      running.delete(id);
      if (!channel.destroyed) writeFrame(channel, head(ENDED, id), Buffer.from(JSON.stringify(end)));
    });
  };
  channel.on('error', () => undefined);
  readFrames(channel, (frame) => {
    if (frame.length < HEAD_BYTES) return;
    const id = frame.readUInt32LE(1);
    const body = frame.subarray(HEAD_BYTES);
    const worker = running.get(id);
    if (frame[0] === DATA && worker !== undefined) writeFrame(worker.channel, body);
    if (frame[0] === KILL) worker?.child.kill('SIGKILL');
    if (frame[0] !== START || worker !== undefined || running.size >= WORKERS_MAX) return;
    const kind = WORKER_KINDS.find((name) => name === body.toString());
    if (kind !== undefined) start(id, kind);
  });
  return {
    areRunning: () => running.size > 0,
    stop: () => { for (const { child } of running.values()) child.kill('SIGKILL'); },
  };
}
