import { GannetError, messageOf } from '../core/errors.ts';

/** More than any request or answer needs; whoever sends more wants something else. */
export const MAX_FRAME_BYTES = 65_536;
const HEADER_BYTES = 4;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Returns a message as it goes over the channel: its length in four bytes, big endian, then JSON. Throws SIGN_REFUSED where it is too long. */
export function encodeFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > MAX_FRAME_BYTES) throw refused(`a message of ${body.length} bytes; the most is ${MAX_FRAME_BYTES}`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  frame.writeUInt32BE(body.length, 0);
  body.copy(frame, HEADER_BYTES);
  return frame;
}

/**
 * Returns what takes a channel's bytes, in whatever pieces they come, and gives each whole message to `take`.
 * Throws SIGN_REFUSED at the first that is too long or no JSON; it must be given nothing more then.
 */
export function createFrameReader(take: (message: unknown) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    while (pending.length >= HEADER_BYTES) {
      const length = pending.readUInt32BE(0);
      // Judged by its header: nobody gets memory here by announcing much.
      if (length > MAX_FRAME_BYTES) throw refused(`a message of ${length} bytes; the most is ${MAX_FRAME_BYTES}`);
      if (pending.length < HEADER_BYTES + length) return;
      const body = pending.subarray(HEADER_BYTES, HEADER_BYTES + length);
      pending = pending.subarray(HEADER_BYTES + length);
      take(parse(body));
    }
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body)) as unknown;
  } catch (error) {
    // The parser's own words quote what it read: of no use here, and possibly secret.
    throw refused(`a message of ${body.length} bytes that is no JSON in UTF-8 (${error instanceof SyntaxError ? 'JSON' : messageOf(error)})`);
  }
}

function refused(found: string): GannetError {
  return new GannetError('SIGN_REFUSED', `the channel between the daemon and the signer brought ${found}`);
}
