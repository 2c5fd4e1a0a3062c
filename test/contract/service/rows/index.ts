import type { Row } from '../row.ts';
import { authentication, events } from './authentication.ts';
import { buildAnswer } from './build-answer.ts';
import { build, execute } from './build.ts';
import { errors, limits } from './errors.ts';
import { live } from './live.ts';
import { orderAnswer } from './order-answer.ts';
import { order } from './order.ts';
import { overview, purposes } from './overview.ts';
import { historyRecord, leftOpen, orderBook, position } from './prediction-account.ts';
import { eventMetadata, marketMetadata, pagination, predictionEvent, predictionMarket } from './prediction-events.ts';
import { prediction } from './prediction.ts';
import { platformFee, routePlan } from './shared-shapes.ts';
import { states } from './states.ts';
import { tokenRecord, tokenStats } from './token-record.ts';
import { discovery, search } from './tokens.ts';
import { v1QuoteAnswer, v1SwapAnswer } from './v1-answers.ts';
import { v1Others, v1Quote, v1Swap } from './v1.ts';
import { versioning } from './versioning.ts';

/** Every statement of the service's description, in its order, so that both can be read side by side. */
export const ROWS: readonly Row[] = [
  ...overview, ...purposes,
  ...routePlan, ...platformFee,
  ...v1QuoteAnswer, ...v1SwapAnswer,
  ...orderAnswer, ...buildAnswer,
  ...tokenRecord, ...tokenStats,
  ...pagination, ...predictionEvent, ...eventMetadata, ...predictionMarket, ...marketMetadata,
  ...position, ...historyRecord, ...orderBook, ...leftOpen,
  ...states,
  ...order, ...build, ...execute,
  ...v1Quote, ...v1Swap, ...v1Others,
  ...search, ...discovery,
  ...prediction,
  ...authentication, ...events, ...errors, ...limits, ...versioning,
  ...live,
];
