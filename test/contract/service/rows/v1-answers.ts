import { section } from '../row.ts';

export const v1QuoteAnswer = section('V1 quote response', {
  prefix: 'v1-quote-answer', client: 'src/service/wire/v1-answers.ts readQuote',
  sandbox: 'src/sandbox/service/v1/quote.ts registerV1Quote',
}, [
  ['field', 'inputMint', 'Mint that is sold; always there.'],
  ['field', 'inAmount', 'How much of it, as a string; always there.'],
  ['field', 'outputMint', 'Mint that is bought; always there.'],
  ['field', 'outAmount', 'The best output with market and platform fees off and slippage not yet; always there.'],
  ['field', 'otherAmountThreshold', '`outAmount` with the tolerance of `slippageBps` off; always there.'],
  [
    'rule', 'threshold is not used', '`/swap` builds its transaction without reading `otherAmountThreshold`.',
    { sandbox: 'src/sandbox/service/v1/swap.ts registerV1Swap' },
  ],
  ['field', 'swapMode', 'ExactIn or ExactOut; always there.'],
  ['field', 'slippageBps', 'A whole number of 0 to 65535; always there.'],
  ['field', 'priceImpactPct', 'A string; always there.'],
  ['field', 'routePlan', 'List of route plan entries; always there.'],
  ['field', 'platformFee', 'The platform fee; may be missing.'],
  ['field', 'contextSlot', 'A whole number of 64 bits; may be missing.'],
  ['field', 'timeTaken', 'A number; may be missing.'],
  ['field', 'mostReliableAmmsQuoteReport', 'For inspection: market account to the output it quoted; may be missing.'],
]);

const FACTS = {
  client: 'src/service/wire/v1-answers.ts quoteSwapShape',
  sandbox: 'src/sandbox/service/v1/swap.ts transactionFacts',
};
const REPORT = { ...FACTS, sandbox: 'src/sandbox/service/v1/carry-out.ts carriedOut' };

export const v1SwapAnswer = section('V1 swap response', {
  prefix: 'v1-swap-answer', client: 'src/service/wire/v1-answers.ts readQuoteSwap',
  sandbox: 'src/sandbox/service/v1/swap.ts registerV1Swap',
}, [
  ['field', 'swapTransaction', 'The encoded transaction; always there.'],
  ['field', 'lastValidBlockHeight', 'A whole number of 64 bits; always there.'],
  ['field', 'prioritizationFeeLamports', 'A whole number of 64 bits; may be missing.', FACTS],
  [
    'field', 'dynamicSlippageReport', 'There where dynamic slippage was asked for.',
    { ...FACTS, sandbox: 'src/sandbox/service/v1/swap.ts reportOf' },
  ],
  ['field', 'dynamicSlippageReport.slippageBps', 'A whole number.', REPORT],
  ['field', 'dynamicSlippageReport.otherAmount', 'A whole number.', REPORT],
  ['field', 'dynamicSlippageReport.simulatedIncurredSlippageBps', 'A whole number.', REPORT],
  ['field', 'dynamicSlippageReport.amplificationRatio', 'A string.', REPORT],
]);
