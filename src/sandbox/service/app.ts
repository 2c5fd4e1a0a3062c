import fastify, {
  type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods,
} from 'fastify';
import { AssertionError } from '../../core/assert.ts';
import { messageOf } from '../../core/errors.ts';
import { nearest, printable } from '../../core/text.ts';
import type { Dialect } from '../../service/wire/dialect.ts';
import { jsonText } from '../json-text.ts';
import type { ServiceContext } from './context.ts';
import { registerControl } from './control/sandbox-control.ts';
import { ENDPOINTS, type RegisterEndpoint } from './endpoints.ts';
import { faultAnswers, faultRequests, faultWords } from './faults/fault-hooks.ts';
import { neutralTarget, translate } from './http/dialect-edge.ts';
import { GATEWAY_ID, guard, numberAnswers } from './http/gateway.ts';
import type { RateLimits } from './http/rate-limit.ts';
import { answerNoHttp, refuseOtherProtocols } from './http/raw-answers.ts';
import { RequestError } from './http/request-error.ts';
import { acceptJsonBodies, parseQuery, plainTarget, splitTarget } from './http/request-text.ts';

/** The layers in front of the endpoints. */
interface Front {
  /** The dialect on the wire; absent means neutral names. */
  readonly dialect?: Dialect | undefined;
  readonly limits: RateLimits;
  /** A request that has not arrived whole by then is refused. */
  readonly slowestRequestMs: number;
}

/** The largest body that any endpoint takes; a signed transaction is under 2 kB, a returned quote under 20 kB. */
const LARGEST_BODY_BYTES = 65_536;
/** Long enough for a hundred mint addresses. */
const LONGEST_PARAMETER = 8_192;

/** Returns the service as an HTTP application, not listening yet. */
export function createService(context: ServiceContext, front: Front): FastifyInstance {
  const { dialect, slowestRequestMs } = front;
  const app = fastify({
    bodyLimit: LARGEST_BODY_BYTES,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    requestTimeout: slowestRequestMs,
    // A request without a host is answered by the gateway, in JSON.
    http: {
      headersTimeout: slowestRequestMs, connectionsCheckingInterval: Math.min(1_000, slowestRequestMs),
      requireHostHeader: false,
    },
    routerOptions: {
      maxParamLength: LONGEST_PARAMETER,
      ignoreTrailingSlash: false,
      // The query is parsed here, so that an error in it gets an answer.
      querystringParser: () => ({}),
    },
    rewriteUrl: ({ url = '/' }) => {
      const target = plainTarget(url);
      return dialect === undefined || isControl(target) ? target : neutralTarget(dialect, target);
    },
    frameworkErrors: (error, _request, reply) => {
      reply.header(GATEWAY_ID, context.nextId());
      answerError(error, _request, reply);
    },
    clientErrorHandler: (error, socket) => answerNoHttp(error, socket, () => context.nextId()),
  });
  app.setErrorHandler(answerError);
  app.setReplySerializer(jsonText);
  acceptJsonBodies(app);
  refuseOtherProtocols(app.server, () => context.nextId());
  app.register((control, _options, done) => {
    readQueries(control);
    registerWithRefusals(control, context, [registerControl]);
    control.all('/sandbox/*', answerUnknown(context, []));
    done();
  });
  app.register((service, _options, done) => {
    numberAnswers(service, context);
    faultRequests(service, context);
    delayAnswers(service, context);
    guard(service, context, front.limits);
    readQueries(service);
    faultWords(service, context);
    if (dialect !== undefined) translate(service, dialect);
    faultAnswers(service, context);
    const paths = registerWithRefusals(service, context, ENDPOINTS);
    service.setNotFoundHandler(answerUnknown(context, paths));
    done();
  });
  return app;
}

/** No route has a schema. Without this, fastify loads a hundred modules to compile them. */
function noSchemas(): never {
  throw new AssertionError('a route of the embedded service has a schema');
}

function readQueries(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.query = parseQuery(splitTarget(request.url).query.slice(1));
    done();
  });
}

/** A host's own time for quotes. */
function delayAnswers(app: FastifyInstance, context: ServiceContext): void {
  const { latencyMs } = context.traits;
  const delays = new Map([['/swap/v2/order', latencyMs.order], ['/swap/v2/build', latencyMs.build]]);
  if ([...delays.values()].every((ms) => ms === 0)) return;
  app.addHook('onRequest', async (request) => {
    const ms = delays.get(splitTarget(request.url).path) ?? 0;
    if (ms > 0) await context.delay(ms);
  });
}

function isControl(target: string): boolean {
  return /^\/sandbox(?:[/?]|$)/.test(target);
}

/**
 * Registers endpoints, and for every path of theirs the refusal of the other methods. Returns the paths that are
 * served.
 */
function registerWithRefusals(
  app: FastifyInstance, context: ServiceContext, endpoints: readonly RegisterEndpoint[],
): readonly string[] {
  const routes: { readonly url: string; readonly methods: readonly string[]; readonly isServed: boolean }[] = [];
  let isRegistering = true;
  app.addHook('onRoute', ({ url, method, onRequest }) => {
    // A route that refuses in `onRequest`, with its own explanation, is known but not served.
    if (isRegistering) routes.push({ url, methods: [method].flat(), isServed: onRequest === undefined });
  });
  for (const register of endpoints) register(app, context);
  isRegistering = false;
  const served = [...new Set(routes.filter(({ isServed }) => isServed).map(({ url }) => url))];
  for (const url of served) {
    const here = routes.filter((route) => route.url === url);
    const known = new Set(here.flatMap(({ methods }) => methods));
    const allow = here.filter(({ isServed }) => isServed).flatMap(({ methods }) => methods).join(', ');
    const others = app.supportedMethods.filter((method) => !known.has(method)) as HTTPMethods[];
    const refuse = (request: FastifyRequest, reply: FastifyReply): never => {
      reply.header('allow', allow);
      throw new RequestError(405, {
        error: `${request.method} is not for ${printable(splitTarget(request.url).path, 100)}; use ${allow}`,
      });
    };
    // Before the body is read: no body is valid on this path.
    if (others.length > 0)
      app.route({ url, method: others, onRequest: (request, reply) => refuse(request, reply), handler: refuse });
  }
  return served;
}

/** The live host does not explain an unknown path; this answer suggests the nearest known path. */
function answerUnknown(
  { profile }: ServiceContext, paths: readonly string[],
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (request, reply) => {
    const path = splitTarget(request.url).path;
    if (profile === 'live' && !isControl(path))
      return reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
    const guess = nearest(path.slice(0, 100), paths);
    const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
    return reply.code(404).send({ error: `No endpoint ${request.method} ${printable(path, 100)}${hint}` });
  };
}

function answerError(
  error: FastifyError | RequestError | Error, _request: FastifyRequest, reply: FastifyReply,
): FastifyReply {
  if (error instanceof RequestError) return reply.code(error.statusCode).send(error.body);
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  return reply.code(status).send({ error: printable(messageOf(error)) });
}
