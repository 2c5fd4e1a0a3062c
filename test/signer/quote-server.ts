import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PriceGuardSettings } from '../../src/signer/price/price-guard-settings.ts';

/** A request for a quote. */
export interface AskedQuote {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** A service over HTTP that only quotes. */
export interface QuoteServer {
  readonly baseUrl: string;
  readonly asked: readonly AskedQuote[];
  /** Answers in its own way from now on; undefined for the usual one. */
  respondWith(respond: ((asked: AskedQuote, response: ServerResponse) => void) | undefined): void;
  close(): Promise<void>;
}

/** Returns the members of the service's answer to a request for a quote. */
export function quoteOf({ query }: Pick<AskedQuote, 'query'>, outAmount: string): Record<string, unknown> {
  return {
    inputMint: query.get('inputMint'), outputMint: query.get('outputMint'), inAmount: query.get('amount'), outAmount,
    swapMode: 'ExactIn', transaction: null,
  };
}

/** Starts a service that offers one unit for any swap, unless it is told otherwise: the price guard allows any then. */
export async function startQuoteServer(): Promise<QuoteServer> {
  const asked: AskedQuote[] = [];
  let own: ((asked: AskedQuote, response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://quotes');
    const one = { path: url.pathname, query: url.searchParams, headers: request.headers };
    asked.push(one);
    if (own !== undefined) own(one, response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(quoteOf(one, '1')));
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked,
    respondWith: (respond) => { own = respond; },
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => { resolve(); });
    }),
  };
}

/** Returns the settings of a price guard that asks a service. */
export function guardedBy(
  serviceUrl: string, more: Partial<PriceGuardSettings> = {},
): PriceGuardSettings {
  return {
    serviceUrl, apiKey: 'a-key', words: { path: '/swap/v2/order', query: new Map(), fields: new Map() },
    maxDeviationBps: 150, quoteTtlMs: 5_000, maxQuotesPerMinute: 60_000, ...more,
  };
}
