import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { ServiceContext } from './context.ts';
import { registerControl } from './control.ts';
import { ENDPOINTS } from './endpoints.ts';
import { RequestError } from './request-error.ts';

/** The largest body that any endpoint takes; a signed transaction is under 2 kB. */
const LARGEST_BODY_BYTES = 65_536;
/** A hundred mint addresses fit. */
const LONGEST_PARAMETER = 8_192;

const STATUS_MESSAGES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'API key does not have access to this endpoint',
  429: 'Too many requests',
};

/** Returns the service as an HTTP application, not listening yet. */
export function createService(context: ServiceContext): FastifyInstance {
  const app = fastify({
    bodyLimit: LARGEST_BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER, ignoreTrailingSlash: false },
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => reply.code(404).send({ error: `No endpoint ${request.method} ${printable(pathOf(request), 100)}` }));
  app.register((control, _options, done) => {
    registerControl(control, context);
    done();
  });
  app.register((service, _options, done) => {
    service.addHook('onRequest', (_request, reply, next) => {
      reply.header('x-api-gateway-request-id', context.nextId());
      next();
    });
    applyFaults(service, context);
    requireKey(service, context);
    for (const register of ENDPOINTS) register(service, context);
    done();
  });
  return app;
}

function requireKey(app: FastifyInstance, { apiKeys }: ServiceContext): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const key = request.headers['x-api-key'];
    const known = typeof key === 'string' && key.trim() !== '' && (apiKeys?.has(key) ?? true);
    done(known ? undefined : new RequestError(401, gatewayBody(401)));
  });
}

/** Faults come before everything else, as a gateway in front of the service would. */
function applyFaults(app: FastifyInstance, context: ServiceContext): void {
  const { faults } = context;
  app.addHook('onRequest', async (request, reply) => {
    const line = { method: request.method, path: pathOf(request) };
    const slow = faults.draw(line, ['delay']);
    if (slow !== undefined) await context.delay(slow.ms);
    const fault = faults.draw(line, ['status', 'drop_before']);
    if (fault?.kind === 'drop_before') dropConnection(request, reply);
    if (fault?.kind === 'status') throw new RequestError(fault.status, statusBody(fault));
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const line = { method: request.method, path: pathOf(request) };
    const fault = faults.draw(line, ['drop_after', 'malformed']);
    if (fault?.kind === 'drop_after') dropConnection(request, reply);
    if (fault?.kind !== 'malformed') return payload;
    const text = typeof payload === 'string' ? payload : '{}';
    return fault.body ?? text.slice(0, Math.floor(text.length / 2));
  });
}

/** Ends the connection without an answer. */
function dropConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  // The socket itself: a request that was read to its end no longer takes it along.
  request.raw.socket.destroy();
}

function statusBody({ status, body }: { status: number; body?: unknown }): Record<string, unknown> {
  if (typeof body === 'object' && body !== null) return { ...body };
  if (typeof body === 'string') return { error: body };
  return gatewayBody(status);
}

/** The gateway's own refusals carry a code and a message, those of the service behind it an error. */
function gatewayBody(status: number): Record<string, unknown> {
  const message = STATUS_MESSAGES[status];
  return message === undefined ? { error: 'Something unexpected occurred' } : { code: status, message };
}

function answerError(error: FastifyError | RequestError | Error, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof RequestError) return reply.code(error.statusCode).send(error.body);
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  return reply.code(status).send({ error: printable(messageOf(error)) });
}

function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end < 0 ? request.url : request.url.slice(0, end);
}
