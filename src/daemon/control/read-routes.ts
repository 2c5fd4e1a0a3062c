import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { stringifyJson } from '../../core/json.ts';
import { OPEN_STATES, TERMINAL_STATES } from '../../trading/intent.ts';
import type { DecisionRecord } from '../files/decision-record.ts';
import { fault, issueText, stillStarting } from './control-guard.ts';
import type { ControlledRun, ControlPort } from './control-port.ts';
import type { StartingState } from './session-state.ts';

const LIMIT = z.coerce.number().int().min(1).max(500).default(50);
const DECISIONS_QUERY = z.strictObject({ limit: LIMIT });
const INTENTS_QUERY = z.strictObject({ limit: LIMIT, state: z.enum([...OPEN_STATES, ...TERMINAL_STATES]).optional() });

/** Adds the paths that only read. */
export function addViews(app: FastifyInstance, { runId, controlPort }: ControlledRun): void {
  const starting: StartingState = { run_id: runId, phase: 'starting' };
  app.get('/api/state', () => controlPort()?.state() ?? starting);
  app.get('/api/feeds', () => controlPort()?.feeds() ?? []);
  app.get('/api/strategies', view((port) => port.strategies()));
  app.get('/api/portfolio', view((port) => port.portfolio()));
  app.get('/api/profit', view((port) => port.profit()));
  // A decision does not change any more, and one with many inputs is long: it is serialised once.
  const texts = new WeakMap<DecisionRecord, string>();
  app.get('/api/decisions', query(DECISIONS_QUERY, (port, { limit }, reply) =>
    reply.type('application/json; charset=utf-8')
      .send(Buffer.from(`[${port.decisions(limit).map((decision) => textOf(texts, decision)).join(',')}]`))));
  app.get('/api/intents', query(INTENTS_QUERY, (port, options) => port.intents(options)));
  app.get<{ Params: { id: string } }>('/api/intents/:id', async (request, reply) => {
    const port = controlPort();
    if (port === undefined) return stillStarting(reply);
    return port.intent(request.params.id) ?? reply.code(404).send(fault('NOT_FOUND', 'no such intent'));
  });

  function view(read: (port: ControlPort) => unknown) {
    return async (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const port = controlPort();
      return port === undefined ? stillStarting(reply) : read(port);
    };
  }
  function query<Query>(
    schema: z.ZodType<Query>, read: (port: ControlPort, query: Query, reply: FastifyReply) => unknown,
  ) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const parsed = schema.safeParse(request.query);
      const port = controlPort();
      if (!parsed.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(parsed.error)));
      return port === undefined ? stillStarting(reply) : read(port, parsed.data, reply);
    };
  }
}

function textOf(texts: WeakMap<DecisionRecord, string>, decision: DecisionRecord): string {
  const known = texts.get(decision) ?? stringifyJson(decision);
  texts.set(decision, known);
  return known;
}
