import { connect } from 'node:net';
import type { Choose } from './choose.ts';
import { mutateBytes } from './mutation.ts';
import type { WireRequest } from './wire-request.ts';

/** What came back over a socket. */
export interface SocketAnswer {
  /** The status lines, in their order; none where the bytes were no whole request. */
  readonly statuses: readonly number[];
  readonly text: string;
  /** Whether the other side closed in time. */
  readonly closed: boolean;
}

/** Returns the bytes of a request, spoiled, or bytes that never were one. */
export function hostileBytes(choose: Choose, request: WireRequest): Buffer {
  if (choose.chance(0.1)) return choose.bytes(choose.integer(0, 400));
  const body = Buffer.from(request.body ?? '');
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const framing = choose.pick([
    `content-length: ${body.length}\r\n`, `content-length: ${body.length}\r\n`,
    `content-length: ${body.length + choose.integer(-3, 3)}\r\n`, '',
    `content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n`, 'transfer-encoding: chunked\r\n',
    'transfer-encoding: identity\r\n', 'content-length: 0\r\ncontent-length: 1\r\n', 'expect: 100-continue\r\n',
    'expect: wonders\r\n',
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
    + 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  ]);
  const version = choose.pick(['1.1', '1.1', '1.1', '1.0', '2.0', '0.9']);
  const target = choose.chance(0.1) ? `http://elsewhere.example${request.target}` : request.target;
  const bytes = Buffer.concat([Buffer.from(
    `${request.method} ${target} HTTP/${version}\r\nhost: x\r\nconnection: close\r\n${headers}${framing}\r\n`,
  ), body]);
  const spoiled = choose.chance(0.7) ? mutateBytes(choose, bytes) : bytes;
  return choose.chance(0.1) ? Buffer.concat([spoiled, spoiled]) : spoiled;
}

/**
 * Sends bytes, says that no more will follow, and returns what came back until the other side closed or `timeoutMs` had
 * passed.
 */
export function sendBytes(port: number, bytes: Buffer, timeoutMs: number): Promise<SocketAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const finish = (closed: boolean): void => {
      clearTimeout(timeout);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      resolve({
        closed, text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
      });
    };
    const timeout = setTimeout(() => finish(false), timeoutMs);
    // A reset is the other side's way of not reading on.
    socket.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('close', () => finish(true));
    socket.end(bytes);
  });
}
