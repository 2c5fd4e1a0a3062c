import type { ClientRequest, IncomingMessage } from 'node:http';
import type * as http from 'node:http';
import type * as https from 'node:https';
import { createRequire } from 'node:module';
import type { GannetError } from '../core/errors.ts';
import { messageOf } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';

/** A whole answer, within the bounds of the connection. */
interface HttpAnswer {
  readonly status: number;
  /** Undefined where the header is missing. */
  readonly retryAfter: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** One request to the host of the connection. */
interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string | number>> | undefined;
  readonly body?: string | undefined;
  /** For the whole answer, slow bodies included. */
  readonly timeoutMs: Millis;
}

/** Connections to one host. Redirects are not followed: they are answers of their own status. */
interface BoundedHttp {
  /** Rejects where no whole answer comes in time, or a longer one than allowed. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends at once; requests under way fail. */
  close(): void;
}

/** An `import` of these modules would load all their parts, a second HTTP client among them: 10 MB of memory. */
const load = createRequire(import.meta.url);

/** Returns connections for `http:` or `https:`. `tooLong` is the error for an answer beyond `maxResponseBytes`. */
export function createBoundedHttp({ protocol, maxSockets, maxResponseBytes, tooLong }: {
  readonly protocol: string; readonly maxSockets: number; readonly maxResponseBytes: number;
  readonly tooLong: () => GannetError;
}): BoundedHttp {
  const { Agent, request } = protocol === 'https:' ? load('node:https') as typeof https
    : load('node:http') as typeof http;
  const agent = new Agent({ keepAlive: true, maxSockets });

  function take(outgoing: ClientRequest, answer: IncomingMessage, resolve: (answer: HttpAnswer) => void): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxResponseBytes) outgoing.destroy(tooLong());
      else chunks.push(chunk);
    });
    answer.on('end', () => {
      resolve({
        status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'],
        headers: answer.headers,
        text: Buffer.concat(chunks).toString('utf8'),
      });
    });
  }

  return {
    send: ({ method, url, headers, body, timeoutMs }) => new Promise((resolve, reject) => {
      const outgoing = request(url, {
        method, agent, headers: { accept: 'application/json', 'user-agent': 'gannet', ...headers },
        signal: AbortSignal.timeout(timeoutMs),
      }, (answer) => {
        answer.on('error', reject);
        take(outgoing, answer, resolve);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    }),
    close: () => { agent.destroy(); },
  };
}

/** Returns whether an error of a request means that its time was over. */
export function isLate(cause: unknown): boolean {
  return cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError');
}

/** Returns the system's code of a failed request where there is one: its message contains the address. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause).slice(0, 40);
}
