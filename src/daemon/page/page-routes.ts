import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Guard } from '../control/control-guard.ts';
import { fault, issueText, stillStarting } from '../control/control-guard.ts';
import type { ControlledRun, ControlPort } from '../control/control-port.ts';
import type { EventStreams } from './event-streams.ts';
import { readLog } from './run-log.ts';
import type { RunStory } from './run-story.ts';

const LIMIT = z.coerce.number().int().min(1).max(500).default(120);
const STORY_QUERY = z.strictObject({ before: z.string().max(200).optional(), limit: LIMIT });
const LOG_QUERY = z.strictObject({ limit: LIMIT });
const RANGE = z.enum(['1h', '1d', '7d', '30d', 'all']).default('1d');
const EQUITY_QUERY = z.strictObject({ range: RANGE, strategy: z.string().max(200).optional() });
const PRICES_QUERY = z.strictObject({ range: RANGE, pair: z.string().max(200) });
const RETRY_AFTER_S = '30';

/** Adds what the page reads beside the views of the control API. */
export function addPage(
  app: FastifyInstance, { controlPort, story, streams, guard: { callerOf }, logFile }:
  Pick<ControlledRun, 'controlPort'> & {
    readonly story: RunStory; readonly streams: EventStreams; readonly guard: Guard; readonly logFile: string;
  },
): void {
  app.get('/api/events', async (request, reply) => {
    const { role, login } = callerOf(request);
    if (!streams.hasRoom(role)) {
      return reply.code(503).headers({ 'retry-after': RETRY_AFTER_S, 'connection': 'close' })
        .send(fault('TOO_MANY_STREAMS', 'too many pages are open; close one, or try again later'));
    }
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const last = request.headers['last-event-id'];
    streams.add(reply.raw, { role, login, lastEventId: typeof last === 'string' ? last : undefined });
    return reply;
  });
  app.get('/api/story', query(STORY_QUERY, (options) => story.page(options)));
  app.get('/api/log', query(LOG_QUERY, async ({ limit }) => readLog(logFile, limit)));
  app.get('/api/equity', queryOfRun(EQUITY_QUERY, (port, options) => port.page.equity(options)));
  app.get('/api/prices', queryOfRun(PRICES_QUERY, (port, options) => port.page.prices(options)));

  function queryOfRun<Query>(schema: z.ZodType<Query>, read: (port: ControlPort, query: Query) => unknown) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const parsed = schema.safeParse(request.query);
      const port = controlPort();
      if (!parsed.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(parsed.error)));
      if (port === undefined) return stillStarting(reply);
      return read(port, parsed.data) ?? reply.code(404).send(fault('NOT_FOUND', 'no such pair or strategy'));
    };
  }
}

function query<Query>(schema: z.ZodType<Query>, read: (query: Query) => unknown) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const parsed = schema.safeParse(request.query);
    return parsed.success ? read(parsed.data) : reply.code(400).send(fault('BAD_REQUEST', issueText(parsed.error)));
  };
}
