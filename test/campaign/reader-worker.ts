import { parentPort, workerData } from 'node:worker_threads';
import { seededRandom, type Random } from '../../src/core/random.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import type { Golden } from '../signer/policy/goldens.ts';
import { integer, mutate, pick, randomBytes } from '../signer/random-transaction.ts';
import { judgeDamaged, type Reading } from './damage-law.ts';

/** What a reader's worker is started with. */
export interface ReaderWork {
  readonly goldens: readonly Golden[];
  readonly seed: string;
  readonly untilMs: number;
  /** How long the bytes are that are being read, then the bytes: who watches sees what a reader hangs on. */
  readonly window: SharedArrayBuffer;
  /** How many were read; one that does not move hangs. */
  readonly rounds: SharedArrayBuffer;
}

/** What a worker tells of a stretch of its work. */
export interface ReaderTold {
  readonly counts: Readonly<Record<Reading, number>>;
  /** Of the thread's own time, so that a busy machine is not taken for a slow reader. */
  readonly slowestMs: number;
  readonly violation?: { readonly what: string; readonly base64: string } | undefined;
}

const STRETCH = 5_000;
/** Of the thread's own time. */
const SLOWEST_MS = 100;
/** Longer than any transaction. */
const LONGEST = 4_300;

function work({ goldens, seed, untilMs, window, rounds }: ReaderWork, tell: (told: ReaderTold) => void): void {
  const policy = createPolicy();
  const counter = new BigInt64Array(rounds);
  const length = new Int32Array(window, 0, 1);
  const shown = new Uint8Array(window, 4);
  for (let stretch = 0; Date.now() < untilMs; stretch++) {
    const random = seededRandom(`${seed}:${stretch}`);
    const counts = { unread: 0, denied: 0, allowed: 0 };
    let slowestMs = 0;
    for (let round = 0; round < STRETCH; round++) {
      const golden = pick(random, goldens);
      const bytes = damaged(random, golden, goldens);
      length[0] = Math.min(bytes.length, shown.length);
      shown.set(bytes.subarray(0, length[0]));
      Atomics.add(counter, 0, 1n);
      const before = process.threadCpuUsage();
      try {
        counts[judgeDamaged(policy, golden, bytes)] += 1;
      } catch (error) {
        tell({ counts, slowestMs, violation: {
          what: `${golden.kind}: ${error instanceof Error ? error.stack ?? error.message : String(error)}`,
          base64: Buffer.from(bytes).toString('base64'),
        } });
      }
      const used = process.threadCpuUsage(before);
      const tookMs = (used.user + used.system) / 1_000;
      if (tookMs > SLOWEST_MS) tell({ counts: { unread: 0, denied: 0, allowed: 0 }, slowestMs: tookMs, violation: {
        what: `${golden.kind}: ${tookMs} ms for one reading`, base64: Buffer.from(bytes).toString('base64'),
      } });
      slowestMs = Math.max(slowestMs, tookMs);
    }
    tell({ counts, slowestMs });
  }
}

/**
 * Returns anything from noise to a golden with a few scratches: two grown together, lengths that lie, tables that lead
 * nowhere.
 */
function damaged(random: Random, { bytes }: Golden, goldens: readonly Golden[]): Uint8Array {
  const way = integer(random, 0, 10);
  if (way === 0) return randomBytes(random, integer(random, 0, LONGEST));
  let changed: Uint8Array = bytes;
  if (way === 1) changed = grafted(random, bytes, pick(random, goldens).bytes);
  if (way === 2) changed = Uint8Array.from(bytes, (byte) => (random() < 0.01 ? pick(random, EDGES) : byte));
  if (way === 3) changed = exchanged(random, bytes);
  if (way === 10) changed = withVersion(random, bytes);
  // Nothing moved: what the bytes say changes, not how they are cut.
  if (way >= 6 && way < 10) return scratched(random, bytes);
  for (let scratches = way < 4 || way === 10 ? integer(random, 0, 2)
    : integer(random, 1, 6); scratches > 0 && changed.length > 0; scratches--) changed = mutate(random, changed);
  return changed;
}

/** Counts and indexes at their ends, and the first byte of a longer count. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff];

function scratched(random: Random, bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let scratches = integer(random, 1, 4); scratches > 0; scratches--) {
    const at = integer(random, 0, copy.length - 1);
    copy[at] = random() < 0.5 ? copy[at]! ^ (1 << integer(random, 0, 7)) : pick(random, EDGES);
  }
  return copy;
}

/** The same bytes, said to be of another version. */
function withVersion(random: Random, bytes: Uint8Array): Uint8Array {
  const versioned = Uint8Array.from([0x80 | integer(random, 0, 3), ...bytes]);
  return random() < 0.5 ? versioned : versioned.subarray(1).with(0, versioned[0]!);
}

/** The head of one, the tail of another. */
function grafted(random: Random, head: Uint8Array, tail: Uint8Array): Uint8Array {
  const at = integer(random, 0, head.length);
  return Uint8Array.from([...head.subarray(0, at), ...tail.subarray(integer(random, 0, tail.length))])
    .subarray(0, LONGEST);
}

/** Two stretches of the same length in each other's places: keys, most of all. */
function exchanged(random: Random, bytes: Uint8Array): Uint8Array {
  const size = pick(random, [1, 8, 32, 64]);
  if (bytes.length < 2 * size) return bytes;
  const [first, second] = [integer(random, 0, bytes.length - size), integer(random, 0, bytes.length - size)];
  const copy = Uint8Array.from(bytes);
  copy.set(bytes.subarray(first, first + size), second);
  copy.set(bytes.subarray(second, second + size), first);
  return copy;
}

if (parentPort !== null) {
  const parent = parentPort;
  // A thread's port, not a window's: there is no origin to name.
  // oxlint-disable-next-line require-post-message-target-origin
  work(workerData as ReaderWork, (told) => { parent.postMessage(told); });
}
