import { section } from '../row.ts';

const ANSWERED = { sandbox: 'src/sandbox/service/order/order-transaction.ts orderTransaction' };
const QUOTED = { sandbox: 'src/sandbox/service/order/order-quote.ts quoteOrder' };

export const order = section('GET /swap/v2/order', {
  prefix: 'order', client: 'src/service/endpoints/swap-v2.ts orderRules',
  sandbox: 'src/sandbox/service/order/order-request.ts parseOrderRequest',
}, [
  [
    'endpoint', '/swap/v2/order', 'Answers 200 with the V2 order response.',
    {
      client: 'src/service/endpoints/swap-v2.ts createSwapV2',
      sandbox: 'src/sandbox/service/order/order-endpoint.ts registerOrder',
    },
  ],
  ['parameter', 'inputMint', 'Mint that is sold; required.'],
  ['parameter', 'outputMint', 'Mint that is bought; required.'],
  ['parameter', 'amount', 'Smallest units of what is sold; required.'],
  ['parameter', 'taker', 'The wallet that signs; may be left out.'],
  ['rule', 'no taker no transaction', 'Without a taker the answer is a quote alone.', ANSWERED],
  ['rule', 'taker for execute', 'What is to be signed and executed needs a taker.', ANSWERED],
  ['parameter', 'receiver', 'A wallet, not a token account, that gets the output.'],
  ['rule', 'receiver is not taker', 'It has to differ from the taker.'],
  ['rule', 'receiver gets tokens', 'What is not SOL goes to its associated token account.', ANSWERED],
  ['rule', 'receiver account is made', 'Where that account does not exist, an instruction makes it.', ANSWERED],
  ['rule', 'receiver gets sol', 'SOL reaches it as SOL.', ANSWERED],
  ['rule', 'receiver no wrapped sol', 'An account of wrapped SOL cannot be the destination.', ANSWERED],
  ['rule', 'receiver without rfq', 'A receiver shuts the RFQ router out.', QUOTED],
  ['parameter', 'swapMode', 'ExactIn, and nothing else.'],
  ['parameter', 'slippageBps', 'Whole basis points, 0 to 10000; chosen by the service where it is left out.'],
  ['parameter', 'referralAccount', 'Whom the referral fee goes to.'],
  ['rule', 'referral together', 'Account and fee of the referral come together or not at all.'],
  ['rule', 'referral without rfq', 'A referral shuts the RFQ router out.', QUOTED],
  ['parameter', 'referralFee', 'Basis points, 50 to 255.'],
  ['parameter', 'payer', 'Pays signatures, priority and rent in the taker\'s place.'],
  [
    'rule', 'payer makes gasless', 'Where the taker has no SOL for gas, a payer turns the order into a gasless one.',
    ANSWERED,
  ],
  [
    'parameter', 'priorityFeeLamports',
    'The priority fee; chosen by the service where it is left out, and exactly this where it is set.',
  ],
  ['parameter', 'bundleTipLamports', 'A tip for the builder of the block, in lamports.'],
  ['parameter', 'broadcastFeeType', 'maxCap or exactFee.'],
  ['rule', 'max cap', 'maxCap makes a limit of the fee.', ANSWERED],
  ['rule', 'exact fee', 'exactFee pays just the fee.', ANSWERED],
  ['rule', 'fee type alone does nothing', 'Without a priority fee or a tip the fee type is not used.', ANSWERED],
  ['parameter', 'excludeRouters', 'Names of routers with commas between them: iris, rfqz, routerA, routerB.'],
  ['parameter', 'excludeDexes', 'Labels of markets with commas between them.'],
  ['rule', 'exclude dexes of iris', 'They are kept out of the iris router\'s routes and of no other\'s.', QUOTED],
]);
