import { once } from 'node:events';
import { connect } from 'node:net';

/** What came back over a socket before it was closed. */
export interface RawAnswer {
  /** Undefined where the other side did not answer in HTTP. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes as they are and returns the first answer, once the other side has closed the connection. */
export async function sendRaw(
  baseUrl: string, bytes: string | Uint8Array, options: { readonly end?: boolean } = {},
): Promise<RawAnswer> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  if (options.end === false) socket.write(bytes);
  else socket.end(bytes);
  await once(socket, 'close');
  return parseAnswer(Buffer.concat(chunks).toString('latin1'));
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...headers] = (end < 0 ? text : text.slice(0, end)).split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1];
  return {
    status: status === undefined ? undefined : Number(status),
    headers: Object.fromEntries(headers.map((header) =>
      [header.slice(0, header.indexOf(':')).toLowerCase(), header.slice(header.indexOf(':') + 1).trim()])),
    body: end < 0 ? '' : text.slice(end + 4),
  };
}
