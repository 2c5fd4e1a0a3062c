import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PageStarting, PageState, PriceCurve, Story } from '../../src/dashboard/page-state.ts';
import { pageAssets } from '../../src/dashboard/page-assets.ts';
import { BASE, equityCurve, pageState, priceCurve, STORIES } from './page-states.ts';

/** A request that changes something, as the page sent it. */
interface Order {
  readonly path: string;
  readonly body: unknown;
}

const MINUTES: Readonly<Record<string, number>> = { '1h': 60, '1d': 1_440, '7d': 10_080, '30d': 43_200, 'all': 60_000 };
/** The policy that the daemon sends, and a stricter one beside it. */
const PAGE_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
  + "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
  + "require-trusted-types-for 'script'";
const CSRF = 'csrf-of-the-session';

/** A server that stands in for the daemon: the real files of the page under their real policy, and chosen answers. */
export class PageDaemon {
  readonly orders: Order[] = [];
  readonly refusals: string[] = [];
  role: 'operator' | 'viewer' = 'operator';
  isLoggedIn = true;
  isEmpty = false;
  /** Bytes of everything that was sent but events. */
  sentBytes = 0;
  state: PageState | PageStarting = pageState();
  stories: readonly Story[] = STORIES;
  #streams = new Set<ServerResponse>();
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Listens; after a break on the same port again. */
  async open(): Promise<void> {
    const server = createServer((request, response) => { void this.#answer(request, response); });
    this.#server = server;
    await new Promise<void>((resolve) => { server.listen(this.#port, '127.0.0.1', resolve); });
    this.#port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
    this.#server?.closeAllConnections();
    await new Promise((resolve) => { this.#server?.close(resolve); });
  }

  send(event: 'state' | 'story', data: unknown): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  setState(state: PageState | PageStarting): void {
    this.state = state;
    this.send('state', state);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request;
    const url = new URL(request.url ?? '/', this.url);
    const asset = pageFiles().get(url.pathname);
    if (method === 'GET' && asset !== undefined) {
      response.writeHead(200, { 'content-type': asset.type, 'content-security-policy': PAGE_POLICY,
        'x-content-type-options': 'nosniff' });
      this.sentBytes += Buffer.byteLength(asset.body);
      response.end(asset.body);
      return;
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const send = (status: number, value: unknown): void => {
      const json = JSON.stringify(value);
      this.sentBytes += Buffer.byteLength(json);
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(json);
    };
    const refuse = (status: number, message: string): void => {
      send(status, { error: { code: 'REFUSED', message } });
    };
    if (url.pathname === '/session') {
      if (method === 'POST') {
        const { token, code } = body as { readonly token?: string; readonly code?: string };
        if (token !== 'right-token' && code !== 'CODE-1') {
          refuse(401, 'this is not the token of the operator or of a viewer');
          return;
        }
        this.isLoggedIn = true;
      }
      if (!this.isLoggedIn) refuse(401, 'log in first');
      else send(200, { role: this.role, csrf: CSRF });
      if (method === 'DELETE') this.isLoggedIn = false;
      return;
    }
    if (!this.isLoggedIn) {
      refuse(401, 'log in first');
      return;
    }
    if (method === 'POST') {
      if (request.headers['x-gannet-csrf'] !== CSRF) this.refusals.push(url.pathname);
      this.orders.push({ path: url.pathname, body });
      if (url.pathname.includes('refused')) refuse(409, 'the chain says that this transaction landed');
      else send(200, {});
      return;
    }
    if (url.pathname === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
      this.#streams.add(response);
      request.on('close', () => { this.#streams.delete(response); });
      response.write(`event: state\ndata: ${JSON.stringify(this.state)}\n\n`);
      for (const [i, story] of this.stories.entries())
        response.write(`id: ${i}\nevent: story\ndata: ${JSON.stringify(story)}\n\n`);
      return;
    }
    const value = this.#view(url);
    if (value === undefined) refuse(404, 'not found');
    else send(200, value);
  }

  #view({ pathname, searchParams }: URL): unknown {
    const minutes = MINUTES[searchParams.get('range') ?? '1d']!;
    const pair = searchParams.get('pair') ?? '';
    switch (pathname) {
      case '/api/equity': return this.isEmpty ? { currency: 'USDC', points: [] } : equityCurve(minutes);
      case '/api/prices': return this.isEmpty
        ? { pair, points: [], fills: [], levels: [] } satisfies PriceCurve : priceCurve(pair, minutes);
      case '/api/preview': return { sales: [], sentence: searchParams.get('action') === 'sell'
        ? 'Sells 1 position, about 100.31 USDC now, in 1 swap'
        : 'Sells 2 positions, about 197.71 USDC now, in 2 swaps. No strategy buys until you resume' };
      case '/api/decisions': return this.isEmpty ? [] : Array.from({ length: 300 }, (_, i) => ({
        seq: 812 - i, at: BASE - i * 20_000, strategy: ['sol-dip', 'grid', 'bonk-momentum'][i % 3],
        verdict: i % 5 === 0 ? 'denied' : 'approved', code: i % 5 === 0 ? 'BUDGET_EXCEEDED' : null,
        proposal: { kind: 'swap', reason: `below the lower band: 179.${100 + i} against a mean of 181.72` },
      }));
      case '/api/story': return { stories: [], has_more: false };
      case '/api/log': return { lines: this.isEmpty ? [] : Array.from({ length: 40 }, (_, i) => ({
        at: new Date(BASE - i * 9_000).toISOString(), level: i % 9 === 0 ? 'warn' : 'info',
        message: i % 9 === 0 ? 'a poll was answered late' : 'intent confirmed', details: `{"intent":"i-${40 - i}"}`,
      })) };
      default: return undefined;
    }
  }
}

let files: ReturnType<typeof pageAssets> | undefined;

function pageFiles(): ReturnType<typeof pageAssets> {
  return files ??= pageAssets();
}
