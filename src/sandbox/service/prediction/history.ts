import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.ts';
import { historyRecord } from './history-record.ts';
import { page, pageRange } from './paging.ts';
import { predictionRoute } from './prediction-route.ts';

/** Pages of 8 and 9 records were seen where nobody asked for a size. */
const USUAL_SIZE = 8;

/** Serves `GET /prediction/v1/history`: the ledger, newest first. The live service wants to know whose. */
export function registerHistory(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/history' }, (request) => {
    const { query, world, profile } = request;
    const isLive = profile === 'live';
    const ownerPubkey = query.optionalAddress('ownerPubkey')
      ?? (isLive ? query.optionalAddress('userPubkey') : undefined);
    if (isLive && ownerPubkey === undefined)
      return request.refuse({ message: 'ownerPubkey or userPubkey is required', param: 'ownerPubkey' });
    const found = world.history({
      ownerPubkey,
      id: query.optionalInteger('id', { min: 1, max: Number.MAX_SAFE_INTEGER }),
      positionPubkey: query.optionalAddress('positionPubkey'),
      ...(isLive ? { marketId: query.optionalText('marketId'), isYes: query.optionalBoolean('isYes') } : {}),
    });
    return page(found, { range: pageRange(query), size: USUAL_SIZE + (found.length % 2), record: (record) =>
      historyRecord(record, request) });
  });
}
