import { bps } from '../../core/amount.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey } from '../../market/feed.ts';
import type { SwapSubjects } from '../../market/feeds/swap.ts';
import type { QuoteDetail } from '../../market/quote.ts';
import { rateOf } from '../../market/quote.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { OrderAnswer } from '../wire/order-answer.ts';
import { malformed } from '../wire/read.ts';
import type { FeedRequests, FeedSource } from './feed-request.ts';

type QuoteSpec = Extract<FeedSpec, { kind: keyof SwapSubjects }>;

/** One answer serves the plain quote and the complete one. */
async function askQuote(
  specs: readonly QuoteSpec[], { swap }: Pick<FeedSource, 'swap'>, call: CallOptions,
): Promise<readonly Omit<QuoteDetail, 'kind' | 'feed' | 'receivedAt'>[]> {
  const [spec] = specs as [QuoteSpec];
  const order =
    await swap.order({ inputMint: spec.inputMint, outputMint: spec.outputMint, amount: spec.amount }, call);
  const { inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router } = order;
  if (inputMint !== spec.inputMint || outputMint !== spec.outputMint || inAmount !== spec.amount)
    throw malformed(`expected a quote for ${feedKey(spec)}`, `one for quote:${inputMint}:${outputMint}:${inAmount}`);
  const terms = {
    inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router,
    feeBps: bps(Math.ceil(order.feeBps)), rate: rateOf(inAmount, outAmount),
  };
  return specs.map(({ kind }) => (kind === 'quote' ? terms : { ...terms, ...statedIn(order) }));
}

/** The requests of the feeds of the swap API. */
export const SWAP_REQUESTS: FeedRequests<keyof SwapSubjects> = { 'quote': askQuote, 'quote-detail': askQuote };

/** Returns what an answer says beside its terms. */
function statedIn({
  mode, swapMode, slippageBps, inUsdValue, outUsdValue, swapUsdValue, routePlan = [], feeMint, platformFee,
  signatureFeeLamports, prioritizationFeeLamports, rentFeeLamports, gasless, totalTimeMs, requestId, quoteId, maker,
  expireAt,
}: Partial<OrderAnswer>): Partial<QuoteDetail> {
  return {
    mode, swapMode, slippageBps, inUsdValue, outUsdValue, swapUsdValue, feeMint, platformFee, signatureFeeLamports,
    prioritizationFeeLamports, rentFeeLamports, gasless, totalTimeMs, requestId, quoteId, maker, expireAt,
    route: routePlan.map(({ swapInfo, bps: share, usdValue }) => ({
      exchange: swapInfo.label, account: swapInfo.ammKey, bps: share, inputMint: swapInfo.inputMint,
      outputMint: swapInfo.outputMint, inAmount: swapInfo.inAmount, outAmount: swapInfo.outAmount, usdValue,
    })),
  };
}
