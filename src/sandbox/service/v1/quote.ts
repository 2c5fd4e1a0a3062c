import type { FastifyInstance } from 'fastify';
import { GENESIS_MARKETS } from '../../genesis.ts';
import type { ServiceContext } from '../context.ts';
import { decimalText, priceImpact, usdValue } from '../routing/quoting.ts';
import { routeAlong } from '../routing/routing.ts';
import type { QuoteRequest } from './quote-request.ts';
import { parseQuoteRequest } from './quote-request.ts';
import { quoteRoute } from './quote-route.ts';
import type { QuotedRoute } from './quoted-route.ts';

/** Serves `GET /swap/v1/quote`: a quote, from which `/swap` makes a transaction. */
export function registerV1Quote(app: FastifyInstance, context: ServiceContext): void {
  app.get('/swap/v1/quote', (request, reply) => {
    const startedMs = context.stopwatchMs();
    const quoted = quoteRoute(context, parseQuoteRequest(request.query));
    const answer = quoteAnswer(context, quoted, startedMs);
    context.quotes.remember(answer, quoted);
    return reply.send(answer);
  });
}

function quoteAnswer(context: ServiceContext, quoted: QuotedRoute, startedMs: number): object {
  const { request, input, output, inAmount, outAmount, threshold, feeAmount } = quoted;
  const { chain, profile } = context;
  const isLive = profile === 'live';
  const fee = request.platformFeeBps === undefined ? undefined
    : { amount: feeAmount.toString(), feeBps: request.platformFeeBps };
  return {
    inputMint: input.mint,
    inAmount: inAmount.toString(),
    outputMint: output.mint,
    outAmount: outAmount.toString(),
    otherAmountThreshold: threshold.toString(),
    swapMode: request.swapMode,
    slippageBps: request.slippageBps,
    ...(fee === undefined ? (isLive ? { platformFee: null } : {}) : { platformFee: fee }),
    priceImpactPct: impactOf(context, quoted),
    routePlan: routePlan(quoted, isLive),
    contextSlot: chain.slotAt('processed'),
    timeTaken: Number(((context.stopwatchMs() - startedMs) / 1_000).toFixed(9)),
    ...(isLive ? { updateContextSlot: chain.slotAt('processed') }
      : { mostReliableAmmsQuoteReport: directOutputs(context, quoted) }),
  };
}

/** Here a price impact has no sign: it is the lost share. */
function impactOf({ market }: ServiceContext, { input, output, inAmount, outAmount }: QuotedRoute): string {
  const inUsd = usdValue({ market, token: input, amount: inAmount });
  const impact = priceImpact({ inUsd, outUsd: usdValue({ market, token: output, amount: outAmount }) });
  return decimalText(Math.max(0, -impact));
}

function routePlan({ request, route }: QuotedRoute, isLive: boolean): object[] {
  return route.hops.map(({ pool, inputMint, outputMint, inAmount, outAmount }) => ({
    swapInfo: {
      ammKey: pool.address, label: pool.label, inputMint, outputMint, inAmount: inAmount.toString(),
      outAmount: outAmount.toString(),
      // The output already includes the market's fee; these members are obsolete.
      ...(isLive ? {} : { feeAmount: '0', feeMint: inputMint }),
    },
    ...shares(request, isLive),
  }));
}

/**
 * The share of the route, which is the whole amount: in percent for instructions of the first version, else in basis
 * points.
 */
function shares({ instructionVersion }: QuoteRequest, isLive: boolean): object {
  if (instructionVersion === 'V2') return { percent: null, bps: 10_000 };
  return isLive ? { percent: 100, bps: null } : { percent: 100 };
}

/** Returns the output of each direct market of the pair for the whole input. */
function directOutputs(
  { chain, routers }: ServiceContext, { input, output, inAmount }: QuotedRoute,
): Record<string, string> {
  const direct =
    routers.iris.paths({ inputMint: input.mint, outputMint: output.mint, accepts: (path) => path.length === 1 });
  return Object.fromEntries(direct.flatMap((path) => {
    const route = routeAlong({ path, amount: inAmount, readPool: chain.readPool });
    return route === undefined ? [] : [[path[0]!.pool.address, route.outAmount.toString()]];
  }));
}

/**
 * Serves `GET /swap/v1/program-id-to-label`: the markets that `dexes` and `excludeDexes` can name, by their programs.
 */
export function registerV1Labels(app: FastifyInstance): void {
  const labels = Object.fromEntries(GENESIS_MARKETS.flatMap(({ label, programIds }) =>
    programIds.map((programId) => [programId, label])));
  app.get('/swap/v1/program-id-to-label', (_request, reply) => reply.send(labels));
}
