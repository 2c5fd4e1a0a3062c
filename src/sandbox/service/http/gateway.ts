import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceContext } from '../context.ts';
import type { Caller, RateLimits } from './rate-limit.ts';
import { badRequest, RequestError } from './request-error.ts';
import { EXECUTE, splitTarget } from './request-text.ts';

/** The header with the gateway's number of an answer. */
export const GATEWAY_ID = 'x-api-gateway-request-id';
const RATE_HEADERS =
  { remaining: 'x-ratelimit-remaining', current: 'x-ratelimit-current', reset: 'x-ratelimit-reset' } as const;

const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'API key does not have access to this endpoint',
  429: '[API Gateway] Too many requests',
};

/**
 * Returns the body of a status: the gateway's own refusals carry a code and a message, those of the service behind it
 * an error.
 */
export function gatewayBody(status: number): Readonly<Record<string, unknown>> {
  const message = MESSAGES[status];
  return message === undefined ? { error: 'Something unexpected occurred' } : { code: status, message };
}

/** Adds the gateway's number to every answer. */
export function numberAnswers(app: FastifyInstance, context: ServiceContext): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header(GATEWAY_ID, context.nextId());
    done();
  });
}

/** Checks keys and rate limits, before the request itself is read. */
export function guard(app: FastifyInstance, context: ServiceContext, limits: RateLimits): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw badRequest('the header Host: missing, HTTP/1.1 requires it');
    const verdict = limits.take(callerOf(context, request), splitTarget(request.url).path === EXECUTE.path
      ? 'execute' : 'main');
    if (verdict?.headers === true) {
      reply.header(RATE_HEADERS.remaining, verdict.remaining);
      reply.header(RATE_HEADERS.current, verdict.current);
      reply.header(RATE_HEADERS.reset, Math.ceil(verdict.resetAtMs / 1_000));
    }
    done(verdict?.allowed === false ? new RequestError(429, gatewayBody(429)) : undefined);
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode !== 200 && reply.statusCode !== 429) dropRateHeaders(reply);
    done(null, payload);
  });
}

/** Removes the headers of the caller's rate limit from an answer. */
export function dropRateHeaders(reply: FastifyReply): void {
  for (const name of Object.values(RATE_HEADERS)) reply.removeHeader(name);
}

/**
 * Without a key a request is refused, or has a low rate limit: there the two descriptions of the service
 * differ.
 */
function callerOf({ apiKeys, profile }: ServiceContext, request: FastifyRequest): Caller {
  const header = request.headers['x-api-key'];
  const key = typeof header === 'string' ? header.trim() : '';
  if (key === '' && profile === 'live') return { address: request.ip };
  if (key === '' || apiKeys?.has(key) === false) throw new RequestError(401, gatewayBody(401));
  return { key };
}
