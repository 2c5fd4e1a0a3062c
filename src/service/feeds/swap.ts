import { bps } from '../../core/amount.ts';
import { feedKey } from '../../market/feed.ts';
import type { SwapSubjects } from '../../market/feeds/swap.ts';
import { rateOf } from '../../market/quote.ts';
import { malformed } from '../wire/read.ts';
import type { FeedRequests } from './feed-request.ts';
import { eachAlone } from './feed-request.ts';

/** The requests of the feeds of the swap API. */
export const SWAP_REQUESTS: FeedRequests<keyof SwapSubjects> = {
  'quote': eachAlone(async (spec, { swap }, call) => {
    const order =
      await swap.order({ inputMint: spec.inputMint, outputMint: spec.outputMint, amount: spec.amount }, call);
    const { inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router } = order;
    if (inputMint !== spec.inputMint || outputMint !== spec.outputMint || inAmount !== spec.amount) {
      throw malformed(`expected a quote for ${feedKey(spec)}`, `one for quote:${inputMint}:${outputMint}:${inAmount}`);
    }
    return {
      inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router,
      feeBps: bps(Math.ceil(order.feeBps)), rate: rateOf(inAmount, outAmount),
    };
  }),
};
