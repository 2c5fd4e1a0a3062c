import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'undici';
import { isGannetError } from '../../src/core/errors.ts';
import { parseJson } from '../../src/core/json.ts';
import type { SpawnedSandbox } from '../../src/sandbox/spawn.ts';
import type { Choose } from './choose.ts';
import { RPC_METHODS, spoiledBody } from './rpc-requests.ts';
import { TEMPLATES } from './service-requests.ts';
import { hostileBytes, sendBytes } from './socket-attack.ts';
import { SLOWEST_MS, type Tally } from './tally.ts';
import { attackWebsocket } from './websocket-attack.ts';
import { spoil, wireRequest, type WireRequest } from './wire-request.ts';
import type { FuzzWorld } from './world.ts';

const VIA_RPC = 0.15;
const VIA_SOCKET = 0.1;
const VIA_WEBSOCKET = 0.02;
const MESSAGES_PER_WEBSOCKET = 8;
/** A process that died takes its connections along at once; that it is dead is heard a little later. */
const DEATH_NOTICE_MS = 200;

/** What requests are sent with, and where their answers are counted. */
export interface Shots {
  readonly pool: Pool;
  readonly rpcPool: Pool;
  readonly world: FuzzWorld;
  readonly profile: 'reference' | 'live';
  readonly sandbox: SpawnedSandbox;
  readonly tally: Tally;
}

/** Sends one request, most likely a spoiled one, through one of the doors, and judges the answer. */
export async function fireOne(shots: Shots, choose: Choose): Promise<void> {
  const { world, sandbox, tally, profile } = shots;
  const { addresses } = sandbox;
  const way = choose.chance(VIA_WEBSOCKET) ? 'websocket' : choose.chance(VIA_SOCKET) ? 'socket'
    : choose.chance(VIA_RPC) ? 'rpc' : 'service';
  switch (way) {
    case 'service': {
      const request = choose.pick(TEMPLATES).make(choose, world);
      return fireService(shots, choose.chance(0.1) ? wireRequest(request, world) : spoil(choose, request, world));
    }
    case 'rpc':
      return fireRpc(shots, spoiledBody(choose, world, RPC_METHODS, 1));
    case 'socket': {
      const port = Number(
        new URL(choose.pick([addresses.base_url, addresses.base_url, addresses.rpc_url, addresses.ws_url])).port,
      );
      const bytes = hostileBytes(choose, wireRequest(choose.pick(TEMPLATES).make(choose, world), world));
      const start = performance.now();
      const { statuses, closed, text: answer } = await sendBytes(port, bytes, SLOWEST_MS);
      const text = bytes.toString('latin1');
      tally.time(performance.now() - start, text);
      if (!closed) tally.complain('the connection stayed open', text);
      for (const status of statuses) {
        tally.count('socket', status);
        if (!isFine(status) && status !== 100 && status !== 101
            && !isKnownFault({ profile, status, request: text, answer }))
          tally.complain(`answered with ${status}`, text);
      }
      return undefined;
    }
    case 'websocket': {
      const complaints = await attackWebsocket(
        choose.pick([addresses.ws_url, addresses.rpc_url.replace('http', 'ws')]),
        { choose, world, messages: MESSAGES_PER_WEBSOCKET, timeoutMs: SLOWEST_MS },
      );
      tally.count('websocket', complaints.length === 0 ? 'fine' : 'wrong');
      for (const complaint of complaints) tally.complain(complaint, 'a websocket');
      return undefined;
    }
  }
}

/** Sends a request to the service and judges the answer; with an expectation, it has to be a 200. */
export async function fireService(
  { pool, profile, tally, sandbox }: Shots, request: WireRequest, expectation?: string,
): Promise<void> {
  const { method, target, headers, body } = request;
  const line =
    `${method} ${target} ${JSON.stringify(headers)} ${body === undefined ? '' : body.toString().slice(0, 1_000)}`;
  const start = performance.now();
  try {
    const response = await pool.request({ method, path: target, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.body.text();
    const { statusCode: status } = response;
    tally.time(performance.now() - start, line);
    tally.count('service', status);
    if (expectation !== undefined && status !== 200)
      return tally.complain(`${expectation}, got ${status} ${text.slice(0, 300)}`, line);
    if (!isFine(status) && !isKnownFault({ profile, status, request: target, answer: text }))
      tally.complain(`answered with ${status} ${text.slice(0, 300)}`, line);
    const isPlain = profile === 'live' && status === 404
      && String(response.headers['content-type']).startsWith('text/plain');
    if (method !== 'HEAD' && !isPlain && !isJson(text)) tally.complain(`no JSON: ${text.slice(0, 300)}`, line);
  } catch (error) {
    await complainOfSilence(tally, sandbox, error, line);
  }
}

async function fireRpc({ rpcPool, tally, sandbox }: Shots, body: string | Buffer): Promise<void> {
  const line = body.toString().slice(0, 1_000);
  const start = performance.now();
  try {
    const response =
      await rpcPool.request({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body });
    const text = await response.body.text();
    tally.time(performance.now() - start, line);
    tally.count('rpc', response.statusCode);
    if (![200, 204, 413].includes(response.statusCode)) tally.complain(`answered with ${response.statusCode}`, line);
    if (response.statusCode !== 204 && !isJson(text)) tally.complain(`no JSON: ${text.slice(0, 300)}`, line);
    if (text.includes('"code":-32603')) tally.complain(`an internal error: ${text.slice(0, 300)}`, line);
  } catch (error) {
    await complainOfSilence(tally, sandbox, error, line);
  }
}

/** A connection that broke is excused where the body was too large to be read to its end. */
async function complainOfSilence(tally: Tally, sandbox: SpawnedSandbox, error: unknown, line: string): Promise<void> {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
  const end = await Promise.race([
    sandbox.exited.then((exit) => `the process ended with ${exit}: ${sandbox.complaint()}`), sleep(DEATH_NOTICE_MS),
  ]);
  if (end !== undefined) tally.isDead = true;
  tally.count('silence', code);
  tally.complain(end ?? `no answer: ${code} ${error instanceof Error ? error.message : ''}`, line);
}

/**
 * What the live service was seen to do with a mint that nobody knows; what a market is there for whose venue is silent
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
