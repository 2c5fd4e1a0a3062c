import { Ajv2020 as Ajv, type ValidateFunction } from 'ajv/dist/2020.js';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Profile, Sandbox } from '../../src/sandbox/sandbox.ts';
import * as prediction from './schemas/prediction-answers.ts';
import * as requests from './schemas/requests.ts';
import { loose, type Schema } from './schemas/shape.ts';
import * as swaps from './schemas/swap-answers.ts';
import * as tokens from './schemas/token-answers.ts';

/** What an endpoint takes and gives. */
interface Endpoint {
  readonly path: RegExp;
  readonly query?: Schema;
  readonly body?: Schema;
  readonly answer: Schema;
}

const quoteBack = requests.swapBody(loose(swaps.quoteOfV1, new Set()));
const ENDPOINTS: readonly Endpoint[] = [
  { path: /^GET \/swap\/v2\/order$/, query: requests.orderQuery, answer: swaps.order },
  { path: /^GET \/swap\/v2\/build$/, query: requests.buildQuery, answer: swaps.build },
  { path: /^POST \/swap\/v2\/execute$/, body: requests.executeBody, answer: swaps.execution },
  { path: /^GET \/swap\/v1\/quote$/, query: requests.quoteQuery, answer: swaps.quoteOfV1 },
  { path: /^POST \/swap\/v1\/swap$/, body: quoteBack, answer: swaps.swapOfV1 },
  { path: /^POST \/swap\/v1\/swap-instructions$/, body: quoteBack, answer: swaps.instructionsOfV1 },
  { path: /^GET \/ultra\/v1\/search$/, query: requests.searchQuery, answer: tokens.records },
  { path: /^GET \/tokens\/v2\/(?:tag|recent|toptraded\/\w+)$/, answer: tokens.records },
  { path: /^GET \/lend\/v1\/earn\/earnings$/, answer: tokens.earnings },
  { path: /^GET \/prediction\/v1\/events\/(?:search|suggested\/.+)$/, answer: prediction.events },
  { path: /^GET \/prediction\/v1\/events\/[^/]+\/markets$/, answer: prediction.markets },
  { path: /^GET \/prediction\/v1\/orderbook\/.+$/, answer: prediction.book },
  { path: /^GET \/prediction\/v1\/positions$/, answer: prediction.positions },
  { path: /^GET \/prediction\/v1\/history$/, answer: prediction.history },
];

/** The members that the live service writes in another form; the sources stand in the service's facts. */
const OTHERWISE_LIVE: ReadonlySet<string> =
  new Set(['percent', 'bps', 'closeTime', 'openTime', 'resolveAt', 'metadata', 'realizedPnlUsd', 'expireAt']);

/** Everything that goes between a client and a sandbox, held against the schemas of the description. */
export interface ExchangeLog {
  readonly baseUrl: string;
  /** What did not fit, as `METHOD path: request|answer: place and reason`. */
  readonly faults: readonly string[];
  /** How many exchanges of each endpoint were seen, by its expression. */
  readonly seen: ReadonlyMap<string, number>;
  readonly unseen: () => readonly string[];
  close(): Promise<void>;
}

/** Starts a server that hands every request to a sandbox, and checks it and its answer. */
export async function startExchangeLog(
  sandbox: Pick<Sandbox, 'answer'>, profile: Profile,
): Promise<ExchangeLog> {
  const ajv = new Ajv({ allErrors: true, strictTypes: false, strictTuples: false, strictRequired: false });
  ajv.addKeyword({
    keyword: 'between', type: 'string',
    validate: ([least, most]: readonly [number, number], value: string) =>
      Number(value) >= least && Number(value) <= most,
  });
  const compiled = new Map<Schema, ValidateFunction>();
  const faultsOf = (schema: Schema, value: unknown): string[] => {
    const check = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, check);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`);
  };
  const answers = new Map(ENDPOINTS.map(({ answer }) =>
    [answer, profile === 'live' ? loose(answer, OTHERWISE_LIVE) : answer]));
  const faults: string[] = [];
  const seen = new Map<string, number>();

  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void hand(request.method as 'GET' | 'POST', request.url ?? '/', request.headers, Buffer.concat(chunks).toString())
        .then(({ status, headers, body }) => response.writeHead(status, headers).end(body));
    });
  });
  async function hand(
    method: 'GET' | 'POST', url: string, headers: NodeJS.Dict<string | string[]>, body: string,
  ): ReturnType<Sandbox['answer']> {
    const { pathname, searchParams } = new URL(url, 'http://loopback');
    const line = `${method} ${pathname}`;
    const endpoint = ENDPOINTS.find(({ path }) => path.test(line));
    const sent = Object.fromEntries(Object.entries(headers).flatMap(([name, value]) =>
      (typeof value === 'string' && name !== 'content-length' ? [[name, value]] : [])));
    const answer = await sandbox.answer({ method, url, headers: sent, body: body === '' ? undefined : body });
    if (endpoint === undefined) {
      faults.push(`${line}: the description has no such endpoint`);
      return answer;
    }
    seen.set(String(endpoint.path), (seen.get(String(endpoint.path)) ?? 0) + 1);
    const note = (side: string, found: readonly string[]): void => {
      faults.push(...found.map((fault) => `${line}: ${side}: ${fault}`));
    };
    const names = [...searchParams.keys()];
    if (new Set(names).size < names.length) note('request', [`a parameter stands twice in ${url}`]);
    if (endpoint.query !== undefined) note('request', faultsOf(endpoint.query, Object.fromEntries(searchParams)));
    if (endpoint.body !== undefined) note('request', faultsOf(endpoint.body, JSON.parse(body)));
    if (answer.status === 200)
      note('answer', faultsOf(answers.get(endpoint.answer)!, JSON.parse(answer.body.toString())));
    else note('answer', [`status ${answer.status}: ${answer.body.toString().slice(0, 200)}`]);
    return answer;
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, faults, seen,
    unseen: () => ENDPOINTS.map(({ path }) => String(path)).filter((path) => !seen.has(path)),
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}
