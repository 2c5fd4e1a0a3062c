import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isGannetError } from '../../core/errors.ts';
import { fault, issueText, stillStarting } from '../control/control-guard.ts';
import type { ControlledRun, ControlPort } from '../control/control-port.ts';
import { requestOrigin } from '../control/order-origin.ts';
import { refusal } from './sale-preview.ts';

const NAME = z.string().min(1).max(200);
const AMOUNT = z.string().min(1).max(60);
const REASON = z.string().trim().min(1).max(300).optional();
const KEY = z.string().regex(/^[A-Za-z0-9-]{8,64}$/, 'expected 8 to 64 letters, digits and dashes');
const SWAP = {
  in: NAME, out: NAME, amount: AMOUNT, strategy: NAME.optional(), route: z.enum(['order', 'build']).optional(),
  slippage_bps: z.int().min(0).max(10_000).optional(),
};
const SALE = { token: NAME, strategy: NAME.optional(), part: AMOUNT.optional(), amount: AMOUNT.optional() };
const SWAP_PREVIEW = z.strictObject(SWAP);
const SWAP_ORDER =
  z.strictObject({ ...SWAP, at_least: z.string().regex(/^\d{1,20}$/).optional(), key: KEY.optional() });
const SALE_ORDER = z.strictObject({ ...SALE, key: KEY.optional() });
const PREVIEW = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('sell'), ...SALE }),
  z.strictObject({ action: z.literal('flatten'), strategy: NAME.optional() }),
]);
const PAUSE = z.strictObject({ what: NAME, for: AMOUNT.optional(), reason: REASON });
const PAUSE_END = z.strictObject({ what: NAME, reason: REASON });

/** Adds the paths of manual orders: previews, swaps, sales, pauses, and what became of an order. */
export function addManualOrders(app: FastifyInstance, { controlPort }: Pick<ControlledRun, 'controlPort'>): void {
  const handle = <Body>(
    schema: z.ZodType<Body>, given: (request: FastifyRequest) => unknown,
    act: (port: ControlPort, body: Body, request: FastifyRequest) => unknown,
  ) => async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const body = schema.safeParse(given(request));
    const port = controlPort();
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    if (port === undefined) return stillStarting(reply);
    try {
      return await act(port, body.data, request);
    } catch (error) {
      if (!isGannetError(error)) throw error;
      const { status, code } = error.details;
      return reply.code(typeof status === 'number' ? status : 503)
        .send(fault(String(code ?? error.code), error.message));
    }
  };
  const bodyOf = ({ body }: FastifyRequest): unknown => body;
  const origin = (request: FastifyRequest): ReturnType<typeof requestOrigin> => requestOrigin('operator', request);

  app.get('/api/preview', handle(PREVIEW, ({ query }) => query, ({ manual }, query) =>
    (query.action === 'sell' ? manual.previewSale(query) : manual.previewFlatten(query.strategy))));
  app.post('/api/preview', handle(SWAP_PREVIEW, bodyOf, ({ manual }, body) => manual.previewSwap(body)));
  app.post('/api/swap', handle(SWAP_ORDER, bodyOf, ({ manual }, body, request) =>
    manual.swap({ ...body, key: body.key ?? randomUUID() }, origin(request))));
  app.post('/api/sell', handle(SALE_ORDER, bodyOf, ({ manual }, body, request) =>
    manual.sell({ ...body, key: body.key ?? randomUUID() }, origin(request))));
  app.get('/api/orders/:key', handle(z.strictObject({ key: KEY }), ({ params }) => params, ({ manual }, { key }) => {
    const order = manual.order(key);
    if (order === undefined) throw refusal(404, 'ORDER_UNKNOWN', `no order has the key ${key}`);
    return order;
  }));
  app.post('/api/pause', handle(PAUSE, bodyOf, (port, body, request) => port.pause(body, true, origin(request))));
  app.post('/api/unpause', handle(PAUSE_END, bodyOf, (port, body, request) =>
    port.pause(body, false, origin(request))));
}
