import { Worker } from 'node:worker_threads';
import { entryFile } from '../../core/code-files.ts';
import { FRAME_BYTES } from '../segment/segment-file.ts';
import type { Packed, PartAnswer, StreamPart } from './packed-file.ts';
import { packParts } from './packed-file.ts';

/** Starting a thread takes as long as packing this many bytes. */
const ALONE_BYTES = 8 << 20;
/** The limits of memory and of open files that wait for the thread. */
const MOST_BYTES = 32 << 20;
const MOST_FILES = 64;

/** Packs the segments of a history beside their maker: after the first megabytes, in a thread. */
export class SegmentPacker {
  readonly #directory: string;
  readonly #onPacked: (file: string, packed: Packed) => void;
  readonly #packAlone: (part: StreamPart) => Promise<PartAnswer>;
  /** Where each unfinished file is packed. */
  readonly #places = new Map<string, 'here' | 'thread'>();
  #thread: Worker | undefined;
  #message: StreamPart[] = [];
  /** The memory of the parts in the message. Transferring memory is slow, so it is sent in large pieces. */
  #memory = new Uint8Array(0);
  #filled = 0;
  #handed = 0;
  #waitingParts = 0;
  #waitingBytes = 0;
  #waitingFiles = 0;
  #fault: unknown;
  #answered = Promise.withResolvers<void>();

  constructor(directory: string, onPacked: (file: string, packed: Packed) => void) {
    this.#directory = directory;
    this.#onPacked = onPacked;
    this.#packAlone = packParts(directory);
  }

  /** Whether the limits are exceeded, so that no more should be added. */
  get isBusy(): boolean {
    return this.#fault !== undefined || this.#waitingBytes > MOST_BYTES || this.#waitingFiles > MOST_FILES;
  }

  /** Adds a part, whose memory may be reused afterwards. */
  add(part: StreamPart): void {
    const { file, stream, isLast } = part;
    const place = this.#places.get(file) ?? (this.#handed < ALONE_BYTES ? 'here' : 'thread');
    if (isLast) this.#places.delete(file);
    else this.#places.set(file, place);
    this.#handed += stream.length;
    this.#waitingParts += 1;
    this.#waitingBytes += stream.length;
    if (isLast) this.#waitingFiles += 1;
    if (place === 'thread') this.#send(part);
    else void this.#packAlone(part).then((answer) => { this.#take(answer); });
  }

  /** Resolves when it is not busy. Rejects with the first fault of the disk. */
  async room(): Promise<void> {
    while (this.isBusy) await this.#nextAnswer();
  }

  /** Resolves when everything added is synced to the disk. Rejects with the first fault of the disk. */
  async done(): Promise<void> {
    while (this.#waitingParts > 0 || this.#fault !== undefined) await this.#nextAnswer();
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #nextAnswer(): Promise<void> {
    this.#post();
    if (this.#fault === undefined) await this.#answered.promise;
    if (this.#fault !== undefined) throw this.#fault;
  }

  #send({ file, stream, isLast }: StreamPart): void {
    if (this.#filled + stream.length > this.#memory.length) {
      this.#post();
      this.#memory = new Uint8Array(Buffer.allocUnsafeSlow(FRAME_BYTES).buffer);
      this.#filled = 0;
    }
    const copy = this.#memory.subarray(this.#filled, this.#filled + stream.length);
    copy.set(stream);
    this.#filled += stream.length;
    this.#message.push({ file, stream: copy, isLast });
  }

  #post(): void {
    if (this.#message.length === 0) return;
    this.#startedThread().postMessage(this.#message, [this.#memory.buffer]);
    this.#message = [];
    this.#memory = new Uint8Array(0);
    this.#filled = 0;
  }

  #startedThread(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(entryFile('packing-thread'), { workerData: this.#directory });
    thread.on('message', (answer: PartAnswer) => { this.#take(answer); });
    thread.on('error', (error) => { this.#fail(error); });
    thread.on('exit', () => { this.#fail(new Error('the thread that packs segments has ended')); });
    return this.#thread = thread;
  }

  #take({ file, bytes, packed, fault }: PartAnswer): void {
    this.#waitingParts -= 1;
    this.#waitingBytes -= bytes;
    if (fault !== undefined) {
      this.#fail(Object.assign(new Error(fault.message), { code: fault.code }));
      return;
    }
    if (packed !== undefined) {
      this.#waitingFiles -= 1;
      try {
        this.#onPacked(file, packed);
      } catch (error) {
        this.#fail(error);
        return;
      }
    }
    this.#wake();
  }

  #fail(error: unknown): void {
    this.#fault ??= error;
    this.#wake();
  }

  #wake(): void {
    const { resolve } = this.#answered;
    this.#answered = Promise.withResolvers();
    resolve();
  }
}
