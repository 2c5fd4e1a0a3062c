import { section } from '../row.ts';

const ORDER = {
  client: 'src/service/endpoints/swap-v2.ts orderRules',
  sandbox: 'src/sandbox/service/order/order-request.ts parseOrderRequest',
};
const BUILD = {
  client: 'src/service/endpoints/swap-v2.ts BUILD_RULES',
  sandbox: 'src/sandbox/service/build/build-endpoint.ts parseBuildRequest',
};
const CODES = {
  client: 'src/service/wire/order-answer.ts readSwapOrder',
  sandbox: 'src/sandbox/service/order/order-transaction.ts orderTransaction',
};

export const errors = section('Errors', {
  prefix: 'error', client: 'src/service/http-error.ts statusFault',
  sandbox: 'src/sandbox/service/http/gateway.ts gatewayBody',
}, [
  [
    'rule', 'unbuilt order is 200',
    'An order whose transaction cannot be built is a 200 with an empty transaction and all three error members.', CODES,
  ],
  ['rule', 'no valid key is 401', 'A request without a valid key is a 401.'],
  ['rule', 'fee without account', 'A build with a fee and no `feeAccount` is invalid.', BUILD],
  ['rule', 'dexes with exclude dexes', 'A build with `dexes` and `excludeDexes` is invalid.', BUILD],
  ['rule', 'two destinations', 'A build with both destinations is invalid.', BUILD],
  ['rule', 'receiver is taker', 'An order whose receiver is the taker is invalid.', ORDER],
  ['rule', 'referral account alone', 'An order with a referral\'s account and no fee is invalid.', ORDER],
  [
    'rule', 'body of a bad order', 'A bad order is a 400 with `requestId` and `error` (left open by the description).',
    { sandbox: 'src/sandbox/service/order/order-endpoint.ts registerOrder' },
  ],
  [
    'rule', 'body of a bad build', 'A bad build is a 400 with `error` (left open by the description).',
    { sandbox: 'src/sandbox/service/http/request-error.ts badRequest' },
  ],
  ['rule', 'body of a bad v1 request',
    'V1 answers routing errors with `error` and `errorCode` and others with `error` alone (left open by the '
      + 'description).',
    {
      sandbox: 'src/sandbox/service/v1/quote-request.ts routingError',
    }],
  [
    'rule', 'body of a bad prediction request',
    'The prediction API\'s errors have type, message, code, param and request_id (left open by the description).',
    { sandbox: 'src/sandbox/service/prediction/prediction-route.ts predictionError' },
  ],
  ['rule', 'body of the gateway', 'The gateway\'s errors have code and message (left open by the description).'],
  ['state', 'errorCode 1 of pools', 'The taker has too little of what he sells (left open by the description).', CODES],
  ['state', 'errorCode 2 of pools', 'The payer has too little SOL for gas (left open by the description).', CODES],
  ['state', 'errorCode 3 of pools', 'Too small to go without gas (left open by the description).', CODES],
  ['state', 'errorCode 1 of rfq', 'The taker has too little of what he sells (left open by the description).', CODES],
  ['state', 'errorCode 2 of rfq', 'A token account is missing (left open by the description).', CODES],
  ['state', 'errorCode 3 of rfq', 'The quote could not become a transaction (left open by the description).', CODES],
  [
    'rule', 'no quotes', 'Where no router quotes, a 400 says so (left open by the description).',
    { sandbox: 'src/sandbox/service/order/order-quote.ts quoteOrder' },
  ],
  ['rule', 'too many requests', '429 once the plan\'s rate is used up (left open by the description).'],
  ['rule', 'forbidden', '403 where the key may not (left open by the description).'],
  [
    'rule', 'unknown path', '404 for what there is not (left open by the description).',
    { sandbox: 'src/sandbox/service/app.ts createService' },
  ],
  ['rule', 'server errors', '5xx are worth another try, later (left open by the description).'],
]);

export const limits = section('Limits', {
  prefix: 'limit', client: 'src/service/endpoints/swap-v2.ts orderRules',
  sandbox: 'src/sandbox/service/order/order-request.ts parseOrderRequest',
}, [
  ['limit', 'slippageBps', '0 to 10000: V2 order and V2 build.'],
  [
    'limit', 'slippageBps default', '50: V1 quote and V2 build.',
    { sandbox: 'src/sandbox/service/build/build-endpoint.ts parseBuildRequest' },
  ],
  ['limit', 'referralFee', '50 to 255 basis points: V2 order.'],
  ['limit', 'platformFeeBps', '0 to 10000: V2 build.', BUILD],
  ['limit', 'maxAccounts', '1 to 64, 64 by default: V2 build; 64 by default: V1 quote.', BUILD],
  ['limit', 'blockhashSlotsToExpiry of build', '1 to 300, 150 by default: V2 build.', BUILD],
  ['limit', 'blockhashSlotsToExpiry of swap', '8 bits: V1 swap.', {
    client: 'src/service/endpoints/swap-v1.ts quoteSwapRules',
    sandbox: 'src/sandbox/service/v1/swap-request.ts parseSwapRequest',
  }],
  ['limit', 'search', '100 mints; 20 results for a symbol or name: token search.', {
    client: 'src/service/endpoints/tokens.ts MAX_SEARCH_MINTS',
    sandbox: 'src/sandbox/service/tokens/token-index.ts createTokenIndex',
  }],
  ['limit', 'content', '50 mints: content.', {
    client: 'src/service/endpoints/tokens.ts MAX_CONTENT_MINTS',
    sandbox: 'src/sandbox/service/tokens/discovery-endpoints.ts registerDiscovery',
  }],
  ['limit', 'event search term', '1 to 200 characters: events search.', {
    client: 'src/service/endpoints/prediction.ts eventSearchRules',
    sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerEvents',
  }],
  ['limit', 'event search results', '1 to 20: events search.', {
    client: 'src/service/endpoints/prediction.ts eventSearchRules',
    sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerEvents',
  }],
  ['limit', 'organicScore', '0 to 100: token record.', {
    client: 'src/service/wire/token-record.ts readTokenRecord',
    sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
  }],
  [
    'limit', 'gasless minimum', 'About 10 US dollars: orders whose gas the service pays.',
    {
      client: 'src/service/wire/order-answer.ts readSwapOrder',
      sandbox: 'src/sandbox/service/order/gasless.ts gaslessTerms',
    },
  ],
  ['limit', 'compute units in price', '1400000 units stand behind the price of a compute unit: V1 swap.', {
    client: 'src/service/endpoints/swap-v1.ts quoteSwapRules',
    sandbox: 'src/sandbox/service/v1/swap-transaction.ts computeBudget',
  }],
  [
    'limit', 'rate by plan', 'Each plan has its own rate; the figures are left open by the description.',
    {
      client: 'src/service/rate/rate-plan.ts bucketLimits',
      sandbox: 'src/sandbox/service/http/rate-limit.ts createRateLimits',
    },
  ],
]);
