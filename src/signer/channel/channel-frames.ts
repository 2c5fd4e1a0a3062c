import { isUtf8 } from 'node:buffer';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { createKeyedHash } from '../keyed-hash.ts';

// The form of the bytes between the daemon and the signer. Each frame is authenticated with the session's key, its
// direction and its number, so that only the two ends can write, and nothing can be repeated, left out or moved.

/** The end of the channel that writes. */
type ChannelEnd = 'signer' | 'daemon';

/** More than any request or answer needs. */
const MAX_FRAME_BYTES = 65_536;
const LENGTH_BYTES = 4;
const TAG_BYTES = 32;
const HEADER_BYTES = LENGTH_BYTES + TAG_BYTES;
const NUMBER_BYTES = 8;
/** The two ends of a socket greet each other at once. */
const GREETING_MS: Millis = 5_000;

/** The length of a session's key. */
export const SESSION_KEY_BYTES = 32;

/** Returns a new key of a session. */
export function newSessionKey(): Buffer {
  return randomBytes(SESSION_KEY_BYTES);
}

/**
 * Returns a function that puts one end's next message into a frame: the length of the body in four bytes, big endian,
 * its tag, then the body, JSON. It throws SIGN_REFUSED where a message is too long.
 */
export function createFrameWriter(sessionKey: Uint8Array, from: ChannelEnd): (message: unknown) => Buffer {
  const tagOf = createTags(sessionKey, from);
  return (message) => {
    const text = JSON.stringify(message);
    const length = Buffer.byteLength(text);
    if (length > MAX_FRAME_BYTES) throw channelFault(`a message of ${length} bytes; the most is ${MAX_FRAME_BYTES}`);
    const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
    frame.writeUInt32BE(length, 0);
    frame.write(text, HEADER_BYTES);
    tagOf(frame.subarray(HEADER_BYTES)).copy(frame, LENGTH_BYTES);
    return frame;
  };
}

/**
 * Returns a function that takes the bytes of one end, in pieces of any size, and passes each whole message to `take`.
 * It throws SIGN_REFUSED at the first message that is too long, not authentic or no JSON, and must not be called again
 * then.
 */
export function createFrameReader(
  sessionKey: Uint8Array, from: ChannelEnd, take: (message: unknown) => void,
): (bytes: Buffer) => void {
  const tagOf = createTags(sessionKey, from);
  let pending: Buffer = Buffer.alloc(0);
  let number = 0;
  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    while (pending.length >= LENGTH_BYTES) {
      const length = pending.readUInt32BE(0);
      // The header alone decides: a long announcement allocates nothing.
      if (length > MAX_FRAME_BYTES) throw channelFault(`a message of ${length} bytes; the most is ${MAX_FRAME_BYTES}`);
      if (pending.length < HEADER_BYTES + length) return;
      const body = pending.subarray(HEADER_BYTES, HEADER_BYTES + length);
      number += 1;
      if (!timingSafeEqual(tagOf(body), pending.subarray(LENGTH_BYTES, HEADER_BYTES)))
        throw channelFault(`a message in place ${number} that its other end did not send there: forged, repeated, `
          + 'or out of order');
      pending = pending.subarray(HEADER_BYTES + length);
      take(parse(body));
    }
  };
}

/** Returns a function that gives the tag of an end's next message. */
function createTags(sessionKey: Uint8Array, from: ChannelEnd): (body: Uint8Array) => Buffer {
  const keyed = createKeyedHash(createKeyedHash(sessionKey)(Buffer.from(`gannet channel ${from}`)));
  const number = Buffer.alloc(NUMBER_BYTES);
  let count = 0n;
  return (body) => {
    count += 1n;
    number.writeBigUInt64BE(count);
    return keyed(number, body);
  };
}

function parse(body: Buffer): unknown {
  try {
    if (isUtf8(body)) return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    // The parser's message quotes its input, which may be secret.
  }
  throw channelFault(`a message of ${body.length} bytes that is no JSON in UTF-8`);
}

function channelFault(found: string): GannetError {
  return new GannetError('SIGN_REFUSED', `the channel between the daemon and the signer brought ${found}`);
}

/** Proves to the other end of a socket that this one knows a shared secret, and demands the same proof. */
type Greeting = (channel: Duplex, secret: Uint8Array) => Promise<Buffer>;

/**
 * Greets a daemon from the signer's end of a socket, and returns the session's key. Rejects with SIGN_REFUSED where the
 * other end does not know the secret. `admit` may still refuse an honest daemon with a reason.
 */
export function greetDaemon(admit: () => boolean): Greeting {
  return async (channel, secret) => {
    const own = randomBytes(SESSION_KEY_BYTES);
    channel.write(own);
    const answer = await readExactly(channel, 2 * SESSION_KEY_BYTES);
    const nonces = Buffer.concat([own, answer.subarray(0, SESSION_KEY_BYTES)]);
    if (!timingSafeEqual(proofOf(secret, 'daemon', nonces), answer.subarray(SESSION_KEY_BYTES)))
      throw channelFault('a greeting without the shared secret');
    const admitted = admit();
    channel.write(admitted ? proofOf(secret, 'signer', nonces) : BUSY);
    if (!admitted) throw channelFault('a second daemon while one is served');
    return proofOf(secret, 'session', nonces);
  };
}

/** An honest refusal of a second connection. */
const BUSY = Buffer.alloc(SESSION_KEY_BYTES);

/**
 * Greets the signer from the daemon's end of a socket, and returns the session's key. Rejects with SIGN_REFUSED where
 * the other end does not know the secret, or serves another daemon.
 */
export const greetSigner: Greeting = async (channel, secret) => {
  const theirs = await readExactly(channel, SESSION_KEY_BYTES);
  const own = randomBytes(SESSION_KEY_BYTES);
  const nonces = Buffer.concat([theirs, own]);
  channel.write(Buffer.concat([own, proofOf(secret, 'daemon', nonces)]));
  const proof = await readExactly(channel, SESSION_KEY_BYTES);
  if (proof.equals(BUSY)) throw channelFault('the refusal of a second connection: the signer serves another daemon');
  if (!timingSafeEqual(proofOf(secret, 'signer', nonces), proof))
    throw channelFault('a greeting without the shared secret: another process serves the socket');
  return proofOf(secret, 'session', nonces);
};

function proofOf(secret: Uint8Array, of: 'daemon' | 'signer' | 'session', nonces: Uint8Array): Buffer {
  return createKeyedHash(secret)(Buffer.from(`gannet greeting ${of}`), nonces);
}

/** Reads so many bytes of a channel and no more; the rest stays in it. */
async function readExactly(channel: Duplex, length: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const take = (): void => {
    const bytes = channel.read(length) as Buffer | null;
    if (bytes !== null) resolve(bytes);
  };
  const lose = (): void => { reject(channelFault('its end instead of a greeting')); };
  const timeout = AbortSignal.timeout(GREETING_MS);
  const giveUp = (): void => { reject(channelFault(`no greeting within ${GREETING_MS} ms`)); };
  timeout.addEventListener('abort', giveUp, { once: true });
  channel.on('readable', take).once('end', lose).once('close', lose).once('error', lose);
  take();
  try {
    return await promise;
  } finally {
    timeout.removeEventListener('abort', giveUp);
    channel.off('readable', take).off('end', lose).off('close', lose).off('error', lose);
  }
}
