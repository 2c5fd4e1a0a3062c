import { section } from '../row.ts';

const V1_ONLY =
  { client: 'src/service/wire/swap-terms.ts routePlan', sandbox: 'src/sandbox/service/v1/quote.ts registerV1Quote' };

export const routePlan = section('Route plan entry', {
  prefix: 'route', client: 'src/service/wire/swap-terms.ts routePlan',
  sandbox: 'src/sandbox/service/routing/quoting.ts routePlan',
}, [
  ['field', 'swapInfo', 'What one market does within the route.'],
  ['field', 'percent', 'Share of the route in percent, 100 for all of it.'],
  ['rule', 'percent may be null', 'A V1 quote for V2 instructions may leave `percent` null.', V1_ONLY],
  ['field', 'bps', 'Share of the route in basis points, 10000 for all of it; it is the one to trust.'],
  ['rule', 'percent beside bps', 'V2 answers carry both shares.'],
  ['field', 'usdValue', 'What passes through in US dollars; in V2 answers alone.'],
  ['field', 'swapInfo.ammKey', 'Account of the market, a string.'],
  ['field', 'swapInfo.label', 'Name of the market, a string.'],
  ['field', 'swapInfo.inputMint', 'Mint that goes into the market.'],
  ['field', 'swapInfo.outputMint', 'Mint that comes out of it.'],
  ['field', 'swapInfo.inAmount', 'How much goes in, as a string.'],
  ['field', 'swapInfo.outAmount', 'How much comes out, as a string.'],
  ['field', 'swapInfo.feeAmount', 'V1 quotes only, a string; deprecated and always "0".', V1_ONLY],
  ['field', 'swapInfo.feeMint', 'V1 quotes only, a string; deprecated and always the mint that goes in.', V1_ONLY],
  [
    'rule', 'market fees are inside',
    '`outAmount` already has the markets\' own fees taken off; they are not the platform\'s fee.',
  ],
]);

export const platformFee = section('Platform fee object', {
  prefix: 'platform-fee', client: 'src/service/wire/swap-terms.ts platformFee',
  sandbox: 'src/sandbox/service/order/order-answer.ts orderAnswer',
}, [
  ['field', 'amount', 'What the fee comes to, as a string.'],
  ['field', 'feeBps', 'What it is in basis points, a whole number.'],
  ['field', 'feeMint', 'Mint it is taken in, a string; in answers of the V2 order.'],
]);
