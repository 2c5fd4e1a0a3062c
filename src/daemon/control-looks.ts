import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OPEN_STATES, TERMINAL_STATES } from '../trading/intent.ts';
import { fault } from './control-guard.ts';
import type { Controlled, Desk } from './desk.ts';
import type { StartingState } from './session-state.ts';

const LIMIT = z.coerce.number().int().min(1).max(500).default(50);
const DECISIONS_QUERY = z.strictObject({ limit: LIMIT });
const INTENTS_QUERY = z.strictObject({ limit: LIMIT, state: z.enum([...OPEN_STATES, ...TERMINAL_STATES]).optional() });

/** Adds the paths that only tell. */
export function addLooks(app: FastifyInstance, { runId, desk }: Controlled): void {
  const starting: StartingState = { run_id: runId, phase: 'starting' };
  app.get('/healthz', () => ({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const waitsFor = desk()?.waitsFor() ?? ['the run is starting'];
    return reply.code(waitsFor.length === 0 ? 200 : 503).send({ ready: waitsFor.length === 0, waits_for: waitsFor });
  });
  app.get('/api/state', () => desk()?.state() ?? starting);
  app.get('/api/feeds', () => desk()?.feeds() ?? []);
  app.get('/api/strategies', look((at) => at.strategies()));
  app.get('/api/portfolio', look((at) => at.portfolio()));
  app.get('/api/decisions', asked(DECISIONS_QUERY, (at, { limit }) => at.decisions(limit)));
  app.get('/api/intents', asked(INTENTS_QUERY, (at, query) => at.intents(query)));
  app.get<{ Params: { id: string } }>('/api/intents/:id', async (request, reply) => {
    const at = desk();
    if (at === undefined) return stillStarting(reply);
    return at.intent(request.params.id) ?? reply.code(404).send(fault('NOT_FOUND', 'no such intent'));
  });

  function look(of: (at: Desk) => unknown) {
    return async (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const at = desk();
      return at === undefined ? stillStarting(reply) : of(at);
    };
  }
  function asked<Query>(schema: z.ZodType<Query>, of: (at: Desk, query: Query) => unknown) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const query = schema.safeParse(request.query);
      const at = desk();
      if (!query.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(query.error)));
      return at === undefined ? stillStarting(reply) : of(at, query.data);
    };
  }
}

/** Answers a request that came before there was a run. */
export function stillStarting(reply: FastifyReply): FastifyReply {
  return reply.code(503).send(fault('STARTING', 'the daemon is still starting; ask again in a moment'));
}

/** Returns the first thing that is wrong with a request. */
export function issueText(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'expected something else' : `${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message}`;
}
