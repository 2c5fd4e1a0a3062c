import type { Case } from '../case.ts';
import { authenticationCases } from './authentication.ts';
import { buildAnswerCases } from './order/build-answer.ts';
import { buildCases } from './order/build.ts';
import { contentCases } from './tokens/content.ts';
import { discoveryCases } from './tokens/discovery.ts';
import { errorCases } from './errors.ts';
import { executeAnswerCases } from './execute/execute-answer.ts';
import { executeCodeCases } from './execute/execute-codes.ts';
import { executeCases } from './execute/execute.ts';
import { lendCases } from './lend.ts';
import { liveCases } from './live.ts';
import { orderAnswerCases } from './order/order-answer.ts';
import { orderErrorCases } from './order/order-errors.ts';
import { orderFeeCases } from './order/order-fees.ts';
import { orderPartyCases } from './order/order-parties.ts';
import { orderCases } from './order/order.ts';
import { overviewCases } from './overview.ts';
import { predictionBookCases } from './prediction/prediction-book.ts';
import { predictionEventCases } from './prediction/prediction-events.ts';
import { predictionHistoryCases } from './prediction/prediction-history.ts';
import { predictionListCases } from './prediction/prediction-lists.ts';
import { predictionPositionCases } from './prediction/prediction-position.ts';
import { predictionCases } from './prediction/prediction.ts';
import { routeCases } from './order/route.ts';
import { searchCases } from './tokens/search.ts';
import { stateCases } from './states.ts';
import { tokenRecordCases } from './tokens/token-record.ts';
import { tokenStatsCases } from './tokens/token-stats.ts';
import { v1OtherCases } from './v1/v1-others.ts';
import { v1QuoteAnswerCases } from './v1/v1-quote-answer.ts';
import { v1QuoteCases } from './v1/v1-quote.ts';
import { v1SwapAccountCases } from './v1/v1-swap-accounts.ts';
import { v1SwapAnswerCases } from './v1/v1-swap-answer.ts';
import { v1SwapFeeCases } from './v1/v1-swap-fees.ts';
import { v1SwapCases } from './v1/v1-swap.ts';
import { versioningCases } from './versioning.ts';

/** What moves money. */
const MONEY_CASES: readonly Case[] = [
  ...routeCases,
  ...orderAnswerCases, ...orderCases, ...orderPartyCases, ...orderFeeCases, ...orderErrorCases,
  ...buildAnswerCases, ...buildCases,
  ...executeCases, ...executeCodeCases, ...executeAnswerCases,
  ...v1QuoteAnswerCases, ...v1QuoteCases, ...v1SwapAnswerCases, ...v1SwapCases, ...v1SwapAccountCases,
  ...v1SwapFeeCases,
];

/** The whole suite, in the order in which it is played: what resolves markets comes last. */
export const CASES: readonly Case[] = [
  ...overviewCases, ...authenticationCases, ...errorCases,
  ...MONEY_CASES, ...v1OtherCases, ...versioningCases, ...lendCases,
  ...tokenRecordCases, ...tokenStatsCases, ...searchCases, ...discoveryCases, ...contentCases,
  ...predictionEventCases, ...predictionPositionCases, ...predictionHistoryCases, ...predictionListCases,
  ...predictionCases, ...predictionBookCases,
  ...stateCases,
  ...liveCases,
];

/**
 * The statements in which the live service differs from the description: shares, impact, roundings, makers, and what is
 * left out.
 */
const DESCRIPTION_ALONE: ReadonlySet<string> = new Set([
  'route.swapInfo', 'route.percent', 'route.bps', 'route.usdValue', 'route.swapInfo.ammKey', 'route.swapInfo.label',
  'route.swapInfo.inAmount', 'route.swapInfo.outAmount', 'version.deprecated-impact-and-type',
  'order-answer.priceImpact', 'order-answer.priceImpactPct', 'order-answer.transaction', 'order.inputMint',
  'order.receiver-without-rfq', 'order.referral-without-rfq', 'build-answer.otherAmountThreshold',
  'build-answer.routePlan', 'build.slippageBps', 'build.no-service-fee',
  'open.execute.answer.swapEvents', 'v1-quote-answer.mostReliableAmmsQuoteReport', 'route.swapInfo.feeAmount',
  'route.swapInfo.feeMint', 'version.deprecated-market-fees',
]);

/** The cases of money that hold in the profile `live` as well. */
export const LIVE_TOO: readonly Case[] = MONEY_CASES.filter(({ covers }) => !covers.some((id) =>
  DESCRIPTION_ALONE.has(id)));
