import type { FastifyInstance } from 'fastify';
import { GENESIS_MARKETS } from '../../genesis-markets.ts';

/**
 * Serves `GET /swap/v1/program-id-to-label`: the markets that `dexes` and `excludeDexes` can name, by their programs.
 */
export function registerV1Labels(app: FastifyInstance): void {
  const labels = Object.fromEntries(GENESIS_MARKETS.flatMap(({ label, programIds }) =>
    programIds.map((programId) => [programId, label])));
  app.get('/swap/v1/program-id-to-label', (_request, reply) => reply.send(labels));
}
