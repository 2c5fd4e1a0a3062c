import type { Amount, Bps } from '../../core/amount.ts';
import { afterSlippage, bps, ZERO } from '../../core/amount.ts';
import type { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { feedKey } from '../../market/feed.ts';
import type { Quote } from '../../market/quote.ts';
import { rateOf } from '../../market/quote.ts';
import type { Mint, Token, TokenAmount } from '../../market/token.ts';
import { formatTokenAmount } from '../../market/token.ts';
import type { SwapV2 } from '../../service/endpoints/swap-v2.ts';
import type { OrderAnswer } from '../../service/wire/order-answer.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../../signer/policy/expectation.ts';
import type { Denial, RiskLimits } from '../../trading/limits.ts';
import type { Route } from '../../trading/proposal.ts';

/** The answer of the service, as far as a preview shows it. */
type QuotedTerms = Pick<OrderAnswer, 'inAmount' | 'outAmount' | 'threshold' | 'priceImpact' | 'contextSlot'
  | 'router' | 'feeBps' | 'inUsdValue' | 'outUsdValue' | 'signatureFeeLamports' | 'prioritizationFeeLamports'
  | 'rentFeeLamports' | 'buildError'>;

/** The expected result of a swap, from a current quote. */
export interface SwapPreview {
  readonly spend: TokenAmount;
  readonly to: Token;
  readonly order: QuotedTerms;
  readonly route: Route;
  readonly slippageBps: Bps;
  /** The worst case: the signer signs nothing that could give less. */
  readonly least: Amount;
  readonly isRealMoney: boolean;
  /** Undefined when no wallet is configured, or its key cannot be read. */
  readonly wallet: string | undefined;
  /** The wallet's balance of the input token; undefined without a wallet or a chain. */
  readonly held: Amount | undefined;
  readonly service: string;
  /** Why the configured limits would refuse the swap. */
  readonly refusals: readonly string[];
}

/** A swap that a person asks for. */
export interface AskedSwap {
  readonly spend: TokenAmount;
  readonly to: Token;
  readonly route: Route;
  readonly slippageBps: number | undefined;
}

/** Requests a quote and returns the preview. Nothing is signed. Throws what the service throws. */
export async function previewSwap(
  { limits, quotes, description, isRealMoney, wallet, balances }: {
    readonly limits: RiskLimits;
    readonly quotes: Pick<SwapV2, 'order'>;
    /** Of the service, for people. */
    readonly description: string;
    readonly isRealMoney: boolean;
    readonly wallet: string | undefined;
    /** Reads the wallet; undefined without a chain. */
    readonly balances: ((wallet: string) => Promise<ReadonlyMap<Mint, Amount>>) | undefined;
  },
  { spend, to, route, slippageBps }: AskedSwap,
): Promise<SwapPreview> {
  const slippage = (slippageBps ?? limits.maxSlippageBps) as Bps;
  const order = await quotes.order({
    inputMint: spend.token.mint, outputMint: to.mint, amount: spend.amount as Amount, slippageBps: slippage,
    // Only an order for a wallet states the network fees; a transaction composed here has its own.
    ...(wallet === undefined || route === 'build' ? {} : { taker: wallet }),
  }, { priority: 'watch' });
  const held = wallet === undefined ? undefined : await balances?.(wallet);
  return {
    spend, to, order, route, slippageBps: slippage, wallet,
    held: held === undefined ? undefined : held.get(spend.token.mint) ?? ZERO,
    least: afterSlippage(order.outAmount, slippage),
    isRealMoney,
    service: description,
    refusals: refusalsOf(limits, order, { spend, slippage }),
  };
}

function refusalsOf(
  { maxSlippageBps, maxFeeBps, maxPriceImpactBps, maxTrade }: RiskLimits, order: QuotedTerms,
  { spend, slippage }: { readonly spend: TokenAmount; readonly slippage: Bps },
): string[] {
  const impactBps = Math.max(0, -(order.priceImpact ?? 0) * 10_000);
  return [
    ...(slippage > maxSlippageBps
      ? [`${slippage} bps of slippage, at most ${maxSlippageBps} are allowed (risk.max_slippage_bps)`] : []),
    ...(order.feeBps > maxFeeBps
      ? [`a fee of ${order.feeBps} bps, at most ${maxFeeBps} are allowed (risk.max_fee_bps)`] : []),
    ...(impactBps > maxPriceImpactBps
      ? [`a price impact of ${impactBps.toFixed(0)} bps, at most ${maxPriceImpactBps} are allowed `
        + '(risk.max_price_impact_bps)']
      : []),
    ...(maxTrade?.mint === spend.token.mint && spend.amount > maxTrade.amount
      ? [`${formatTokenAmount(spend)}, at most ${formatTokenAmount({ token: spend.token, amount: maxTrade.amount })} `
        + 'are allowed (risk.max_trade)']
      : []),
    ...(order.buildError === undefined ? [] : [`the service: ${printable(order.buildError.message, 200)}`]),
  ];
}

/** Returns the price of a preview as the event of a feed: one feed for all amounts of a pair, so that few are kept. */
export function quoteOf({ order, inputMint, outputMint }: {
  readonly order: QuotedTerms; readonly inputMint: Mint; readonly outputMint: Mint;
}, at: Millis): Quote {
  const { inAmount, outAmount, threshold, priceImpact, contextSlot, router, feeBps } = order;
  return {
    kind: 'quote', receivedAt: at,
    feed: feedKey({ kind: 'quote', inputMint, outputMint, amount: ZERO, everyMs: 0 }),
    inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router,
    feeBps: bps(Math.ceil(feeBps)), rate: rateOf(inAmount, outAmount),
  };
}

/** Returns a preview with the refusals of the limits and of the start of a run, each once. */
export function withRefusals(preview: SwapPreview, { ruling, faults, limits }: {
  readonly ruling: { readonly denial: Denial } | undefined;
  readonly faults: readonly GannetError[];
  readonly limits: RiskLimits;
}): SwapPreview {
  const { refusals, spend } = preview;
  const { code, reason } = ruling?.denial ?? {};
  const isListed = code === undefined || code === 'SLIPPAGE_EXCEEDS_MAX'
    || (code === 'TRADE_EXCEEDS_MAX' && limits.maxTrade?.mint === spend.token.mint);
  return {
    ...preview,
    refusals: [
      ...refusals,
      ...(isListed ? [] : [`${code}, ${reason!}`]),
      ...faults.map((fault) => `${fault.code}, ${fault.message}`),
    ],
  };
}

/** Returns a preview as plain data: amounts in smallest units as strings. */
export function previewJson(
  { spend, to, order, route, slippageBps, least, isRealMoney, wallet, held, refusals }: SwapPreview,
): Readonly<Record<string, unknown>> {
  return {
    real_money: isRealMoney, wallet: wallet ?? null, held: held ?? null, route,
    input_mint: spend.token.mint, output_mint: to.mint, amount_in: spend.amount, quoted_out: order.outAmount,
    minimum_out: least,
    slippage_bps: slippageBps, price_impact: order.priceImpact ?? null, fee_bps: order.feeBps, router: order.router,
    network_fee_lamports: networkFee(order) ?? null, network_fee_max_lamports: USUAL_MAX_FEE_LAMPORTS,
    rent_lamports: order.rentFeeLamports ?? null, would_be_refused: refusals,
  };
}

/** Returns the network fee for signatures and priority; undefined when the service does not state it. */
export function networkFee(
  { signatureFeeLamports: signatures, prioritizationFeeLamports: priority }: QuotedTerms,
): bigint | undefined {
  return signatures === undefined && priority === undefined ? undefined : (signatures ?? 0n) + (priority ?? 0n);
}
