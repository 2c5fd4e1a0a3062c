import { timingSafeEqual, type KeyObject } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/time.ts';
import { createKeyedHash } from '../keyed-hash.ts';

// Each row of the counters carries a tag over itself and the tag before, under a key that only the holder of the
// wallet's key can derive. A changed, inserted, moved or deleted row therefore shows. The last tag also stands in a
// second file, so that a missing or an older file shows.

/** The input of a swap, its costs, or a mark of the counters themselves. */
export type RowKind = 'input' | 'cost' | CounterMark;

/**
 * A statement about all rows before: they are the first ones, or taken over from the earlier format; rows may be
 * missing, so that every cap counts as used; or an operator accepts the counters as they are.
 */
export type CounterMark = 'begun' | 'adopted' | 'full' | 'accepted';

/** One row of the counters. */
export interface CounterRow {
  readonly messageHash: string;
  readonly kind: RowKind;
  readonly mint: string;
  /** Smallest units. */
  readonly amount: bigint;
  readonly at: Millis;
}

/** The tags of one wallet's rows. */
export interface CounterChain {
  /** Returns the tag of a row that follows a tag. */
  tagOf(row: CounterRow, before: Uint8Array): Buffer;
  /** Returns the tag over the last row that was forgotten for its age. */
  anchorTag(last: Uint8Array): Buffer;
}

const ROW = Buffer.from('row\n');
const ANCHOR = Buffer.from('anchor\n');

/** The tag before the first row. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

/** Returns the tags of a wallet's rows under the key of its counters. */
export function createCounterChain(key: KeyObject, wallet: string): CounterChain {
  const keyed = createKeyedHash(key.export());
  return {
    // The texts contain no line break, so that no two rows have the same bytes.
    tagOf: ({ messageHash, kind, mint, amount, at }, before) =>
      keyed(ROW, before, Buffer.from(`\n${wallet}\n${messageHash}\n${kind}\n${mint}\n${amount}\n${at}`)),
    anchorTag: (last) => keyed(ANCHOR, last, Buffer.from(`\n${wallet}`)),
  };
}

/** Returns whether two tags are equal, in constant time. */
export function isSameTag(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The second file, with the tag of the last row of a wallet. */
interface CounterHead {
  readonly path: string;
  /** The tag at opening; undefined where there is no file, or an unreadable one. */
  readonly before: Buffer | undefined;
  /**
   * Notes the last tag. The first write is synced. Later ones are not: after a power failure the file may lag behind
   * the counters, which is no fault. Throws the fault of the disk.
   */
  write(tag: Uint8Array): void;
  close(): void;
}

const HEAD_FORMAT = 'gannet counters 1';
const HEAD_FORM = new RegExp(`^${HEAD_FORMAT} ([0-9a-f]{64})\\n$`);

/** Opens the head of a wallet's counters in the signer's folder. Nothing is written yet. */
export function openCounterHead(folder: string, wallet: string): CounterHead {
  const path = join(folder, `signer.${wallet}.head`);
  let descriptor: number | undefined;
  return {
    path,
    before: readHead(path),
    write(tag) {
      const isFirst = descriptor === undefined;
      descriptor ??= openToWrite(path);
      writeSync(descriptor, `${HEAD_FORMAT} ${Buffer.from(tag).toString('hex')}\n`, 0);
      if (isFirst) fsyncSync(descriptor);
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function readHead(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const tag = HEAD_FORM.exec(text)?.[1];
  return tag === undefined ? undefined : Buffer.from(tag, 'hex');
}

/** Opens the file in place, so that its content remains until it is overwritten. */
function openToWrite(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return openSync(path, 'wx', 0o600);
  }
}
