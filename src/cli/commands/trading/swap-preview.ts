import { usd } from '../../output/figures.ts';
import { impactText, prices } from '../../output/quote-text.ts';
import { facts } from '../../output/table.ts';
import { movesRealMoney } from '../../../config/live-gate.ts';
import type { RunConfig } from '../../../config/run-config.ts';
import type { Amount, Bps } from '../../../core/amount.ts';
import { afterSlippage, bps, formatDecimal, ZERO } from '../../../core/amount.ts';
import type { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import type { Connections } from '../../../daemon/run/connections.ts';
import type { PreviewRuling } from '../../../daemon/run/preview-ruling.ts';
import { feedKey } from '../../../market/feed.ts';
import type { Quote } from '../../../market/quote.ts';
import { rateOf } from '../../../market/quote.ts';
import type { Token, TokenAmount } from '../../../market/token.ts';
import { formatTokenAmount } from '../../../market/token.ts';
import type { OrderAnswer } from '../../../service/wire/order-answer.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../../../signer/policy/expectation.ts';
import { SOL_DECIMALS } from '../../../solana/constants.ts';
import type { Route } from '../../../trading/proposal.ts';


/** The expected result of a swap, from a current quote. */
export interface SwapPreview {
  readonly spend: TokenAmount;
  readonly to: Token;
  readonly order: OrderAnswer;
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

/** Requests a quote and returns the preview. Nothing is signed. Throws what the service throws. */
export async function previewSwap(
  { config, connections, wallet }: {
    readonly config: RunConfig; readonly connections: Connections; readonly wallet: string | undefined;
  },
  { spend, to, route, slippageBps }: {
    readonly spend: TokenAmount; readonly to: Token; readonly route: Route; readonly slippageBps: number | undefined;
  },
): Promise<SwapPreview> {
  const slippage = (slippageBps ?? config.limits.maxSlippageBps) as Bps;
  const order = await connections.service.swap.order({
    inputMint: spend.token.mint, outputMint: to.mint, amount: spend.amount as Amount, slippageBps: slippage,
    // Only an order for a wallet states the network fees; a transaction composed here has its own.
    ...(wallet === undefined || route === 'build' ? {} : { taker: wallet }),
  }, { priority: 'watch' });
  const balances = wallet === undefined ? undefined : await connections.chain?.balances(wallet);
  return {
    spend, to, order, route, slippageBps: slippage, wallet,
    held: balances === undefined ? undefined : balances.get(spend.token.mint) ?? ZERO,
    least: afterSlippage(order.outAmount, slippage),
    isRealMoney: movesRealMoney(config),
    service: connections.description,
    refusals: refusalsOf(config, order, { spend, slippage }),
  };
}

function refusalsOf(
  { limits: { maxSlippageBps, maxFeeBps, maxPriceImpactBps, maxTrade } }: RunConfig, order: OrderAnswer,
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

/** Returns the price of a preview as the event of a feed. */
export function quoteOf({ order, spend, to }: SwapPreview, at: Millis): Quote {
  const { inAmount, outAmount, threshold, priceImpact, contextSlot, router, feeBps } = order;
  const [inputMint, outputMint] = [spend.token.mint, to.mint];
  return {
    kind: 'quote', receivedAt: at,
    feed: feedKey({ kind: 'quote', inputMint, outputMint, amount: inAmount, everyMs: 0 }),
    inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router,
    feeBps: bps(Math.ceil(feeBps)), rate: rateOf(inAmount, outAmount),
  };
}

/** Returns a preview with the refusals of the limits and of the start of a run, each once. */
export function withRefusals(preview: SwapPreview, { ruling, faults, limits }: {
  readonly ruling: PreviewRuling | undefined;
  readonly faults: readonly GannetError[];
  readonly limits: RunConfig['limits'];
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

/** Returns a preview for `--json`: amounts in smallest units as strings. */
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

/** Returns a preview as text. */
export function previewText(
  { spend, to, order, route, slippageBps, least, isRealMoney, wallet, held, service, refusals }: SwapPreview,
): string {
  const network = networkFee(order);
  const rent = order.rentFeeLamports ?? 0n;
  return facts([
    ['money', isRealMoney ? `REAL MONEY, on ${service}` : `no real money: ${service}`],
    ['wallet', wallet ?? 'unknown'],
    ['balance', held === undefined ? undefined : formatTokenAmount({ token: spend.token, amount: held })],
    ['you pay', `${formatTokenAmount(spend)}  ${usd(order.inUsdValue)}`.trimEnd()],
    [
      'you get',
      `about ${formatTokenAmount({ token: to, amount: order.outAmount })}  ${usd(order.outUsdValue)}`.trimEnd(),
    ],
    ['worst case', `${formatTokenAmount({ token: to, amount: least })}, after ${slippageBps} bps of slippage; the `
      + 'signer signs nothing below it'],
    ['price', prices(order, spend.token, to)],
    ['impact', impactText(order.priceImpact)],
    ['fee', `${order.feeBps} bps of the swap, included in the price`],
    ['network', `${network === undefined ? '' : `${sol(network)} now, `}at most ${sol(USUAL_MAX_FEE_LAMPORTS)}: the `
      + 'signer refuses higher fees'],
    ['deposit', rent === 0n ? undefined : `${sol(rent)} for a token account, returned when it is closed`],
    ['route', route === 'order' ? `order, by ${printable(order.router, 60)}`
      : 'build, composed here and sent through the RPC node'],
    ['refused', refusals.map((refusal) => `!! would be refused: ${refusal}`)],
  ]);
}

/** Returns the network fee for signatures and priority; undefined when the service does not state it. */
function networkFee(
  { signatureFeeLamports: signatures, prioritizationFeeLamports: priority }: OrderAnswer,
): bigint | undefined {
  return signatures === undefined && priority === undefined ? undefined : (signatures ?? 0n) + (priority ?? 0n);
}

function sol(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}
