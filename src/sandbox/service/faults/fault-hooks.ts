import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseJson } from '../../../core/json.ts';
import { jsonText } from '../../json-text.ts';
import type { ServiceContext } from '../context.ts';
import { dropRateHeaders, gatewayBody } from '../http/gateway.ts';
import { splitTarget } from '../http/request-text.ts';
import type { Fault, Patch, RequestLine } from './faults.ts';
import { patchDocument } from './faults.ts';

/** Applies the faults that come before everything else, as in a gateway in front of the service. */
export function faultRequests(app: FastifyInstance, context: ServiceContext): void {
  const { faults } = context;
  app.addHook('onRequest', async (request, reply) => {
    const line = lineOf(request);
    const slow = faults.draw(line, ['delay']);
    if (slow !== undefined) await context.delay(slow.ms);
    const fault = faults.draw(line, ['status', 'drop_before']);
    if (fault?.kind === 'drop_before') dropConnection(request, reply);
    if (fault?.kind !== 'status') return undefined;
    return reply.code(fault.status).type(fault.content_type ?? 'application/json; charset=utf-8')
      .send(statusText(fault));
  });
}

/** Applies the faults in the content of answers, while they are in neutral names. */
export function faultWords(app: FastifyInstance, { faults }: ServiceContext): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const fault = typeof payload === 'string' && isJson(reply) ? faults.draw(lineOf(request), ['patch']) : undefined;
    done(null, fault === undefined ? payload : patched(payload as string, fault));
  });
}

/** Applies the faults in the transport of answers, after everything else. */
export function faultAnswers(app: FastifyInstance, context: ServiceContext): void {
  const { faults } = context;
  app.addHook('onSend', async (request, reply, payload) => {
    const line = lineOf(request);
    const heading = faults.draw(line, ['headers']);
    if (heading !== undefined) changeHeaders(reply, heading.headers);
    const fault = faults.draw(line, ['drop_after', 'malformed']);
    if (fault?.kind === 'drop_after') dropConnection(request, reply);
    const text = fault?.kind === 'malformed' ? malformed(reply, payload, fault) : payload;
    const slow = faults.draw(line, ['drip']);
    return slow === undefined || typeof text !== 'string' ? text
      : dripping(reply, { text, bytesPerSecond: slow.bytes_per_second, delay: (ms) => context.delay(ms) });
  });
}

function lineOf(request: FastifyRequest): RequestLine {
  return { method: request.method, path: splitTarget(request.url).path };
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json');
}

/** Ends the connection without an answer. */
function dropConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  // Destroys the socket itself: destroying a request that was read to its end does not close it.
  request.raw.socket.destroy();
}

function statusText({ status, body, content_type: contentType }: Extract<Fault, { kind: 'status' }>): string {
  if (body === undefined) return jsonText(gatewayBody(status));
  if (typeof body !== 'string') return jsonText(body);
  return contentType === undefined ? jsonText({ error: body }) : body;
}

function patched(text: string, patch: Patch): string {
  return jsonText(patchDocument(parseJson(text), patch));
}

function malformed(
  reply: FastifyReply, payload: unknown, { body, content_type: contentType }: Extract<Fault, { kind: 'malformed' }>,
): string {
  if (contentType !== undefined) reply.type(contentType);
  const text = typeof payload === 'string' ? payload : '{}';
  return body ?? text.slice(0, Math.floor(text.length / 2));
}

function changeHeaders(reply: FastifyReply, headers: Extract<Fault, { kind: 'headers' }>['headers']): void {
  if (headers === false) return dropRateHeaders(reply);
  for (const [name, content] of Object.entries(headers)) {
    if (content === false) reply.removeHeader(name);
    else reply.header(name, content);
  }
}

const DROPS_PER_SECOND = 20;

function dripping(
  reply: FastifyReply, options: { text: string; bytesPerSecond: number; delay: (ms: number) => Promise<void> },
): Readable {
  const { bytesPerSecond, delay } = options;
  const bytes = Buffer.from(options.text);
  const size = Math.max(1, Math.floor(bytesPerSecond / DROPS_PER_SECOND));
  reply.header('content-length', bytes.length);
  return Readable.from((async function* drops() {
    for (let at = 0; at < bytes.length; at += size) {
      yield bytes.subarray(at, at + size);
      await delay((size / bytesPerSecond) * 1_000);
    }
  })(), { objectMode: false });
}
