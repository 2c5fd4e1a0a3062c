import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { main as gannet } from '../../src/cli/program.ts';
import { runHere } from '../cli/in-process.ts';

// A process in which the same command line is run again and again, by turns in its main thread and in a thread of its
// own. The commands run outside of the box, whose processes would all have the same empty environment.

/** What a process is to do. */
export interface HashWork {
  readonly args: readonly string[];
  readonly repetitions: number;
}

/** One repetition: where it ran, and what the command printed. */
export interface Repetition {
  readonly where: 'main thread' | 'worker thread';
  readonly zone: string;
  readonly locale: string;
  readonly code: number;
  readonly stdout: string;
}

async function repeat(args: readonly string[]): Promise<Repetition> {
  const { timeZone: zone, locale } = new Intl.DateTimeFormat().resolvedOptions();
  let stdout = '';
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array) => {
    stdout += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    return true;
  };
  try {
    const code = await gannet([process.execPath, 'gannet', ...args], { box: runHere });
    return { where: isMainThread ? 'main thread' : 'worker thread', zone, locale, code, stdout };
  } finally {
    process.stdout.write = write;
  }
}

async function inThread(args: readonly string[]): Promise<Repetition> {
  const worker = new Worker(new URL(import.meta.url), { workerData: args });
  const [told] = await once(worker, 'message') as [Repetition];
  await worker.terminate();
  return told;
}

if (parentPort !== null) {
  const told = await repeat(workerData as readonly string[]);
  // A thread's port, not a window's: there is no origin to name.
  // oxlint-disable-next-line require-post-message-target-origin
  parentPort.postMessage(told);
} else if (import.meta.main) {
  const { args, repetitions } = JSON.parse(process.argv[2]!) as HashWork;
  for (let number = 0; number < repetitions; number++) {
    const told = await (number % 2 === 0 ? repeat(args) : inThread(args));
    // A command listens until its process ends.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}
