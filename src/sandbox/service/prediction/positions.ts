import type { FastifyInstance } from 'fastify';
import type { Position } from '../../prediction/positions.ts';
import type { ServiceContext } from '../context.ts';
import { page, pageRange } from './paging.ts';
import { positionRecord } from './position-record.ts';
import { predictionRoute, type PredictionRequest } from './prediction-route.ts';

const USUAL_SIZE = 10;
const MOST_OWNERS = 50;

/** Serves `GET /prediction/v1/positions` and `/positions/{positionPubkey}`. */
export function registerPositions(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/positions' }, (request) => {
    const isWanted = filterOf(request);
    return page(request.world.positions().filter(isWanted), {
      range: pageRange(request.query), size: USUAL_SIZE, record: (position) => positionRecord(position, request),
    });
  });
  predictionRoute(app, context, { path: '/positions/:positionPubkey', param: 'positionPubkey' }, (request) => {
    const position = request.world.position(request.id);
    return position === undefined ? request.missing('Position') : positionRecord(position, request);
  });
}

function filterOf({ query, profile, world: { identifiers } }: PredictionRequest): (position: Position) => boolean {
  // The live service takes several owners at once.
  const owners = query.has('ownerPubkey')
    ? query.addresses('ownerPubkey', profile === 'live' ? MOST_OWNERS : 1) : undefined;
  const isYes = query.optionalBoolean('isYes');
  const marketId = query.optionalText('marketId');
  const marketPubkey = query.optionalAddress('marketPubkey');
  return (position) => (owners === undefined || owners.includes(position.owner))
    && (isYes === undefined || position.isYes === isYes)
    && (marketId === undefined || position.marketId === marketId)
    && (marketPubkey === undefined || identifiers.address(`market:${position.marketId}`) === marketPubkey);
}
