import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import { RUN_HEADER } from './control-file.ts';
import type { Log } from '../reporting/log.ts';

/** The only path that needs no token. */
const OPEN_PATH = '/healthz';

const HTTP_PORT = 80;

/** Returns the body of an error answer. */
export function fault(code: string, message: string): { readonly error: object } {
  return { error: { code, message } };
}

/**
 * Refuses requests that a web page could make (a foreign Host or Origin), requests without the token, and commands that
 * are not JSON. Later errors are answered as JSON too; only the log has the details of a bug.
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
    // Two daemons may share a token: a command for an ended run must not reach the new owner of its port.
    const meant = request.headers[RUN_HEADER];
    if (meant !== undefined && meant !== runId)
      return reply.code(421).send(fault('WRONG_RUN', `this is the daemon of run ${runId}`));
    if (!hasToken(request, token))
      return reply.code(401).send(fault('UNAUTHORIZED', 'expected "Authorization: Bearer <token>"'));
    // A browser sends forms and beacons to other origins without asking, but not JSON.
    if (request.method === 'POST' && !isJson(request))
      return reply.code(415).send(fault('UNSUPPORTED_MEDIA_TYPE', 'expected "Content-Type: application/json"'));
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

/** Answers a request that came before the run was ready. */
export function stillStarting(reply: FastifyReply): FastifyReply {
  return reply.code(503).send(fault('STARTING', 'the daemon is still starting; ask again in a moment'));
}

/** Returns the first fault of a request. */
export function issueText(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'expected something else'
    : `${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message}`;
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

/** Another port of this machine belongs to another program, so its pages are foreign. */
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
