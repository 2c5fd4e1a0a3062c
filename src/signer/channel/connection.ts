import { readFileSync, readSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { GannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { greetSigner, SESSION_KEY_BYTES } from './channel-frames.ts';
import { createSignerClient, type SignerClient } from './client.ts';
import { SIGNER_FD } from '../command-process.ts';

/** The time between two attempts to read a channel that is not ready. */
const RETRY_MS = 2;
const RETRIES = 2_500;

/**
 * Returns a function that connects to the signer: over the inherited channel, or over the socket at a path. The key of
 * an inherited session is read now, before any other code of the command is loaded: what finds the descriptor later
 * finds no key in it. The function is called once.
 */
export function signerConnection(signer: true | string): () => SignerClient {
  if (signer !== true) return () => connectToSocket(signer);
  let key = readSessionKey();
  return () => {
    const own = key;
    key = Buffer.alloc(0);
    return createSignerClient(new Socket({ fd: SIGNER_FD }), own);
  };
}

/** Empty where the signer ended before it sent the key; the channel then says so. */
function readSessionKey(): Buffer {
  const key = Buffer.alloc(SESSION_KEY_BYTES);
  let length = 0;
  for (let retry = 0; length < key.length && retry < RETRIES; retry++) {
    try {
      const read = readSync(SIGNER_FD, key, length, key.length - length, null);
      if (read === 0) break;
      length += read;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
  return key;
}

/** The file with the secret of a signer's socket, beside it. */
export function secretPath(socket: string): string {
  return `${socket}.secret`;
}

function connectToSocket(path: string): SignerClient {
  const socket = connect(path);
  const greeting = async (): Promise<Buffer> => {
    let secret: Buffer;
    try {
      secret = readFileSync(secretPath(path));
    } catch (cause) {
      throw new GannetError('SIGNER_LOST', `${secretPath(path)} cannot be read: ${printable(messageOf(cause), 200)}; `
        + 'is "gannet signer" running, and is this user in the group of its socket?', { cause });
    }
    await new Promise<void>((resolve, reject) => { socket.once('connect', resolve).once('error', reject); });
    return greetSigner(socket, secret);
  };
  return createSignerClient(socket, greeting());
}
