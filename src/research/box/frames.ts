import type { Duplex } from 'node:stream';
import { GannetError } from '../../core/errors.ts';

/** A longer frame is no message: the longest carries the record of a trial or the page of a report. */
const FRAME_BYTES_MAX = 512 * 1_048_576;
const LENGTH_BYTES = 4;

/** Writes a frame: the length of its parts together, then the parts. */
export function writeFrame(channel: Duplex, ...parts: readonly Uint8Array[]): void {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(parts.reduce((sum, part) => sum + part.byteLength, 0));
  channel.cork();
  channel.write(length);
  for (const part of parts) channel.write(part);
  channel.uncork();
}

/** Calls `onFrame` for every frame that arrives; closes the channel on a frame that is longer than any message. */
export function readFrames(channel: Duplex, onFrame: (frame: Buffer) => void): void {
  let waiting: Buffer[] = [];
  let bytes = 0;
  channel.on('data', (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    for (;;) {
      if (bytes < LENGTH_BYTES) return;
      if (waiting[0]!.length < LENGTH_BYTES) waiting = [Buffer.concat(waiting)];
      const length = waiting[0]!.readUInt32LE();
      if (length > FRAME_BYTES_MAX) {
        channel.destroy(
          new GannetError('STRATEGY_INVALID', `a message of ${length} bytes came out of a boxed process`),
        );
        return;
      }
      if (bytes < LENGTH_BYTES + length) return;
      const all = Buffer.concat(waiting);
      const rest = all.subarray(LENGTH_BYTES + length);
      waiting = rest.length === 0 ? [] : [rest];
      bytes = rest.length;
      onFrame(all.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
    }
  });
}
