import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { assert } from '../../core/assert.ts';
import { messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import { wait } from '../../execution/monotonic-time.ts';
import { HEALTH_PATHS, METRICS_PATH } from '../metrics/metrics-routes.ts';
import type { PageLogin, PageSessions } from '../page/sessions.ts';
import { isCsrf } from '../page/sessions.ts';
import { sessionCookie, sessionIdOf } from '../page/session-cookie.ts';
import { RUN_HEADER } from './control-file.ts';
import type { ControlRole, ControlTokens } from './control-tokens.ts';
import { HELD_MS, RefusedRequests, roleReader, WrongTokens } from './control-tokens.ts';
import type { OrderOrigin } from './order-origin.ts';
import { originText, requestOrigin } from './order-origin.ts';
import type { Log } from '../reporting/log.ts';

/** Opens, reads and ends a session of the page. */
export const SESSION_PATH = '/session';
/** Makes a login code: for the command line, so no session makes another one. */
export const CODE_PATH = '/session/code';

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
export type RefuseToken = (request: FastifyRequest, reply: FastifyReply, why?: object) => Promise<FastifyReply>;

/** Who sent a request: the holder of a token, or a browser with a session. */
export interface Caller {
  readonly role: ControlRole;
  /** Undefined for a token. */
  readonly login: PageLogin | undefined;
}

/** What the routes need of the guard. */
export interface Guard {
  readonly refuse: RefuseToken;
  /** Returns who sent a request that the guard has let through. */
  readonly callerOf: (request: FastifyRequest) => Caller;
}

const CSRF_HEADER = 'x-gannet-csrf';

interface GuardOptions {
  readonly tokens: ControlTokens;
  readonly host: string;
  readonly runId: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Undefined where no signals are taken. */
  readonly signals?: SignalsToken | undefined;
  readonly sessions: PageSessions;
  /** Returns whether a path is a file of the page, which everybody may read. */
  readonly isPageFile: (path: string) => boolean;
  /**
   * Called for each request with the operator's token, and for each command of an operator's session. What a viewer
   * reads says nothing about the operator, and neither does a page that was left open, nor a scrape of the metrics.
   */
  readonly onOperator: (origin: () => OrderOrigin) => void;
  /** Called when wrong tokens become so many that answers are held back; at most once a minute. */
  readonly onFlood: () => void;
}

/**
 * Refuses requests that a foreign web page could make (by Host, Origin or the browser's own word), requests with
 * neither a token nor a session, a viewer's commands, and commands that are not JSON. Later errors are answered as JSON
 * too; only the log has the details of a bug. A signal may have its token in its body too, so its route checks that.
 */
export function guard(app: FastifyInstance, options: GuardOptions): Guard {
  const { host, runId, log, signals, sessions } = options;
  const roleOf = roleReader(options.tokens);
  const refuse = refusal(options);
  const commands = new RefusedRequests();
  const callers = new WeakMap<FastifyRequest, Caller>();
  app.addHook('onRequest', async (request, reply) => {
    // A page of another origin that resolves its own name to this address must not get through (DNS rebinding).
    if (!isOwnHost(request, host)) return reply.code(403).send(fault('FORBIDDEN', 'unexpected Host or Origin'));
    const path = pathOf(request);
    const isReading = READING.has(request.method);
    if (isReading && (HEALTH_PATHS.has(request.url) || options.isPageFile(path))) return undefined;
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
    // A browser sends forms and beacons to other origins without asking, but not JSON.
    if (path === SESSION_PATH && request.method === 'POST') return isJson(request) ? undefined : notJson(reply);
    const caller = authorization === undefined ? sessionOf(request) : tokenOf(authorization);
    if (caller === undefined) return refuseCaller(request, reply, path);
    const { role, login } = caller;
    if (login !== undefined && !isOwnPage(request, login, isReading))
      return reply.code(403).send(fault('FORBIDDEN', 'this request is not of the page of this session'));
    if (role === 'viewer' && !isReading && path !== SESSION_PATH && path !== CODE_PATH) {
      if (commands.add(options.clock.now()).isFirst) {
        log('warn', 'a viewer’s token was used for a command, which was refused', {
          origin: originText(requestOrigin(role, request)), path: request.url,
        });
      }
      return reply.code(403).send(fault('VIEWER_TOKEN', 'this token only reads: a command needs the operator’s token, '
        + 'from control.json or GANNET_CONTROL_TOKEN'));
    }
    if (request.method === 'POST' && !isJson(request)) return notJson(reply);
    const isPresent = path !== METRICS_PATH && (login === undefined || !isReading);
    if (role === 'operator' && isPresent) options.onOperator(() => requestOrigin(role, request));
    callers.set(request, caller);
    return undefined;
  });
  addAnswers(app, log);
  return {
    refuse,
    callerOf: (request) => {
      const caller = callers.get(request);
      assert(caller, () => `the guard did not see ${request.url}`);
      return caller;
    },
  };

  function tokenOf(authorization: string): Caller | undefined {
    const role = roleOf(authorization);
    return role === undefined ? undefined : { role, login: undefined };
  }
  function sessionOf(request: FastifyRequest): Caller | undefined {
    const id = sessionIdOf(request);
    const login = id === undefined ? undefined : sessions.find(id);
    return login === undefined ? undefined : { role: login.role, login };
  }
  /** A page that asks whether it has a session guesses nothing, so that is not counted. */
  async function refuseCaller(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    const { authorization } = request.headers;
    const id = authorization === undefined ? sessionIdOf(request) : undefined;
    if (id === undefined && authorization === undefined && path === SESSION_PATH && request.method === 'GET')
      return reply.code(401).send(fault('NO_SESSION', 'log in first'));
    if (id === undefined) return refuse(request, reply);
    reply.header('set-cookie', sessionCookie(request, undefined));
    return refuse(request, reply, fault('SESSION_ENDED', 'this session has ended; log in again'));
  }
}

/** Answers unknown paths, bodies of another type and errors. */
function addAnswers(app: FastifyInstance, log: Log): void {
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

function pathOf({ url }: FastifyRequest): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/**
 * Returns whether a request with a session's cookie is of the page itself. Browsers send the cookie along with requests
 * of other ports' pages too, so what changes something needs the page's origin and its CSRF token.
 */
function isOwnPage({ headers }: FastifyRequest, login: PageLogin, isReading: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return isReading || (headers.origin !== undefined && isCsrf(login, headers[CSRF_HEADER]));
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
  return async (request, reply, why = unauthorized) => {
    const { manner, isFlood } = wrong.take(clock.now());
    if (isFlood) onFlood();
    if (manner === 'dropped') {
      reply.hijack();
      // A request whose body was read is over for Node: to destroy it would leave the connection open.
      request.raw.socket.destroy();
      return reply;
    }
    // The connection is closed, so that its place is free for a client with a token.
    if (manner === 'prompt') return reply.code(401).header('connection', 'close').send(why);
    await wait(clock, HELD_MS);
    wrong.release();
    return reply.code(429).headers({ connection: 'close', 'retry-after': '60' })
      .send(fault('TOO_MANY_REFUSED', 'too many requests with a wrong token; a right one is served at once'));
  };
}
