import type { RunConfig } from '../config/run-config.ts';
import { movesRealMoney } from '../config/live-gate.ts';
import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage, bps, formatDecimal, ZERO } from '../core/amount.ts';
import type { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { BeforehandRuling } from '../daemon/rule-beforehand.ts';
import type { World } from '../daemon/world.ts';
import { feedKey } from '../market/feed.ts';
import type { Quote } from '../market/quote.ts';
import { rateOf } from '../market/quote.ts';
import type { Token, TokenAmount } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';
import type { OrderAnswer } from '../service/wire/swap-order.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../signer/policy/expectation.ts';
import type { Route } from '../trading/proposal.ts';
import { usd } from './figures.ts';
import { impactText, prices } from './quote.ts';
import { facts } from './table.ts';

const SOL_DECIMALS = 9;

/** What a swap would come to, by a quote of now. */
export interface SwapPreview {
  readonly spend: TokenAmount;
  readonly to: Token;
  readonly order: OrderAnswer;
  readonly route: Route;
  readonly slippageBps: Bps;
  /** The worst case: nothing is signed that could give less. */
  readonly least: Amount;
  readonly isRealMoney: boolean;
  /** Undefined where none is configured, or its key cannot be read. */
  readonly wallet: string | undefined;
  /** What the wallet has of what is paid; undefined without a wallet or a chain. */
  readonly held: Amount | undefined;
  readonly service: string;
  /** What the configured limits would refuse, for people. */
  readonly refusals: readonly string[];
}

/** Asks for a quote and returns what the swap would come to. Nothing is signed. Throws what the service throws. */
export async function previewSwap(
  { config, world, wallet }: { readonly config: RunConfig; readonly world: World; readonly wallet: string | undefined },
  { spend, to, route, slippageBps }: { readonly spend: TokenAmount; readonly to: Token; readonly route: Route; readonly slippageBps: number | undefined },
): Promise<SwapPreview> {
  const slippage = (slippageBps ?? config.limits.maxSlippageBps) as Bps;
  const order = await world.service.swap.order({
    inputMint: spend.token.mint, outputMint: to.mint, amount: spend.amount as Amount, slippageBps: slippage,
    // Only an order for a wallet says what the network takes; a transaction that is composed here has fees of its own.
    ...(wallet === undefined || route === 'build' ? {} : { taker: wallet }),
  }, { priority: 'watch' });
  const balances = wallet === undefined ? undefined : await world.chain?.balances(wallet);
  return {
    spend, to, order, route, slippageBps: slippage, wallet,
    held: balances === undefined ? undefined : balances.get(spend.token.mint) ?? ZERO,
    least: afterSlippage(order.outAmount, slippage),
    isRealMoney: movesRealMoney(config),
    service: world.description,
    refusals: refusalsOf(config, order, { spend, slippage }),
  };
}

function refusalsOf(
  { limits: { maxSlippageBps, maxFeeBps, maxPriceImpactBps, maxTrade } }: RunConfig, order: OrderAnswer,
  { spend, slippage }: { readonly spend: TokenAmount; readonly slippage: Bps },
): string[] {
  const impactBps = Math.max(0, -(order.priceImpact ?? 0) * 10_000);
  return [
    ...(slippage > maxSlippageBps ? [`${slippage} bps of slippage, allowed are ${maxSlippageBps} (risk.max_slippage_bps)`] : []),
    ...(order.feeBps > maxFeeBps ? [`a fee of ${order.feeBps} bps, allowed are ${maxFeeBps} (risk.max_fee_bps)`] : []),
    ...(impactBps > maxPriceImpactBps ? [`a price impact of ${impactBps.toFixed(0)} bps, allowed are ${maxPriceImpactBps} (risk.max_price_impact_bps)`] : []),
    ...(maxTrade?.mint === spend.token.mint && spend.amount > maxTrade.amount
      ? [`${formatTokenAmount(spend)}, allowed are ${formatTokenAmount({ token: spend.token, amount: maxTrade.amount })} (risk.max_trade)`] : []),
    ...(order.buildError === undefined ? [] : [`the service: ${printable(order.buildError.message, 200)}`]),
  ];
}

/** Returns the price of a preview as a feed would bring it. */
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

/** Returns a preview that also says what the limits or the start of a run would refuse; nothing is said twice. */
export function withRefusals(preview: SwapPreview, { ruling, faults, limits }: {
  readonly ruling: BeforehandRuling | undefined;
  readonly faults: readonly GannetError[];
  readonly limits: RunConfig['limits'];
}): SwapPreview {
  const { refusals, spend } = preview;
  const { code, reason } = ruling?.denial ?? {};
  const isSaid = code === undefined || code === 'SLIPPAGE_EXCEEDS_MAX'
    || (code === 'TRADE_EXCEEDS_MAX' && limits.maxTrade?.mint === spend.token.mint);
  return {
    ...preview,
    refusals: [
      ...refusals,
      ...(isSaid ? [] : [`${code}, ${reason!}`]),
      ...faults.map((fault) => `${fault.code}, ${fault.message}`),
    ],
  };
}

/** Returns a preview as JSON: amounts in smallest units as text. */
export function previewJson(
  { spend, to, order, route, slippageBps, least, isRealMoney, wallet, held, refusals }: SwapPreview,
): Readonly<Record<string, unknown>> {
  return {
    real_money: isRealMoney, wallet: wallet ?? null, held: held ?? null, route,
    input_mint: spend.token.mint, output_mint: to.mint, amount_in: spend.amount, quoted_out: order.outAmount, minimum_out: least,
    slippage_bps: slippageBps, price_impact: order.priceImpact ?? null, fee_bps: order.feeBps, router: order.router,
    network_fee_lamports: networkFee(order) ?? null, network_fee_max_lamports: USUAL_MAX_FEE_LAMPORTS,
    rent_lamports: order.rentFeeLamports ?? null, would_be_refused: refusals,
  };
}

/** Returns a preview for people. */
export function previewText(
  { spend, to, order, route, slippageBps, least, isRealMoney, wallet, held, service, refusals }: SwapPreview,
): string {
  const network = networkFee(order);
  const rent = order.rentFeeLamports ?? 0n;
  return facts([
    ['money', isRealMoney ? `REAL MONEY, on ${service}` : `no real money: ${service}`],
    ['wallet', wallet ?? 'none is known'],
    ['it has', held === undefined ? undefined : formatTokenAmount({ token: spend.token, amount: held })],
    ['you pay', `${formatTokenAmount(spend)}  ${usd(order.inUsdValue)}`.trimEnd()],
    ['you get', `about ${formatTokenAmount({ token: to, amount: order.outAmount })}  ${usd(order.outUsdValue)}`.trimEnd()],
    ['worst case', `${formatTokenAmount({ token: to, amount: least })}, after ${slippageBps} bps of slippage; nothing is signed that could give less`],
    ['price', prices(order, spend.token, to)],
    ['impact', impactText(order.priceImpact)],
    ['fee', `${order.feeBps} bps of the swap, in the price already`],
    ['network', `${network === undefined ? '' : `${sol(network)} now, `}at most ${sol(USUAL_MAX_FEE_LAMPORTS)}: the signer signs no higher fee`],
    ['deposit', rent === 0n ? undefined : `${sol(rent)} for a token account, which comes back when it is closed`],
    ['route', route === 'order' ? `order, by ${printable(order.router, 60)}` : 'build, composed here and sent through the RPC'],
    ['refused', refusals.map((refusal) => `!! it would be refused: ${refusal}`)],
  ]);
}

/** What the network takes for signatures and priority; undefined where the service does not say. */
function networkFee({ signatureFeeLamports: signatures, prioritizationFeeLamports: priority }: OrderAnswer): bigint | undefined {
  return signatures === undefined && priority === undefined ? undefined : (signatures ?? 0n) + (priority ?? 0n);
}

function sol(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}
