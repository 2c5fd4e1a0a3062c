import { section } from '../row.ts';

const DIALECT =
  { client: 'src/service/wire/dialect.ts loadDialect', sandbox: 'src/service/wire/dialect.ts loadDialect' };
const PORTAL = 'not applicable: keys are got by a person in a browser';

export const overview = section('Preamble', {
  prefix: 'preamble', client: 'src/service/transport.ts createTransport',
  sandbox: 'src/sandbox/service/app.ts createService',
}, [
  ['rule', 'json', 'Every request body and every answer is JSON.'],
  [
    'rule', 'https', 'The service is spoken to over HTTPS.',
    { sandbox: 'not applicable: it listens on loopback alone, in plain HTTP' },
  ],
  ['rule', 'base address', 'All paths hang below one base address, which the reader puts in.'],
  ['rule', 'portal address', 'Keys come from a portal at an address of its own.', { client: PORTAL, sandbox: PORTAL }],
  ['rule', 'neutral routers', 'The routers `rfqz`, `routerA` and `routerB` stand for names of vendors.', DIALECT],
  [
    'rule', 'neutral bundleTipLamports', 'The field `bundleTipLamports` stands for a name with a vendor in it.',
    DIALECT,
  ],
  ['rule', 'neutral forBundle', 'The query flag `forBundle` stands for a name with a vendor in it.', DIALECT],
  ['rule', 'neutral platformEarn', 'The field `apy.platformEarn` stands for a name with a vendor in it.', DIALECT],
  ['rule', 'neutral providers', 'The providers `provider_a` and `provider_b` stand for names of vendors.', DIALECT],
]);

const SWAP_V2 =
  { client: 'src/service/endpoints/swap-v2.ts createSwapV2', sandbox: 'src/sandbox/service/endpoints.ts ENDPOINTS' };

export const purposes = section('What the service does', { prefix: 'purpose', ...SWAP_V2 }, [
  ['rule', 'swap v2 path', 'The newer swap API lives below `/swap/v2`.'],
  [
    'rule', 'order quotes',
    '`/order` answers with a quote, and with a whole transaction to sign where a taker is given.',
  ],
  ['rule', 'build composes', '`/build` answers with a quote and the instructions for a transaction of one\'s own.'],
  ['rule', 'execute lands', '`/execute` lands a signed transaction that came from `/order`.'],
  [
    'rule', 'swap v1 path', 'The older swap API lives below `/swap/v1` and has been superseded.',
    { client: 'src/service/endpoints/swap-v1.ts createSwapV1' },
  ],
  [
    'rule', 'v1 quote then swap', 'There, `/quote` answers with a quote and `/swap` makes a transaction of it.',
    { client: 'src/service/endpoints/swap-v1.ts createSwapV1' },
  ],
  [
    'rule', 'search finds',
    'The token search finds by symbol, name or mint and answers with records and market statistics.',
    { client: 'src/service/endpoints/tokens.ts createTokens' },
  ],
  [
    'rule', 'search superseded',
    'The token search below `/ultra/v1` belongs to a generation that swap V2 has superseded.',
    { client: 'src/service/endpoints/tokens.ts createTokens' },
  ],
  [
    'rule', 'discovery group',
    'A group beside it searches, lists by tag, by category and interval, by newness, and gives approved content.',
    { client: 'src/service/endpoints/tokens.ts createTokens' },
  ],
  [
    'rule', 'prediction path', 'The prediction API lives below `/prediction/v1`.',
    { client: 'src/service/endpoints/prediction.ts createPrediction' },
  ],
  [
    'rule', 'prediction beta', 'The prediction API is a beta whose answers may change shape.',
    { client: 'src/service/endpoints/prediction.ts createPrediction' },
  ],
  [
    'rule', 'prediction subjects',
    'It shows binary YES/NO events: events, markets, depth, positions with profit and loss, and an account\'s history.',
    { client: 'src/service/endpoints/prediction.ts createPrediction' },
  ],
  [
    'rule', 'micro usd', 'Its amounts are millionths of a US dollar unless something else is said.',
    { client: 'src/service/endpoints/prediction.ts createPrediction' },
  ],
  [
    'rule', 'smallest units',
    'Token amounts are whole numbers of the smallest unit, written as strings unless something else is said.',
    { client: 'src/service/wire/fields.ts wireAmount' },
  ],
]);
