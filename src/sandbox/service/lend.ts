import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from './context.ts';
import { createParameters } from './parameters.ts';

const MOST_POSITIONS = 50;

/**
 * Serves `GET /lend/v1/earn/earnings` in its form of now: for each position that is asked for, what the user earned on
 * it.
 */
export function registerLend(app: FastifyInstance, context: ServiceContext): void {
  app.get('/lend/v1/earn/earnings', (request, reply) => {
    const parameters = createParameters(request.query);
    const user = parameters.address('user');
    const positions = parameters.addresses('positions', MOST_POSITIONS);
    const nowMs = context.nowMs();
    return reply.send([...new Set(positions)].map((address) => ({
      address, ownerAddress: user, earnings: context.lending.earnings({ user, position: address, nowMs }),
      slot: context.chain.slot,
    })));
  });
}
