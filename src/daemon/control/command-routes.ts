import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { isGannetError } from '../../core/errors.ts';
import { fault, issueText, stillStarting } from './control-guard.ts';
import type { ControlledRun } from './control-port.ts';
import type { OperatorRequest, Refusal } from './operator-commands.ts';
import { OPERATOR_ACTIONS } from './operator-commands.ts';

const REASON = z.string().trim().min(1).max(300).optional();
const ORDER = z.strictObject({ strategy: z.string().max(200).optional(), reason: REASON });
const STRATEGY_ORDER = z.strictObject({ reason: REASON });
const SIGNATURE = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/, 'expected a base58 signature');
const RESOLUTION = z.discriminatedUnion('as', [
  z.strictObject({ as: z.literal('landed'), signature: SIGNATURE, reason: REASON.unwrap() }),
  z.strictObject({
    as: z.enum(['failed', 'expired', 'abandoned']), reason: REASON.unwrap(), despite: z.literal('balance').optional(),
  }),
]);
const NOTHING = z.strictObject({});

const STATUS_OF: Readonly<Record<Refusal['code'], number>> =
  { STOP_FILE: 409, STRATEGY_UNKNOWN: 404, TRADING_HALTED: 409 };

/** Adds the paths that carry out an operator's commands. Each answers with the state afterwards. */
export function addCommands(app: FastifyInstance, { runId, controlPort, end }: ControlledRun): void {
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/api/${action}`, async (request, reply) =>
      carryOut(request.body, reply, ORDER, (order) => ({ ...order, action })));
  }
  for (const [path, action] of [['stop', 'halt'], ['start', 'resume']] as const) {
    app.post<{ Params: { name: string } }>(`/api/strategies/:name/${path}`, async (request, reply) =>
      carryOut(request.body, reply, STRATEGY_ORDER, (order) => ({ ...order, action, strategy: request.params.name })));
  }
  app.post('/api/strategies/:name/reload', async (_request, reply) =>
    reply.code(501).send(fault('NOT_AVAILABLE',
      'a running strategy cannot be reloaded yet; restart the daemon: it continues from its saved state')));
  app.post<{ Params: { id: string } }>('/api/intents/:id/resolve', async (request, reply) => {
    const resolution = RESOLUTION.safeParse(request.body);
    const port = controlPort();
    if (!resolution.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(resolution.error)));
    if (port === undefined) return stillStarting(reply);
    try {
      return await port.resolve(request.params.id, resolution.data);
    } catch (error) {
      if (!isGannetError(error)) throw error;
      return reply.code(error.code === 'RESOLVE_REFUSED' ? 409 : 502).send(fault(error.code, error.message));
    }
  });
  // This works during the start too.
  app.post('/api/stop', async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    end();
    const open = controlPort()?.state().intents.open.map(({ intent_id: id }) => id) ?? [];
    return { run_id: runId, pid: process.pid, open };
  });
  app.post('/api/presence', async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    const port = controlPort();
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    if (port === undefined) return stillStarting(reply);
    port.reportPresence();
    return { ok: true };
  });

  function carryOut<Body>(
    body: unknown, reply: FastifyReply, schema: z.ZodType<Body>, requestOf: (body: Body) => OperatorRequest,
  ): unknown {
    const order = schema.safeParse(body);
    const port = controlPort();
    if (!order.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(order.error)));
    if (port === undefined) return stillStarting(reply);
    const answer = port.request(requestOf(order.data));
    return 'code' in answer ? reply.code(STATUS_OF[answer.code]).send(fault(answer.code, answer.message)) : answer;
  }
}
