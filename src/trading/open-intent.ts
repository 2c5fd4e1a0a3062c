import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import { outputAt } from '../market/quote.ts';
import type { Intent } from './intent.ts';
import type { SwapProposal } from './proposal.ts';
import { intentKey } from './recent-keys.ts';
import type { SwapWish } from './risk/swap-wish.ts';
import type { EngineState } from './state.ts';
import { readingAge } from './valuation.ts';

/** An exit is held to a reading of ours so long, where the configuration says nothing of the age of quotes. */
const READING_BINDS_EXITS_MS = 300_000;

/** Opens the intent of an approved proposal. It counts as exposure before the next proposal is looked at. */
export function openIntent(
  state: EngineState, proposal: SwapProposal, { strategy, amountIn, isExit, at }: SwapWish,
): Intent {
  strategy.intentCount += 1;
  const intent: Intent = {
    id: `${strategy.name}-${strategy.intentCount}`,
    strategy: strategy.name,
    createdAt: at,
    purpose: isExit ? 'exit' : 'entry',
    inputMint: proposal.inputMint,
    outputMint: proposal.outputMint,
    amountIn,
    maxSlippageBps: proposal.slippageBps ?? state.limits.maxSlippageBps,
    maxPriceImpactBps: state.limits.maxPriceImpactBps,
    maxFeeBps: state.limits.maxFeeBps,
    minimumOut: leastOutput(state, proposal, { amountIn, isExit, at }),
    route: proposal.route ?? 'order',
    reason: proposal.reason,
    key: proposal.key,
  };
  state.intents.add({ intent, state: 'approved' });
  state.portfolio.reserve(intent);
  if (proposal.key !== undefined) state.keys.add(intentKey(strategy.name, proposal.key));
  state.swapRate.add(at);
  if (isExit && !state.flattening.has(strategy.name)) state.exitProposals.set(intent.id, proposal);
  return intent;
}

/**
 * The strategy's own limit, but not below what our last reading of the market says less the slippage and the impact
 * that are allowed: whoever answers for the swap must not be the only one who says what it is worth. An exit is not
 * held to a reading that no limit would be held against any more: where its feed is dead, nobody could leave a falling
 * market.
 */
function leastOutput(state: EngineState, { inputMint, outputMint, limit }: SwapProposal, {
  amountIn, isExit, at,
}: Pick<SwapWish, 'amountIn' | 'isExit' | 'at'>): Amount | undefined {
  const reading = state.market.latestQuote(inputMint, outputMint);
  if (reading === undefined || reading.inAmount === 0n) return limit;
  if (isExit && !(readingAge(reading, at) <= (state.limits.maxQuoteAgeMs ?? READING_BINDS_EXITS_MS))) return limit;
  const tolerance = Math.min(10_000, state.limits.maxSlippageBps + state.limits.maxPriceImpactBps) as Bps;
  const floor = afterSlippage(outputAt(reading, amountIn), tolerance);
  return limit !== undefined && limit > floor ? limit : floor;
}
