import { section } from '../row.ts';

const ORDER = {
  client: 'src/service/wire/order-answer.ts readSwapOrder',
  sandbox: 'src/sandbox/service/order/order-answer.ts orderAnswer',
};
const BOOK = {
  client: 'src/service/wire/order-book-answer.ts readOrderBook',
  sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerOrderbook',
};
const MARKET = {
  client: 'src/service/wire/prediction-events.ts MARKETS',
  sandbox: 'src/sandbox/service/prediction/records.ts marketRecord',
};
const TOKEN = {
  client: 'src/service/wire/token-record.ts readTokenRecord',
  sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
};
const GATE =
  { client: 'src/service/transport.ts createTransport', sandbox: 'src/sandbox/service/http/gateway.ts guard' };
const QUOTE =
  { client: 'src/service/wire/v1-answers.ts readQuote', sandbox: 'src/sandbox/service/v1/quote.ts registerV1Quote' };

/**
 * What the live service was seen to do otherwise; the client takes both, the sandbox does so with the profile `live`.
 */
export const live = section('Where the live service differs', { prefix: 'live', ...ORDER }, [
  ['rule', 'impact in points', 'An order\'s `priceImpact` counts percentage points: -0.1 is a tenth of a percent; '
    + '`priceImpactPct` stays a decimal.', {
    ...ORDER, client: 'src/service/wire/price-impact.ts readPriceImpact',
  }],
  ['rule', 'iris has another name', 'The iris router has had two names; both are understood, the newer one is sent.', {
    client: 'src/service/wire/dialect.ts loadDialect', sandbox: 'src/service/wire/dialect.ts loadDialect',
  }],
  [
    'rule', 'makers stay', 'A receiver or a referral does not shut makers out; a payer other than the taker does.',
    { ...ORDER, sandbox: 'src/sandbox/service/order/order-quote.ts quoteOrder' },
  ],
  [
    'rule', 'quote without taker',
    'A quote without a taker has no height, a fee without an amount, and a threshold that is the output.',
  ],
  ['rule', 'maker quote without taker', 'A maker\'s quote without a taker has no `expireAt`.'],
  [
    'rule', 'untradable mint', 'A mint without a market is a 500 on an order.',
    { client: 'src/service/http-error.ts statusFault', sandbox: 'src/sandbox/service/order/order-quote.ts quoteOrder' },
  ],
  ['rule', 'ascending book', 'Books rise in price: the best bid is the last.', BOOK],
  [
    'rule', 'sub-cent levels',
    'Levels below a cent show as 0 cents, several may show the same price, and sizes are fractions.', BOOK,
  ],
  [
    'rule', 'flat market',
    'A market has its title and rules among its own members, with provider and outcomes, and no `metadata`.', MARKET,
  ],
  ['rule', 'resolveAt', 'null while it is open, ISO 8601 text once it is resolved.', MARKET],
  ['rule', 'closed prices', 'A closed market prices everything at 0, which is no price.', MARKET],
  ['rule', 'closeTime in seconds', 'Positions and history tell an event\'s `closeTime` in seconds.', {
    client: 'src/service/wire/prediction-events.ts wireEventMetadata',
    sandbox: 'src/sandbox/service/prediction/records.ts eventMetadata',
  }],
  ['rule', 'exact contracts', '`contracts` has lost its fraction; `contractsMicro` and `contractsDecimal` have it.', {
    client: 'src/service/wire/prediction-events.ts quantityOf',
    sandbox: 'src/sandbox/service/prediction/records.ts contractMembers',
  }],
  ['rule', 'status of the resolved', 'Positions and history give a resolved market\'s result as its status.', {
    client: 'src/service/wire/prediction-events.ts wireMarketMetadata',
    sandbox: 'src/sandbox/service/prediction/records.ts marketMetadata',
  }],
  ['rule', 'history needs an owner', 'A history without an owner is refused.', {
    client: 'src/service/http-error.ts statusFault',
    sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerHistory',
  }],
  ['rule', 'search in pages', 'The search of events is paged, and `limit` says nothing any more.', {
    client: 'src/service/endpoints/prediction.ts createPrediction',
    sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerEvents',
  }],
  [
    'rule', 'keyless', 'Without a key a little is allowed, five requests in ten seconds; a wrong key is still a 401.',
    GATE,
  ],
  [
    'rule', 'rate headers', 'Answers of 200 and 429 tell the state of the limit, others do not.',
    { ...GATE, client: 'src/service/rate/limit-headers.ts readServerLimits' },
  ],
  [
    'rule', 'absent members',
    'A token\'s record leaves out what is not known, has members without description, and times to the nanosecond.',
    TOKEN,
  ],
  ['rule', 'likes are back', 'The removed likes are still on the wire.', TOKEN],
  ['rule', 'v1 quote', 'A V1 quote has a null fee, no market fees, null `bps` and further members.', QUOTE],
  ['field', 'simulationError', 'V1 says with a transaction whether its simulation failed, and with what.', {
    client: 'src/service/wire/v1-answers.ts quoteSwapShape',
    sandbox: 'src/sandbox/service/v1/swap.ts transactionFacts',
  }],
  [
    'rule', 'unknown path is text', 'An unknown path is a 404 that is no JSON.',
    { client: 'src/service/http-error.ts statusFault', sandbox: 'src/sandbox/service/app.ts createService' },
  ],
]);
