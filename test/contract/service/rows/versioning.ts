import { section } from '../row.ts';

const RETIRED =
  {
    client: 'not applicable: the client never calls them', sandbox: 'src/sandbox/service/endpoints.ts registerRetired',
  };
const V1 =
  {
    client: 'src/service/endpoints/swap-v1.ts createSwapV1', sandbox: 'src/sandbox/service/v1/quote.ts registerV1Quote',
  };
const BUILD =
  {
    client: 'src/service/wire/build-answer.ts readSwapBuild',
    sandbox: 'src/sandbox/service/build/build-endpoint.ts registerBuild',
  };
const LEND =
  { client: 'src/service/endpoints/lend.ts createLend', sandbox: 'src/sandbox/service/endpoints.ts registerLend' };

const EARNED = { ...LEND, client: 'src/service/endpoints/lend.ts readLendEarnings' };

export const versioning = section('Versioning', {
  prefix: 'version', client: 'src/service/endpoints/swap-v2.ts createSwapV2',
  sandbox: 'src/sandbox/service/endpoints.ts ENDPOINTS',
}, [
  [
    'rule', 'paths by version',
    'V2 below `/swap/v2`, V1 below `/swap/v1`, search below `/ultra/v1`, prediction below `/prediction/v1`.',
  ],
  ['rule', 'v1 superseded', 'V1 and the search below `/ultra/v1` are superseded by V2, and still answer.', V1],
  [
    'rule', 'prediction is beta', 'The prediction API may change so that clients break.',
    { client: 'src/service/endpoints/prediction.ts createPrediction' },
  ],
  [
    'rule', 'order and execute keep',
    '`/order` and `/execute` keep parameters and answers of the managed orders before them.',
  ],
  ['rule', 'build is one call', '`/build` does in one call what V1 did with a quote and its instructions.', BUILD],
  [
    'rule', 'migration unchanged',
    'From V1 quote to V2 build, mints, amount, slippage, dexes, excludeDexes, maxAccounts and platformFeeBps stay.',
    BUILD,
  ],
  ['rule', 'migration taker', '`userPublicKey` became `taker` and is required.', BUILD],
  ['rule', 'migration swapMode', '`swapMode` is gone: ExactIn alone.', BUILD],
  ['rule', 'migration new', '`mode` and `feeAccount` are new parameters.', BUILD],
  ['rule', 'migration kept instructions', 'Compute budget, setup and cleanup instructions keep their form.', BUILD],
  [
    'rule', 'migration new answers',
    '`otherInstructions` and `blockhashWithMetadata` are new, and the swap is a V2 instruction.', BUILD,
  ],
  ['rule', 'migration tables', '`addressLookupTableAddresses` became `addressesByLookupTableAddress`.', BUILD],
  ['rule', 'v2 instructions', 'V2 instructions are what one gets without asking, and emit no fee events.', BUILD],
  [
    'rule', 'bps is canonical',
    'Shares are in `bps`, with `percent` beside them, which V1 may leave null for V2 instructions.', V1,
  ],
  ['rule', 'deprecated market fees', '`swapInfo.feeAmount` and `feeMint` are deprecated.', V1],
  ['rule', 'removed likes', '`ctLikes` and `smartCtLikes` are removed from search answers.', {
    client: 'src/service/wire/token-record.ts readTokenRecord',
    sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
  }],
  [
    'rule', 'deprecated impact and type',
    '`priceImpactPct` and `swapType` of an order are deprecated for `priceImpact` and `router`.',
    {
      client: 'src/service/wire/order-answer.ts readSwapOrder',
      sandbox: 'src/sandbox/service/order/order-answer.ts orderAnswer',
    },
  ],
  ['endpoint', '/lend/v1/earn/earnings', 'The earnings of the lending product.', LEND],
  ['rule', 'earnings removed', 'totalDeposits, totalWithdraws, totalBalance and totalAssets are removed.', EARNED],
  ['field', 'earnings.earnings', 'A number now, no longer a string.', EARNED],
  ['field', 'earnings.slot', 'A number, new.', EARNED],
  ['field', 'earnings.address', 'The position (left open by the description).', EARNED],
  ['field', 'earnings.ownerAddress', 'The owner (left open by the description).', EARNED],
  ['parameter', 'earnings.user', 'The owner; required (left open by the description).', LEND],
  [
    'parameter', 'earnings.positions', 'Positions with commas between them; required (left open by the description).',
    LEND,
  ],
  ['rule', 'retired hosts', 'Earlier hosts are retired; paths stay and only the host changes.', {
    client: 'src/service/wire/dialect.ts loadDialect (hosts)',
    sandbox: 'not applicable: it is reached on loopback, by no host name',
  }],
  ['rule', 'postponed host', 'When the host for free keys goes is not settled.', {
    client: 'not applicable: the base address is the operator\'s',
    sandbox: 'not applicable: it is reached on loopback, by no host name',
  }],
  [
    'rule', 'trigger paths',
    'The old limit-order paths moved below `/trigger/v1` under new names, and are outside the description.', RETIRED,
  ],
  ['rule', 'trigger requestId', 'Creating such an order there answers with a `requestId` for its `/execute`.', {
    client: 'not applicable: the client never calls them',
    sandbox: 'not applicable: what such an order answers is outside the description',
  }],
  ['rule', 'trigger field names', 'Its `tx` became `transaction` or `transactions`.', {
    client: 'not applicable: the client never calls them',
    sandbox: 'not applicable: what such an order answers is outside the description',
  }],
]);
