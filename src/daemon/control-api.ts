import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GannetError, messageOf } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';

/** How a daemon is found by the commands that talk to it; kept readable for its owner alone. */
export interface ControlFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

const CONTROL_FILE = 'control.json';

/**
 * Serves the daemon's state on the loopback address. Every path but `/healthz` wants the token; requests that a web
 * page could make (a foreign Host or Origin) are refused before anything else. Throws CONTROL_PORT_TAKEN.
 */
export async function startControlApi(options: {
  readonly host: string;
  readonly port: number;
  readonly stateDir: string;
  /** From the environment; a random one where absent. */
  readonly token: string | undefined;
  readonly state: () => unknown;
  readonly feeds: () => unknown;
}): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const token = options.token ?? randomBytes(24).toString('base64url');
  const app = fastify({ bodyLimit: 64 * 1024, logger: false });
  guard(app, token, options.host);
  app.get('/healthz', () => ({ ok: true }));
  app.get('/api/state', async (_request, reply) => reply.type('application/json').send(stringifyJson(options.state())));
  app.get('/api/feeds', async (_request, reply) => reply.type('application/json').send(stringifyJson(options.feeds())));
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ error: { code: 'NOT_FOUND', message: 'no such path' } }));
  const url = await listen(app, options);
  writeControlFile(options.stateDir, { url, token, pid: process.pid });
  return {
    url,
    close: async () => {
      rmSync(join(options.stateDir, CONTROL_FILE), { force: true });
      await app.close();
    },
  };
}

/** Reads how to reach the daemon of a state directory. Throws CONTROL_UNREACHABLE when none runs there. */
export function readControlFile(stateDir: string): ControlFile {
  const path = join(stateDir, CONTROL_FILE);
  try {
    return parseJson(readFileSync(path, 'utf8')) as unknown as ControlFile;
  } catch (cause) {
    throw new GannetError('CONTROL_UNREACHABLE', `no daemon runs with the state directory ${stateDir}: start one with "gannet run"`, { cause });
  }
}

function guard(app: FastifyInstance, token: string, host: string): void {
  app.addHook('onRequest', async (request, reply) => {
    // A page of another origin that resolves its own name to this address must not get through (DNS rebinding).
    if (!isOwnHost(request, host)) return reply.code(403).send({ error: { code: 'FORBIDDEN', message: 'unexpected Host or Origin' } });
    if (request.url === '/healthz') return undefined;
    if (hasToken(request, token)) return undefined;
    return reply.code(401).send({ error: { code: 'UNAUTHORIZED', message: 'expected "Authorization: Bearer <token>"' } });
  });
}

function isOwnHost(request: FastifyRequest, host: string): boolean {
  const own = new Set(['localhost', '127.0.0.1', '[::1]', host]);
  const { origin } = request.headers;
  if (!own.has(request.hostname)) return false;
  return origin === undefined || (URL.canParse(origin) && own.has(new URL(origin).hostname));
}

function hasToken(request: FastifyRequest, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function listen(app: FastifyInstance, { host, port }: { readonly host: string; readonly port: number }): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    throw new GannetError('CONTROL_PORT_TAKEN', `the control API cannot listen on ${host}:${port}: ${messageOf(cause)}; set control.port to a free port`, { cause });
  }
}

function writeControlFile(stateDir: string, content: ControlFile): void {
  mkdirSync(stateDir, { recursive: true });
  const path = join(stateDir, CONTROL_FILE);
  rmSync(path, { force: true });
  writeFileSync(path, stringifyJson(content), { mode: 0o600 });
}
