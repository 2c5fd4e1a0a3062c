import type { FastifyInstance } from 'fastify';
import { registerBuild } from './build.ts';
import type { ServiceContext } from './context.ts';
import { registerDiscovery } from './discovery.ts';
import { registerExecute } from './execute.ts';
import { registerLend } from './lend.ts';
import { registerOrder } from './order.ts';
import { registerOrderbook } from './orderbook.ts';
import { registerEvents } from './prediction/events.ts';
import { registerHistory } from './prediction/history.ts';
import { registerPositions } from './prediction/positions.ts';
import { registerRetired } from './retired.ts';
import { registerSearch } from './search.ts';
import { registerV1Labels } from './v1/labels.ts';
import { registerV1Quote } from './v1/quote.ts';
import { registerV1SwapInstructions } from './v1/swap-instructions.ts';
import { registerV1Swap } from './v1/swap.ts';

/** Adds one endpoint, or a group of them, to the service. */
export type RegisterEndpoint = (app: FastifyInstance, context: ServiceContext) => void;

/** Everything the service answers to beside the operator's `/sandbox/*`. */
export const ENDPOINTS: readonly RegisterEndpoint[] = [
  registerOrder, registerBuild, registerExecute,
  registerV1Quote, registerV1Swap, registerV1SwapInstructions, registerV1Labels,
  registerSearch, registerDiscovery,
  registerHistory, registerPositions, registerEvents, registerOrderbook,
  registerLend,
  registerRetired,
];
