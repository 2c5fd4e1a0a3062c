import type { Dispatcher } from 'undici';
import { Agent } from 'undici';

/** A request as it left the client. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: unknown;
  readonly body: string | undefined;
}

/** A dispatcher that keeps what passes it, in order. */
export interface Wire {
  readonly dispatcher: Dispatcher;
  readonly sent: readonly SentRequest[];
  /** Returns what was sent to a path since `from`. */
  to(path: string, from?: number): readonly SentRequest[];
  close(): Promise<void>;
}

/** Returns a wire with nothing on it yet. */
export function openWire(): Wire {
  const agent = new Agent({ connections: 32, pipelining: 1 });
  const sent: SentRequest[] = [];
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const url = new URL(options.path, 'http://wire');
    sent.push({
      method: options.method, path: url.pathname, query: url.searchParams, headers: options.headers,
      body: typeof options.body === 'string' ? options.body : undefined,
    });
    return dispatch(options, handler);
  });
  return {
    dispatcher, sent,
    to: (path, from = 0) => sent.slice(from).filter((request) => request.path === path),
    close: () => agent.destroy(),
  };
}
