import type { ChildProcess } from 'node:child_process';
import { readSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { serialize } from 'node:v8';
import type { Millis } from '../../core/time.ts';
import type { HostRequest } from './host-messages.ts';
import { FRAME_BYTES_MAX, HEAD_BYTES } from './host-messages.ts';

/** Why no frame came: the process is gone, it took too long, or what came is no frame. */
export type ChannelFault = 'gone' | 'late' | 'malformed';

/** Returns whether the caller waits no longer; called now and then during a wait. */
type GiveUp = () => boolean;

/** The time during which an answer is awaited without a pause. */
const SPIN_MS = 0.1;
const SHORTEST_PAUSE_MS = 0.02;
const LONGEST_PAUSE_MS = 1;

const cell = new Int32Array(new SharedArrayBuffer(4));

/**
 * The daemon's end of a channel, read and written by blocking calls, so that a strategy answers within the engine's
 * turn. The descriptor does not block by itself: this side waits, and decides for how long.
 */
export class HostChannel {
  readonly #fd: number;
  readonly #errorFd: number;
  readonly #sockets: readonly Socket[];
  readonly #buffer = Buffer.allocUnsafe(65_536);
  #stored: Buffer = this.#buffer.subarray(0, 0);
  #isOpen = true;

  constructor({ stdio }: ChildProcess) {
    this.#sockets = [stdio[3] as Socket, stdio[2] as Socket];
    [this.#fd, this.#errorFd] = this.#sockets.map(takeDescriptor) as [number, number];
  }

  /** Closes the descriptors, which Node does not: it reads nothing from them, and so never comes to their end. */
  close(): void {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Writes a message. */
  write(message: HostRequest, giveUp: GiveUp): ChannelFault | undefined {
    const body = serialize(message);
    const frame = Buffer.allocUnsafe(HEAD_BYTES + body.length);
    frame.writeUInt32LE(body.length);
    body.copy(frame, HEAD_BYTES);
    let at = 0;
    return this.#until(() => {
      at += writeSync(this.#fd, frame, at);
      return at === frame.length;
    }, giveUp);
  }

  /** Returns the text of the next frame, once it is there. */
  read(giveUp: GiveUp): { readonly text: string } | ChannelFault {
    let frame: { readonly text: string } | 'malformed' | undefined;
    const fault = this.#until(() => {
      frame = this.#taken();
      return frame !== undefined || this.#fill();
    }, giveUp);
    return fault ?? frame ?? 'gone';
  }

  /** Returns the end of what Node has said about its own end. */
  lastWords(): string {
    if (!this.#isOpen) return '';
    const words = Buffer.allocUnsafe(65_536);
    let said = '';
    try {
      for (let count = 1; count > 0;) {
        count = readSync(this.#errorFd, words);
        said = (said + words.toString('utf8', 0, count)).slice(-LAST_WORDS_MAX);
      }
    } catch {
      // There is no more, or the process has closed it.
    }
    return said;
  }

  /** Takes a whole frame out of what has arrived; undefined where there is none yet. */
  #taken(): { readonly text: string } | 'malformed' | undefined {
    const stored = this.#stored;
    if (stored.length < HEAD_BYTES) return undefined;
    const length = stored.readUInt32LE();
    if (length > FRAME_BYTES_MAX) return 'malformed';
    if (stored.length < HEAD_BYTES + length) return undefined;
    this.#stored = stored.subarray(HEAD_BYTES + length);
    return { text: stored.toString('utf8', HEAD_BYTES, HEAD_BYTES + length) };
  }

  /** Reads what has arrived. Returns false, for the end of it, only by throwing. */
  #fill(): false {
    const count = readSync(this.#fd, this.#buffer);
    if (count === 0) throw Object.assign(new Error('the channel is closed'), { code: 'EOF' });
    const arrived = this.#buffer.subarray(0, count);
    this.#stored = Buffer.concat([this.#stored, arrived]);
    return false;
  }

  /** Repeats a step until it is done, with growing pauses while the descriptor is not ready. */
  #until(step: () => boolean, giveUp: GiveUp): ChannelFault | undefined {
    const startedAt = elapsedMs();
    // The error of a descriptor that is not ready is made thousands of times.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    let pauseMs = SHORTEST_PAUSE_MS;
    try {
      while (this.#isOpen) {
        try {
          if (step()) return undefined;
          continue;
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          if (code !== 'EAGAIN' && code !== 'EINTR') return 'gone';
        }
        if (elapsedMs() - startedAt < SPIN_MS) continue;
        if (giveUp()) return 'late';
        Atomics.wait(cell, 0, 0, pauseMs);
        pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
      }
      return 'gone';
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/**
 * Milliseconds since some instant, by a clock that only goes forward: it decides whether a strategy is stopped.
 */
export function elapsedMs(): Millis {
  return Number(process.hrtime.bigint()) / 1e6;
}

const LAST_WORDS_MAX = 8_192;

/** Returns the descriptor of a socket, from which Node then reads nothing by itself. */
function takeDescriptor(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle: { readonly fd: number; readStop(): number } };
  handle.readStop();
  socket.pause();
  // What it does wrong is noticed where it is read.
  socket.on('error', () => undefined);
  return handle.fd;
}
