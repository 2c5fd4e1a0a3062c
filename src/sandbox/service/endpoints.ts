import type { FastifyInstance } from 'fastify';
import { registerBuild } from './build.ts';
import type { ServiceContext } from './context.ts';
import { registerExecute } from './execute.ts';
import { registerOrder } from './order.ts';
import { registerOrderbook } from './orderbook.ts';
import { registerSearch } from './search.ts';

/** Adds one endpoint, or a group of them, to the service. */
export type RegisterEndpoint = (app: FastifyInstance, context: ServiceContext) => void;

/** Everything the service answers to beside the operator's `/sandbox/*`. */
export const ENDPOINTS: readonly RegisterEndpoint[] = [
  registerOrder, registerBuild, registerExecute,
  registerSearch,
  registerOrderbook,
];
