import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import { wait } from '../../execution/monotonic-time.ts';
import { RUN_HEADER } from './control-file.ts';
import type { ControlTokens } from './control-tokens.ts';
import { HELD_MS, RefusedRequests, roleReader, WrongTokens } from './control-tokens.ts';
import type { OrderOrigin } from './order-origin.ts';
import { originText, requestOrigin } from './order-origin.ts';
import type { Log } from '../reporting/log.ts';

/** The only path that needs no token. */
const OPEN_PATH = '/healthz';

/** Under this path other programs send signals, each with its name as the last part. */
const SIGNALS_PATH = '/api/signals/';
export const SIGNALS_ROUTE = `${SIGNALS_PATH}:name`;

const HTTP_PORT = 80;

/** Returns the body of an error answer. */
export function fault(code: string, message: string): { readonly error: object } {
  return { error: { code, message } };
}

/** The methods that change nothing: all that a viewer may use. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Tells the token for signals, which no other path takes. */
interface SignalsToken {
  /** Returns whether a text is the token; its time does not depend on how much of it is right. */
  isToken(text: string): boolean;
}

/** Returns whether an "Authorization" header has the token for signals. */
export function isSignalsHeader(authorization: string, signals: SignalsToken): boolean {
  return authorization.startsWith(BEARER) && signals.isToken(authorization.slice(BEARER.length));
}

const BEARER = 'Bearer ';

/** Refuses a request with a wrong token: few at once, more of them slowly, a flood not at all. */
export type RefuseToken = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

interface GuardOptions {
  readonly tokens: ControlTokens;
  readonly host: string;
  readonly runId: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Undefined where no signals are taken. */
  readonly signals?: SignalsToken | undefined;
  /** Called for each request with the operator's token. What a viewer reads says nothing about the operator. */
  readonly onOperator: (origin: () => OrderOrigin) => void;
  /** Called when wrong tokens become so many that answers are held back; at most once a minute. */
  readonly onFlood: () => void;
}

/**
 * Refuses requests that a web page could make (a foreign Host or Origin), requests without a token, a viewer's
 * commands, and commands that are not JSON. Later errors are answered as JSON too; only the log has the details of a
 * bug. A signal may have its token in its body too, so its route checks that. Returns how such a route refuses a token.
 */
export function guard(app: FastifyInstance, options: GuardOptions): RefuseToken {
  const { host, runId, log, signals } = options;
  const roleOf = roleReader(options.tokens);
  const refuse = refusal(options);
  const commands = new RefusedRequests();
  app.addHook('onRequest', async (request, reply) => {
    // A page of another origin that resolves its own name to this address must not get through (DNS rebinding).
    if (!isOwnHost(request, host)) return reply.code(403).send(fault('FORBIDDEN', 'unexpected Host or Origin'));
    if (request.url === OPEN_PATH) return undefined;
    // Two daemons may share a token: a command for an ended run must not reach the new owner of its port.
    const meant = request.headers[RUN_HEADER];
    if (meant !== undefined && meant !== runId)
      return reply.code(421).send(fault('WRONG_RUN', `this is the daemon of run ${runId}`));
    const { authorization } = request.headers;
    if (signals !== undefined && isForSignals(request)) {
      if (authorization !== undefined && !isSignalsHeader(authorization, signals)) return refuse(request, reply);
      if (request.method !== 'POST')
        return reply.code(405).header('allow', 'POST').send(fault('METHOD_NOT_ALLOWED', 'a signal is sent by POST'));
      return isJson(request) ? undefined : notJson(reply);
    }
    const role = roleOf(authorization);
    if (role === undefined) return refuse(request, reply);
    if (role === 'viewer' && !READING.has(request.method)) {
      if (commands.add(options.clock.now()).isFirst) {
        log('warn', 'a viewer’s token was used for a command, which was refused', {
          origin: originText(requestOrigin(role, request)), path: request.url,
        });
      }
      return reply.code(403).send(fault('VIEWER_TOKEN', 'this token only reads: a command needs the operator’s token, '
        + 'from control.json or GANNET_CONTROL_TOKEN'));
    }
    // A browser sends forms and beacons to other origins without asking, but not JSON.
    if (request.method === 'POST' && !isJson(request)) return notJson(reply);
    if (role === 'operator') options.onOperator(() => requestOrigin(role, request));
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
  return refuse;
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

/** A path that no route takes is for signals by its beginning, so that other methods have an answer of their own. */
function isForSignals({ routeOptions: { url: route }, url }: FastifyRequest): boolean {
  return route === undefined ? url.startsWith(SIGNALS_PATH) : route === SIGNALS_ROUTE;
}

function notJson(reply: FastifyReply): FastifyReply {
  return reply.code(415).send(fault('UNSUPPORTED_MEDIA_TYPE', 'expected "Content-Type: application/json"'));
}

function isJson(request: FastifyRequest): boolean {
  return /^application\/json *(?:;|$)/i.test(request.headers['content-type'] ?? '');
}

/** Returns how requests without a right token are refused. */
function refusal({ clock, onFlood }: GuardOptions): RefuseToken {
  const wrong = new WrongTokens();
  const unauthorized = fault('UNAUTHORIZED', 'expected "Authorization: Bearer <token>"');
  return async (request, reply) => {
    const { manner, isFlood } = wrong.take(clock.now());
    if (isFlood) onFlood();
    if (manner === 'dropped') {
      reply.hijack();
      request.raw.destroy();
      return reply;
    }
    // The connection is closed, so that its place is free for a client with a token.
    if (manner === 'prompt') return reply.code(401).header('connection', 'close').send(unauthorized);
    await wait(clock, HELD_MS);
    wrong.release();
    return reply.code(429).headers({ connection: 'close', 'retry-after': '60' })
      .send(fault('TOO_MANY_REFUSED', 'too many requests with a wrong token; a right one is served at once'));
  };
}
