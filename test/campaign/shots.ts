import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'undici';
import { isGannetError } from '../../src/core/errors.ts';
import { parseJson } from '../../src/core/json.ts';
import type { SpawnedSandbox } from '../../src/sandbox/spawn.ts';
import type { Choose } from './choose.ts';
import { RPC_METHODS, spoiledBody } from './rpc-requests.ts';
import { TEMPLATES } from './service-requests.ts';
import { hostileBytes, sendBytes } from './socket-attack.ts';
import { SLOWEST_MS, type FuzzCounters } from './fuzz-counters.ts';
import { attackWebsocket } from './websocket-attack.ts';
import { spoil, wireRequest, type WireRequest } from './wire-request.ts';
import type { FuzzFixture } from './fuzz-fixture.ts';

const VIA_RPC = 0.15;
const VIA_SOCKET = 0.1;
const VIA_WEBSOCKET = 0.02;
const MESSAGES_PER_WEBSOCKET = 8;
/** A process that died takes its connections along at once; that it is dead is heard a little later. */
const EXIT_NOTICE_MS = 200;

/** What requests are sent with, and where their answers are counted. */
export interface Shots {
  readonly pool: Pool;
  readonly rpcPool: Pool;
  readonly fixture: FuzzFixture;
  readonly profile: 'reference' | 'live';
  readonly sandbox: SpawnedSandbox;
  readonly counters: FuzzCounters;
}

/** Sends one request, most likely a spoiled one, through one of the doors, and judges the answer. */
export async function fireOne(shots: Shots, choose: Choose): Promise<void> {
  const { fixture, sandbox, counters, profile } = shots;
  const { addresses } = sandbox;
  const way = choose.chance(VIA_WEBSOCKET) ? 'websocket' : choose.chance(VIA_SOCKET) ? 'socket'
    : choose.chance(VIA_RPC) ? 'rpc' : 'service';
  switch (way) {
    case 'service': {
      const request = choose.pick(TEMPLATES).make(choose, fixture);
      return fireService(shots, choose.chance(0.1) ? wireRequest(request, fixture) : spoil(choose, request, fixture));
    }
    case 'rpc':
      return fireRpc(shots, spoiledBody(choose, fixture, RPC_METHODS, 1));
    case 'socket': {
      const port = Number(
        new URL(choose.pick([addresses.base_url, addresses.base_url, addresses.rpc_url, addresses.ws_url])).port,
      );
      const bytes = hostileBytes(choose, wireRequest(choose.pick(TEMPLATES).make(choose, fixture), fixture));
      const start = performance.now();
      const { statuses, closed, text: answer } = await sendBytes(port, bytes, SLOWEST_MS);
      const text = bytes.toString('latin1');
      counters.time(performance.now() - start, text);
      if (!closed) counters.violation('the connection stayed open', text);
      for (const status of statuses) {
        counters.count('socket', status);
        if (!isFine(status) && status !== 100 && status !== 101
            && !isKnownFault({ profile, status, request: text, answer }))
          counters.violation(`answered with ${status}`, text);
      }
      return undefined;
    }
    case 'websocket': {
      const violations = await attackWebsocket(
        choose.pick([addresses.ws_url, addresses.rpc_url.replace('http', 'ws')]),
        { choose, fixture, messages: MESSAGES_PER_WEBSOCKET, timeoutMs: SLOWEST_MS },
      );
      counters.count('websocket', violations.length === 0 ? 'fine' : 'wrong');
      for (const violation of violations) counters.violation(violation, 'a websocket');
      return undefined;
    }
  }
}

/** Sends a request to the service and judges the answer; with an expectation, it has to be a 200. */
export async function fireService(
  { pool, profile, counters, sandbox }: Shots, request: WireRequest, expectation?: string,
): Promise<void> {
  const { method, target, headers, body } = request;
  const line =
    `${method} ${target} ${JSON.stringify(headers)} ${body === undefined ? '' : body.toString().slice(0, 1_000)}`;
  const start = performance.now();
  try {
    const response = await pool.request({ method, path: target, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.body.text();
    const { statusCode: status } = response;
    counters.time(performance.now() - start, line);
    counters.count('service', status);
    if (expectation !== undefined && status !== 200)
      return counters.violation(`${expectation}, got ${status} ${text.slice(0, 300)}`, line);
    if (!isFine(status) && !isKnownFault({ profile, status, request: target, answer: text }))
      counters.violation(`answered with ${status} ${text.slice(0, 300)}`, line);
    const isPlain = profile === 'live' && status === 404
      && String(response.headers['content-type']).startsWith('text/plain');
    if (method !== 'HEAD' && !isPlain && !isJson(text)) counters.violation(`no JSON: ${text.slice(0, 300)}`, line);
  } catch (error) {
    await reportSilence(counters, sandbox, error, line);
  }
}

async function fireRpc({ rpcPool, counters, sandbox }: Shots, body: string | Buffer): Promise<void> {
  const line = body.toString().slice(0, 1_000);
  const start = performance.now();
  try {
    const response =
      await rpcPool.request({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body });
    const text = await response.body.text();
    counters.time(performance.now() - start, line);
    counters.count('rpc', response.statusCode);
    if (![200, 204, 413].includes(response.statusCode))
      counters.violation(`answered with ${response.statusCode}`, line);
    if (response.statusCode !== 204 && !isJson(text)) counters.violation(`no JSON: ${text.slice(0, 300)}`, line);
    if (text.includes('"code":-32603')) counters.violation(`an internal error: ${text.slice(0, 300)}`, line);
  } catch (error) {
    await reportSilence(counters, sandbox, error, line);
  }
}

/** A connection that broke is excused where the body was too large to be read to its end. */
async function reportSilence(
  counters: FuzzCounters, sandbox: SpawnedSandbox, error: unknown, line: string,
): Promise<void> {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
  const end = await Promise.race([
    sandbox.exited.then((exit) => `the process ended with ${exit}: ${sandbox.errorOutput()}`), sleep(EXIT_NOTICE_MS),
  ]);
  if (end !== undefined) counters.isDead = true;
  counters.count('silence', code);
  counters.violation(end ?? `no answer: ${code} ${error instanceof Error ? error.message : ''}`, line);
}

/**
 * What the live service was seen to do with an unknown mint; what a market is there for whose venue is silent
 * at times.
 */
function isKnownFault(
  { profile, status, request, answer }: { profile: string; status: number; request: string; answer: string },
): boolean {
  if (status === 500) return profile === 'live' && request.includes('/swap/v2/order')
    && answer.includes('{"error":"Something unexpected occurred"}');
  return status === 502 && request.includes('/prediction/v1/orderbook/') && answer.includes('{"type":"api_error"');
}

function isFine(status: number): boolean {
  return status === 200 || (status >= 400 && status < 500);
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch (error) {
    if (isGannetError(error)) return false;
    throw error;
  }
}
