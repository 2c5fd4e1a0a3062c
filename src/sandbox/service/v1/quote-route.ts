import { mulDiv, U64_MAX } from '../../../core/amount.ts';
import { beforePlatformFee, platformFee } from '../../chain/swap-math.ts';
import type { GenesisMarket, GenesisToken } from '../../genesis.ts';
import { GENESIS_MARKETS } from '../../genesis.ts';
import type { ServiceContext } from '../context.ts';
import { priceClass } from '../routing/platform-fee.ts';
import type { RoutePath } from '../routing/routing.ts';
import { arriving, keepsLimits } from '../routing/routing.ts';
import type { QuoteRequest } from './quote-request.ts';
import { routingError } from './quote-request.ts';
import type { QuotedRoute } from './quoted-route.ts';

const WHOLE_BPS = 10_000n;

/** Returns the best route for a request. Throws a RequestError (400) with a routing code where there is none. */
export function quoteRoute(context: ServiceContext, request: QuoteRequest): QuotedRoute {
  const input = tradable(context, request.inputMint);
  const output = tradable(context, request.outputMint);
  const accepts = (path: RoutePath): boolean => suits(context, request, path);
  const { iris } = context.routers;
  const pair = { inputMint: input.mint, outputMint: output.mint, accepts };
  if (iris.paths(pair).length === 0) throw routingError('NO_ROUTES_FOUND', 'No routes found');
  const feeBps = request.platformFeeBps ?? 0;
  if (request.swapMode === 'ExactIn') {
    const route = iris.bestRoute({ ...pair, amount: request.amount });
    const feeAmount = platformFee(route?.outAmount ?? 0n, feeBps);
    if (route === undefined || route.outAmount === feeAmount) throw unfillable();
    const outAmount = arriving(route, route.outAmount - feeAmount);
    return {
      request, input, output, route, inAmount: request.amount, outAmount, feeAmount,
      threshold: thresholdOf(request, outAmount),
    };
  }
  const routeOut = beforePlatformFee(request.amount, feeBps) ?? U64_MAX;
  const route = iris.cheapestRoute({ ...pair, outAmount: routeOut });
  if (route === undefined) throw unfillable();
  return {
    request, input, output, route, inAmount: route.inAmount, outAmount: request.amount,
    feeAmount: platformFee(routeOut, feeBps),
    threshold: thresholdOf(request, route.inAmount),
  };
}

/**
 * Returns the other amount after the slippage tolerance, rounded up: of the output with ExactIn, on top of the input
 * with ExactOut. Throws a RequestError (400) where it leaves u64.
 */
export function thresholdOf(
  { swapMode, slippageBps }: Pick<QuoteRequest, 'swapMode' | 'slippageBps'>, amount: bigint,
): bigint {
  const share = swapMode === 'ExactIn' ? WHOLE_BPS - BigInt(slippageBps) : WHOLE_BPS + BigInt(slippageBps);
  // More than all of the output may be lost: any output will do.
  const threshold = share < 0n ? 0n : mulDiv(amount, share, WHOLE_BPS, 'ceil');
  if (threshold > U64_MAX) {
    throw routingError(
      'CANNOT_COMPUTE_OTHER_AMOUNT_THRESHOLD',
      `Cannot compute the other amount's threshold at ${slippageBps} basis points of slippage`,
    );
  }
  return threshold;
}

/** Returns the market that a pool belongs to. */
export function marketOf(label: string): GenesisMarket {
  return GENESIS_MARKETS.find((market) => market.label === label)!;
}

function tradable({ tokens }: ServiceContext, mint: string): GenesisToken {
  const token = tokens.get(mint);
  if (token === undefined) throw routingError('TOKEN_NOT_TRADABLE', `The token ${mint} is not tradable`);
  return token;
}

function suits({ tokens }: ServiceContext, request: QuoteRequest, path: RoutePath): boolean {
  if (!keepsLimits(path, request.limits) || (request.onlyDirectRoutes && path.length > 1)) return false;
  const markets = path.map(({ pool }) => marketOf(pool.label));
  if (request.swapMode === 'ExactOut' && !markets.every(({ exactOut }) => exactOut)) return false;
  if (request.forBundle && !markets.every(({ bundles }) => bundles)) return false;
  return !request.restrictIntermediateTokens
    || path.slice(1).every(({ inputMint }) => priceClass(tokens.get(inputMint)!) !== 'other');
}

function unfillable(): Error {
  return routingError('COULD_NOT_FIND_ANY_ROUTE', 'Could not find any route for this amount');
}
