import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { registerBuild } from './build/build-endpoint.ts';
import type { ServiceContext } from './context.ts';
import { createParameters } from './http/parameters.ts';
import { RequestError } from './http/request-error.ts';
import type { Query } from './http/request-text.ts';
import { splitTarget } from './http/request-text.ts';
import { registerExecute } from './order/execute-endpoint.ts';
import { registerOrder } from './order/order-endpoint.ts';
import {
  registerEvents, registerHistory, registerOrderbook, registerPositions,
} from './prediction/prediction-endpoints.ts';
import { predictionError } from './prediction/prediction-route.ts';
import { registerDiscovery, registerSearch } from './tokens/discovery-endpoints.ts';
import { registerV1Labels, registerV1Quote } from './v1/quote.ts';
import { registerV1Swap, registerV1SwapInstructions } from './v1/swap.ts';

/** Adds one endpoint, or a group of them, to the service. */
export type RegisterEndpoint = (app: FastifyInstance, context: ServiceContext) => void;

/** All endpoints of the service except the operator's `/sandbox/*`. */
export const ENDPOINTS: readonly RegisterEndpoint[] = [
  registerOrder, registerBuild, registerExecute,
  registerV1Quote, registerV1Swap, registerV1SwapInstructions, registerV1Labels,
  registerSearch, registerDiscovery,
  registerHistory, registerPositions, registerEvents, registerOrderbook,
  registerLend,
  registerRetired,
];

const MOST_POSITIONS = 50;

/** Serves `GET /lend/v1/earn/earnings` in its current form: the user's earnings on each requested position. */
function registerLend(app: FastifyInstance, context: ServiceContext): void {
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

/** A path that is known but not served: 410 for a retired one, 404 for one outside the described service. */
interface UnservedPath {
  readonly methods: readonly HTTPMethods[];
  readonly path: string;
  readonly status: 410 | 404;
  /** The path that replaces it. */
  readonly instead?: string;
  readonly words: string;
}

/** A removed option: a query parameter or a header, anywhere or on one path. */
interface RemovedOption {
  readonly names: readonly string[];
  /** The one path where it was removed; absent means everywhere. */
  readonly path?: string;
  /** The one value that is accepted because it is the default. */
  readonly harmless?: string;
  readonly words: string;
}

const ANY = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const OUTSIDE = 'is outside the description of the service, and this sandbox does not serve it';

/** The paths that the description names as renamed, replaced or moved elsewhere. */
const UNSERVED: readonly UnservedPath[] = [
  {
    methods: ANY, path: '/limit/*', status: 410, instead: '/trigger/v1',
    words: `limit orders moved to /trigger/v1 under new names, which ${OUTSIDE}`,
  },
  { methods: ANY, path: '/trigger/v1/createOrder', status: 404, words: `creating trigger orders ${OUTSIDE}` },
  { methods: ANY, path: '/trigger/v1/executeOrder', status: 404, words: `executing trigger orders ${OUTSIDE}` },
  { methods: ANY, path: '/trigger/v1/cancelOrder', status: 404, words: `cancelling trigger orders ${OUTSIDE}` },
  { methods: ANY, path: '/trigger/v1/cancelOrders', status: 404, words: `cancelling trigger orders ${OUTSIDE}` },
  { methods: ANY, path: '/trigger/v1/getTriggerOrders', status: 404, words: `listing trigger orders ${OUTSIDE}` },
  {
    methods: ANY, path: '/ultra/v1/order', status: 410, instead: '/swap/v2/order',
    words: 'managed orders are part of the swap API V2, with the same parameters and the same answer',
  },
  {
    methods: ANY, path: '/ultra/v1/execute', status: 410, instead: '/swap/v2/execute',
    words: 'managed orders are part of the swap API V2, with the same body and the same answer',
  },
];

/** The paths that would place orders, close positions or claim payouts on prediction markets. */
const PREDICTION_ACTIONS: readonly {
  readonly methods: readonly HTTPMethods[]; readonly path: string; readonly status: 404 | 405; readonly allow?: string;
}[] = [
  { methods: ANY, path: '/orders', status: 404 },
  { methods: ANY, path: '/orders/*', status: 404 },
  { methods: ANY, path: '/execute', status: 404 },
  { methods: ANY, path: '/positions/:positionPubkey/claim', status: 404 },
  { methods: ['POST', 'PUT', 'PATCH', 'DELETE'], path: '/positions', status: 405, allow: 'GET' },
  { methods: ['POST', 'PUT', 'PATCH', 'DELETE'], path: '/positions/:positionPubkey', status: 405, allow: 'GET' },
];
const NO_PREDICTION_ACTIONS =
  'Placing orders, closing positions and claiming payouts is outside the description of the service; '
  + 'this sandbox only shows markets, positions and history';

const REMOVED_OPTIONS: readonly RemovedOption[] = [
  {
    names: ['binaryKey', 'binary-key', 'binary_key', 'x-binary-key'],
    words:
      'is the key of the routing program that one ran oneself; this service takes an API key, in the header x-api-key',
  },
  {
    names: ['swapMode'], path: '/swap/v2/build', harmless: 'ExactIn',
    words: 'is gone, a build is always ExactIn; the swap API V1 quotes ExactOut',
  },
  { names: ['userPublicKey'], path: '/swap/v2/build', words: 'belongs to the swap API V1; here it is called taker' },
];

/** Answers removed, renamed and retired paths and options with their replacement. */
function registerRetired(app: FastifyInstance, context: ServiceContext): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const path = pathOf(request);
    const query = request.query as Query;
    const refusal = REMOVED_OPTIONS
      .filter((option) => option.path === undefined || option.path === path)
      .flatMap(({ names, words, harmless }) => names
        .filter((name) => {
          const value = Object.hasOwn(query, name) ? query[name] : request.headers[name.toLowerCase()];
          return value !== undefined && value !== harmless;
        })
        .map((name) => `${name}: ${words}`))
      .at(0);
    done(refusal === undefined ? undefined : new RequestError(400, { error: refusal }));
  });
  for (const { methods, path, status, instead, words } of UNSERVED) {
    app.route({
      method: [...methods], url: path, ...refusing((request) => {
        const error =
          `${request.method} ${pathOf(request)}: ${words}${instead === undefined ? '' : `; use ${instead}`}`;
        throw new RequestError(status, { error, ...(instead === undefined ? {} : { replacedBy: instead }) });
      }),
    });
  }
  for (const { methods, path, status, allow } of PREDICTION_ACTIONS) {
    app.route({
      method: [...methods], url: `/prediction/v1${path}`, ...refusing((_request, reply) => {
        if (allow !== undefined) reply.header('allow', allow);
        throw predictionError(status, {
          message: NO_PREDICTION_ACTIONS, code: 'not_supported', requestId: context.nextId(),
        });
      }),
    });
  }
}

/** Runs before the body is read, so that any body is answered with the explanation. */
function refusing(
  refuse: (request: FastifyRequest, reply: FastifyReply) => never,
): { onRequest: typeof refuse; handler: typeof refuse } {
  return { onRequest: refuse, handler: refuse };
}

function pathOf({ url }: FastifyRequest): string {
  return splitTarget(url).path;
}
