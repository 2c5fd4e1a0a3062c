import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { messageOf } from '../core/errors.ts';
import { RUN_HEADER } from './control-file.ts';
import type { Log } from './log.ts';

/** What anybody may ask. */
const OPEN_PATH = '/healthz';

const HTTP_PORT = 80;

/** An answer that is no answer. */
export interface ControlFault {
  readonly error: { readonly code: string; readonly message: string };
}

export function fault(code: string, message: string): ControlFault {
  return { error: { code, message } };
}

/**
 * Lets nobody near the paths who must not: requests that a web page could make (a foreign Host or Origin), those without
 * the token, and orders that are not JSON. What goes wrong further on is told as JSON too, and a bug only to the log.
 */
export function guard(app: FastifyInstance, { token, host, runId, log, onAuthenticated }: {
  readonly token: string;
  readonly host: string;
  readonly runId: string;
  readonly log: Log;
  /** Called for each request that carries the token. */
  readonly onAuthenticated: () => void;
}): void {
  app.addHook('onRequest', async (request, reply) => {
    // A page of another origin that resolves its own name to this address must not get through (DNS rebinding).
    if (!isOwnHost(request, host)) return reply.code(403).send(fault('FORBIDDEN', 'unexpected Host or Origin'));
    if (request.url === OPEN_PATH) return undefined;
    // Two daemons may share an operator's token: an order for a run that ended must not reach its port's new owner.
    const meant = request.headers[RUN_HEADER];
    if (meant !== undefined && meant !== runId) return reply.code(421).send(fault('WRONG_RUN', `this is the daemon of run ${runId}`));
    if (!hasToken(request, token)) return reply.code(401).send(fault('UNAUTHORIZED', 'expected "Authorization: Bearer <token>"'));
    // A form or a beacon of a page needs no leave to be sent; JSON does.
    if (request.method === 'POST' && !isJson(request)) return reply.code(415).send(fault('UNSUPPORTED_MEDIA_TYPE', 'expected "Content-Type: application/json"'));
    onAuthenticated();
    return undefined;
  });
  app.removeContentTypeParser('text/plain');
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send(fault('NOT_FOUND', 'no such path')));
  app.setErrorHandler(async (error: unknown, request, reply) => {
    const status = statusOf(error);
    if (status >= 500) {
      log('error', 'the control API failed', { error, path: request.url });
      return reply.code(500).send(fault('INTERNAL', 'this is a bug; the log says more'));
    }
    return reply.code(status).send(fault(status === 413 ? 'TOO_LARGE' : 'BAD_REQUEST', messageOf(error)));
  });
}

function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 600 ? status : 500;
}

function isOwnHost(request: FastifyRequest, host: string): boolean {
  const own = new Set(['localhost', '127.0.0.1', '[::1]', host]);
  const { origin } = request.headers;
  if (!own.has(request.hostname)) return false;
  return origin === undefined || isOwnOrigin(origin, own, request.port);
}

/** Another port of this machine is another program, and its pages are not ours. */
function isOwnOrigin(origin: string, own: ReadonlySet<string>, port: number | null): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url?.protocol === 'http:' && own.has(url.hostname) && Number(url.port || HTTP_PORT) === (port ?? HTTP_PORT);
}

function isJson(request: FastifyRequest): boolean {
  return /^application\/json *(?:;|$)/i.test(request.headers['content-type'] ?? '');
}

function hasToken(request: FastifyRequest, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
