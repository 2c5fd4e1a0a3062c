import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { isGannetError } from '../core/errors.ts';
import { fault } from './control-guard.ts';
import { issueText, stillStarting } from './control-looks.ts';
import type { Controlled, Desk } from './desk.ts';
import type { OperatorRequest, Refusal } from './operator.ts';
import { OPERATOR_WORDS } from './operator.ts';

const REASON = z.string().trim().min(1).max(300).optional();
const ORDER = z.strictObject({ strategy: z.string().max(200).optional(), reason: REASON });
const STRATEGY_ORDER = z.strictObject({ reason: REASON });
const SIGNATURE = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/, 'expected a base58 signature');
const RESOLUTION = z.discriminatedUnion('as', [
  z.strictObject({ as: z.literal('landed'), signature: SIGNATURE, reason: REASON.unwrap() }),
  z.strictObject({ as: z.enum(['failed', 'expired', 'abandoned']), reason: REASON.unwrap(), despite: z.literal('balance').optional() }),
]);
const NOTHING = z.strictObject({});

const STATUS_OF: Readonly<Record<Refusal['code'], number>> = { STOP_FILE: 409, STRATEGY_UNKNOWN: 404, TRADING_HALTED: 409 };

/** Adds the paths that change what may be traded. Each answers with what holds then. */
export function addOrders(app: FastifyInstance, { runId, desk, end }: Controlled): void {
  for (const word of OPERATOR_WORDS) {
    app.post(`/api/${word}`, async (request, reply) => follow(request.body, reply, ORDER, (order) => ({ ...order, word })));
  }
  for (const [path, word] of [['stop', 'halt'], ['start', 'resume']] as const) {
    app.post<{ Params: { name: string } }>(`/api/strategies/:name/${path}`, async (request, reply) =>
      follow(request.body, reply, STRATEGY_ORDER, (order) => ({ ...order, word, strategy: request.params.name })));
  }
  app.post('/api/strategies/:name/reload', async (_request, reply) =>
    reply.code(501).send(fault('NOT_AVAILABLE', 'a strategy cannot be loaded anew while it runs yet; restart the daemon: it goes on where it was')));
  app.post<{ Params: { id: string } }>('/api/intents/:id/resolve', async (request, reply) => {
    const word = RESOLUTION.safeParse(request.body);
    const at = desk();
    if (!word.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(word.error)));
    if (at === undefined) return stillStarting(reply);
    try {
      return await at.resolve(request.params.id, word.data);
    } catch (error) {
      if (!isGannetError(error)) throw error;
      return reply.code(error.code === 'RESOLVE_REFUSED' ? 409 : 502).send(fault(error.code, error.message));
    }
  });
  // A run that still starts can be ended too.
  app.post('/api/stop', async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    end();
    return { run_id: runId, pid: process.pid, open: desk()?.state().intents.open.map(({ intent_id: id }) => id) ?? [] };
  });
  app.post('/api/presence', async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    const at = desk();
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    if (at === undefined) return stillStarting(reply);
    at.present();
    return { ok: true };
  });

  function follow<Body>(body: unknown, reply: FastifyReply, schema: z.ZodType<Body>, requestOf: (body: Body) => OperatorRequest): unknown {
    const order = schema.safeParse(body);
    const at: Desk | undefined = desk();
    if (!order.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(order.error)));
    if (at === undefined) return stillStarting(reply);
    const answer = at.request(requestOf(order.data));
    return 'code' in answer ? reply.code(STATUS_OF[answer.code]).send(fault(answer.code, answer.message)) : answer;
  }
}
