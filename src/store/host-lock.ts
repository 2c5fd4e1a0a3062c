import { once } from 'node:events';
import type { Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { messageOf } from '../core/errors.ts';
import type { ProcessLock } from './process-lock.ts';
import { inUse, unusable } from './process-lock.ts';

const ANSWER_MS = 1_000;

/**
 * Takes a name that the Linux kernel gives to one process of a network namespace, whoever its user is and whatever its
 * folders are: a socket of the abstract namespace. It leaves nothing behind and ends with its holder, however that
 * ends. Containers with networks of their own do not see each other's names.
 * Throws STATE_LOCKED, naming the holder's process where that one answers.
 */
export async function takeHostLock(options: {
  /** At most 90 characters: the kernel knows 108. */
  readonly name: string;
  /** What is locked, and what to do where it is: "wallet X", "give this one another wallet". */
  readonly subject: string;
  readonly remedy: string;
}): Promise<ProcessLock> {
  const path = `\0gannet:${options.name}`;
  const server = createServer((socket) => {
    // Whoever asks and hangs up must not end the holder.
    socket.on('error', () => undefined);
    socket.end(`${process.pid}\n`);
  });
  try {
    server.listen({ path });
    await once(server, 'listening');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'))
      throw unusable(`cannot lock ${options.subject}: ${messageOf(cause)}`, cause);
    throw inUse(options, await askHolder(path), cause);
  }
  // The lock must not keep a process that is done.
  server.unref();
  return { release: () => { close(server); } };
}

function close(server: Server): void {
  if (server.listening) server.close();
}

/** Returns the holder's process, undefined where it is too busy to say or has just gone. */
async function askHolder(path: string): Promise<number | undefined> {
  const socket = connect({ path });
  socket.setTimeout(ANSWER_MS, () => { socket.destroy(); });
  let text = '';
  try {
    for await (const chunk of socket.setEncoding('utf8')) text += String(chunk).slice(0, 20);
  } catch {
    return undefined;
  }
  return /^[1-9]\d{0,9}\n$/.test(text) ? Number(text) : undefined;
}
