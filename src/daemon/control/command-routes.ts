import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isGannetError } from '../../core/errors.ts';
import { fault, issueText, stillStarting } from './control-guard.ts';
import type { ControlledRun } from './control-port.ts';
import type { OperatorRequest, Refusal } from './operator-commands.ts';
import { OPERATOR_ACTIONS } from './operator-commands.ts';
import type { OrderOrigin } from './order-origin.ts';
import { requestOrigin } from './order-origin.ts';

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
const RELOAD = z.strictObject({ strategy: z.string().max(200).optional() });

const STATUS_OF: Readonly<Record<Refusal['code'], number>> =
  { AUDIT_FAILED: 503, STOP_FILE: 409, STRATEGY_UNKNOWN: 404, TRADING_HALTED: 409 };

/** Adds the paths that carry out an operator's commands. Each answers with the state afterwards. */
export function addCommands(app: FastifyInstance, { runId, controlPort, audit, end }: ControlledRun): void {
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/api/${action}`, async (request, reply) =>
      carryOut(request, reply, ORDER, (order) => ({ ...order, action })));
  }
  for (const [path, action] of [['stop', 'halt'], ['start', 'resume']] as const) {
    app.post<{ Params: { name: string } }>(`/api/strategies/:name/${path}`, async (request, reply) =>
      carryOut(request, reply, STRATEGY_ORDER, (order) => ({ ...order, action, strategy: request.params.name })));
  }
  app.post<{ Params: { name: string } }>('/api/strategies/:name/reload', async (request, reply) =>
    reload(request, reply, NOTHING, () => request.params.name));
  app.post('/api/reload', async (request, reply) => reload(request, reply, RELOAD, ({ strategy }) => strategy));
  app.post<{ Params: { id: string } }>('/api/intents/:id/resolve', async (request, reply) => {
    const resolution = RESOLUTION.safeParse(request.body);
    const port = controlPort();
    if (!resolution.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(resolution.error)));
    if (port === undefined) return stillStarting(reply);
    try {
      return await port.resolve(request.params.id, resolution.data, originOf(request));
    } catch (error) {
      if (!isGannetError(error)) throw error;
      const status = { RESOLVE_REFUSED: 409, AUDIT_FAILED: 503 }[error.code as string] ?? 502;
      return reply.code(status).send(fault(error.code, error.message));
    }
  });
  // This works during the start too.
  app.post('/api/stop', async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    audit.note({ action: 'stop', origin: originOf(request) });
    end();
    const open = controlPort()?.state().intents.open.map(({ intent_id: id }) => id) ?? [];
    return { run_id: runId, pid: process.pid, open };
  });
  app.post('/api/presence', async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    const port = controlPort();
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    if (port === undefined) return stillStarting(reply);
    port.reportPresence(() => originOf(request));
    return { ok: true };
  });

  async function reload<Body>(
    request: FastifyRequest, reply: FastifyReply, schema: z.ZodType<Body>, nameOf: (body: Body) => string | undefined,
  ): Promise<unknown> {
    const body = schema.safeParse(request.body);
    const port = controlPort();
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    if (port === undefined) return stillStarting(reply);
    try {
      return await port.reload(nameOf(body.data), originOf(request));
    } catch (error) {
      if (!isGannetError(error)) throw error;
      return reply.code(409).send(fault(error.code, error.message));
    }
  }

  function carryOut<Body>(
    request: FastifyRequest, reply: FastifyReply, schema: z.ZodType<Body>, requestOf: (body: Body) => OperatorRequest,
  ): unknown {
    const order = schema.safeParse(request.body);
    const port = controlPort();
    if (!order.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(order.error)));
    if (port === undefined) return stillStarting(reply);
    const answer = port.request(requestOf(order.data), originOf(request));
    return 'code' in answer ? reply.code(STATUS_OF[answer.code]).send(fault(answer.code, answer.message)) : answer;
  }
}

/** Commands need the operator's token, so its holder sent this request. */
function originOf(request: FastifyRequest): OrderOrigin {
  return requestOrigin('operator', request);
}
