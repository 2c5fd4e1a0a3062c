import { associatedTokenAddress } from '../../chain/addresses.ts';
import { platformFee } from '../../chain/swap-math.ts';
import type { GenesisToken } from '../../genesis.ts';
import type { ReadPool } from '../../market/pool-price.ts';
import { readingOnce } from '../../market/pool-price.ts';
import type { ServiceContext } from '../context.ts';
import { badRequest } from '../http/request-error.ts';
import { automaticSlippageBps } from '../routing/network-fees.ts';
import type { FeeSide } from '../routing/platform-fee.ts';
import { feeSides, platformFeeBps } from '../routing/platform-fee.ts';
import type { PricedRoute } from '../routing/quoting.ts';
import { priceRoute, routedAmount, usdValue } from '../routing/quoting.ts';
import type { PoolRouter, PoolRouterName } from '../routing/routing.ts';
import { routeAlong } from '../routing/routing.ts';
import type { GaslessTerms } from './gasless.ts';
import { gaslessTerms, mayBeGasless } from './gasless.ts';
import type { MakerQuote } from './maker.ts';
import type { OrderRequest } from './order-request.ts';
import { isForeignPayer, untradable } from './order-request.ts';

interface QuoteBase {
  readonly input: GenesisToken;
  readonly output: GenesisToken;
  readonly inUsd: number;
  /** The output of the taker or the receiver. */
  readonly outAmount: bigint;
  /** The platform's or the referrer's part of the fee. */
  readonly platformBps: number;
}

/** A quote of a router that trades with pools. */
export interface PooledQuote extends QuoteBase {
  readonly router: PoolRouterName;
  readonly priced: PricedRoute;
  /** The account that collects the fee. */
  readonly feeAccount: string;
  /** The costs of gas paid by the service; absent where the taker or another payer pays it. */
  readonly gasless: GaslessTerms | undefined;
}

/** A quote of the maker. */
export interface FirmQuote extends QuoteBase {
  readonly router: 'rfqz';
  readonly firm: MakerQuote;
  /** A referrer's share of the maker's payment. */
  readonly feeAmount: bigint;
  readonly feeAccount: string | undefined;
}

/** The quote that won an order. */
export type OrderQuote = PooledQuote | FirmQuote;

interface Question {
  readonly request: OrderRequest;
  readonly input: GenesisToken;
  readonly output: GenesisToken;
  readonly inUsd: number;
  readonly collector: FeeCollector;
}

/** Returns the best of the routers' and the maker's quotes. Throws a RequestError (400) when there is no quote. */
export function quoteOrder(context: ServiceContext, request: OrderRequest): OrderQuote {
  const input = context.tokens.get(request.inputMint);
  const output = context.tokens.get(request.outputMint);
  if (input === undefined || output === undefined) throw untradable(context.profile);
  const inUsd = usdValue({ market: context.market, token: input, amount: request.amount });
  const question: Question =
    { request, input, output, inUsd, collector: feeCollector(context, request, { input, output }) };
  const readPool = readingOnce(context.chain.readPool);
  let best: OrderQuote | undefined;
  for (const competitor of context.routers.all) {
    const quote = mayRoute(context, request, competitor.name)
      ? quotePools(context, question, { competitor, readPool }) : undefined;
    if (quote !== undefined && (best === undefined || quote.outAmount > best.outAmount)) best = quote;
  }
  const firm = quoteMaker(context, question);
  if (firm !== undefined && (best === undefined || firm.outAmount > best.outAmount)) best = firm;
  if (best === undefined) throw badRequest('Failed to get quotes');
  return best;
}

/** Where another account pays, the live service asks its first router alone. */
function mayRoute({ profile }: ServiceContext, request: OrderRequest, name: PoolRouterName): boolean {
  if (request.excludedRouters.has(name)) return false;
  return name === 'iris' || profile === 'reference' || !isForeignPayer(request);
}

function quotePools(
  context: ServiceContext, question: Question, { competitor, readPool }: { competitor: PoolRouter; readPool: ReadPool },
): PooledQuote | undefined {
  const { request, input, output, inUsd, collector } = question;
  const platformBps = request.referral?.feeBps ?? competitor.flatFeeBps
    ?? platformFeeBps(input, output, context.nowMs());
  const slippageBps = request.slippageBps ?? automaticSlippageBps(input, output);
  const { excludedLabels } = request;
  // The labels are this router's names of its markets; the other routers have their own and ignore them.
  const isPicky = competitor.name === 'iris' && excludedLabels.size > 0;
  const fee = { side: collector.side, bps: platformBps };
  const route = competitor.router.bestRoute({
    inputMint: input.mint,
    outputMint: output.mint,
    amount: routedAmount({ amount: request.amount, fee }),
    accepts: isPicky ? (path) => path.every(({ pool }) => !excludedLabels.has(pool.label)) : undefined,
    readPool,
  });
  if (route === undefined) return undefined;
  const { taker } = request;
  const gasless = taker !== undefined && mayBeGasless(context, request)
    ? gaslessTerms(context, { ...request, taker }, { output, route, inUsd }) : undefined;
  const whole = { side: collector.side, bps: platformBps + (gasless?.recoupBps ?? 0) };
  const charged = whole.bps === fee.bps ? route
    : routeAlong({ path: route.hops, amount: routedAmount({ amount: request.amount, fee: whole }), readPool });
  if (charged === undefined) return undefined;
  const priced = priceRoute({
    route: charged, amount: request.amount, fee: whole, slippageBps, roundsUp: context.traits.roundsUp.order,
  });
  if (priced.outAmount === 0n) return undefined;
  return {
    router: competitor.name, input, output, inUsd, outAmount: priced.outAmount, platformBps, priced,
    feeAccount: collector.account, gasless,
  };
}

function quoteMaker(
  context: ServiceContext, { request, input, output, inUsd, collector }: Question,
): FirmQuote | undefined {
  if (!makerMayQuote(context, request) || (request.referral !== undefined && collector.outputAccount === undefined))
    return undefined;
  const firm = context.maker.quote({ input, output, amount: request.amount });
  if (firm === undefined) return undefined;
  const platformBps = request.referral?.feeBps ?? 0;
  const feeAmount = platformFee(firm.outAmount, platformBps);
  return {
    router: 'rfqz', input, output, inUsd, outAmount: firm.outAmount - feeAmount, platformBps, firm, feeAmount,
    feeAccount: request.referral === undefined ? undefined : collector.outputAccount,
  };
}

/**
 * By its description the maker signs plain two-party swaps only; live, it refuses only another payer. It does not trade
 * with itself. It pays for priority itself, so it takes no order with a taker's bid for priority.
 */
function makerMayQuote({ profile, maker }: ServiceContext, request: OrderRequest): boolean {
  if (request.excludedRouters.has('rfqz') || request.taker === maker.key.address || isForeignPayer(request))
    return false;
  if (request.bundleTipLamports !== undefined || request.priorityFeeLamports !== undefined) return false;
  return profile === 'live' || (request.receiver === undefined && request.referral === undefined);
}

/** The collector of an order's fee, and its token. */
interface FeeCollector {
  readonly side: FeeSide;
  readonly account: string;
  /** The account for a fee in the output token, if there is one: a maker pays only such fees. */
  readonly outputAccount: string | undefined;
}

/**
 * Returns the collector of an order's fee: the referrer, in the preferred token among those with an account. Without a
 * referrer, or an account for either token, the platform collects the fee.
 */
function feeCollector(
  context: ServiceContext, request: OrderRequest, pair: { input: GenesisToken; output: GenesisToken },
): FeeCollector {
  const referrer = request.referral?.account;
  const accountOf = (owner: string, side: FeeSide): string =>
    associatedTokenAddress(owner, pair[side].mint, pair[side].tokenProgram);
  const preferred = feeSides(pair.input, pair.output);
  const own = referrer === undefined ? []
    : preferred.filter((side) => context.chain.accountExists(accountOf(referrer, side)));
  const [owner, sides] = referrer !== undefined && own.length > 0 ? [referrer, own] : [context.feeOwner, preferred];
  return {
    side: sides[0],
    account: accountOf(owner, sides[0]),
    outputAccount: sides.includes('output') ? accountOf(owner, 'output') : undefined,
  };
}
