import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from './context.ts';
import { unsignedTransaction } from './message.ts';
import { quoteOrder, type OrderQuote } from './order-quote.ts';
import { parseOrderRequest, type OrderRequest } from './order-request.ts';
import { orderTransaction, type OrderTransaction } from './order-transaction.ts';
import { priceImpact, routePlan, usdValue, type RoutePlanEntry } from './quoting.ts';
import { RequestError } from './request-error.ts';

/** Serves `GET /swap/v2/order`: a quote and, for a taker, a transaction to sign. */
export function registerOrder(app: FastifyInstance, context: ServiceContext): void {
  app.get('/swap/v2/order', (request, reply) => {
    const requestId = context.nextId();
    try {
      return reply.send(answerOrder(context, { requestId, query: request.query }));
    } catch (error) {
      // Refusals of this endpoint carry the id that the service logs them under.
      if (error instanceof RequestError) throw new RequestError(error.statusCode, { requestId, ...error.body });
      throw error;
    }
  });
}

function answerOrder(context: ServiceContext, { requestId, query }: { requestId: string; query: unknown }): object {
  const startedMs = context.stopwatchMs();
  const request = parseOrderRequest(query);
  const quote = quoteOrder(context, request);
  const { taker } = request;
  const built = taker === undefined ? undefined : orderTransaction(context, { ...request, taker }, quote);
  const prices = pricesOf(context, request, quote);
  if (built?.kind === 'built') remember(context, { requestId, request, quote, built, inUsd: prices.inUsdValue });
  return {
    mode: request.mode,
    inputMint: request.inputMint,
    outputMint: request.outputMint,
    inAmount: request.amount.toString(),
    ...prices,
    swapMode: 'ExactIn',
    ...(request.referral === undefined ? {} : { referralAccount: request.referral.account }),
    ...costsOf(built),
    swapType: quote.router === 'iris' ? 'aggregator' : 'rfq',
    router: quote.router,
    ...transactionOf(built),
    gasless: built !== undefined ? built.costs.payer !== taker : quote.router === 'rfqz',
    requestId,
    taker: taker ?? null,
    ...firmOf(quote),
    contextSlot: context.chain.slot,
    totalTime: Number((context.stopwatchMs() - startedMs).toFixed(3)),
  };
}

interface Prices {
  readonly outAmount: string;
  readonly inUsdValue: number;
  readonly outUsdValue: number;
  readonly swapUsdValue: number;
  readonly priceImpact: number;
  readonly priceImpactPct: string;
  readonly otherAmountThreshold: string;
  readonly slippageBps: number;
  readonly routePlan: readonly RoutePlanEntry[];
  readonly feeMint: string;
  readonly feeBps: number;
  readonly platformFee: { readonly amount: string; readonly feeBps: number; readonly feeMint: string };
}

function pricesOf(context: ServiceContext, request: OrderRequest, quote: OrderQuote): Prices {
  const { market, tokens } = context;
  const { input, output } = quote;
  const pooled = quote.router === 'iris' ? quote.priced : undefined;
  const outAmount = quote.router === 'iris' ? quote.priced.outAmount : quote.firm.outAmount;
  const inUsd = usdValue({ market, token: input, amount: request.amount });
  const outUsd = usdValue({ market, token: output, amount: outAmount });
  const impact = priceImpact({ inUsd, outUsd });
  const feeBps = pooled?.feeBps ?? 0;
  return {
    outAmount: outAmount.toString(),
    inUsdValue: inUsd,
    outUsdValue: outUsd,
    swapUsdValue: inUsd,
    priceImpact: impact,
    priceImpactPct: impact.toString(),
    // A maker's price is firm: no slippage, and the least is all of it.
    otherAmountThreshold: (pooled?.threshold ?? outAmount).toString(),
    slippageBps: pooled?.slippageBps ?? 0,
    routePlan: quote.router === 'iris' ? routePlan({ route: quote.priced.route, market, tokens }) : [{
      swapInfo: {
        ammKey: quote.firm.maker, label: 'rfqz', inputMint: input.mint, outputMint: output.mint,
        inAmount: request.amount.toString(), outAmount: outAmount.toString(),
      },
      percent: 100,
      bps: 10_000,
      usdValue: inUsd,
    }],
    feeMint: output.mint,
    feeBps,
    platformFee: { amount: (pooled?.feeAmount ?? 0n).toString(), feeBps, feeMint: output.mint },
  };
}

function costsOf(built: OrderTransaction | undefined): object {
  const payer = built?.costs.payer ?? null;
  return {
    signatureFeeLamports: Number(built?.costs.signatureLamports ?? 0n),
    signatureFeePayer: payer,
    prioritizationFeeLamports: Number(built?.costs.prioritizationLamports ?? 0n),
    prioritizationFeePayer: payer,
    rentFeeLamports: Number(built?.costs.rentLamports ?? 0n),
    rentFeePayer: payer,
  };
}

function transactionOf(built: OrderTransaction | undefined): object {
  if (built === undefined) return { transaction: null };
  if (built.kind === 'refused') return { transaction: '', errorCode: built.code, errorMessage: built.message, error: built.message };
  return {
    transaction: unsignedTransaction(built.message).toString('base64'),
    lastValidBlockHeight: built.lastValidBlockHeight.toString(),
  };
}

function firmOf(quote: OrderQuote): object {
  if (quote.router === 'iris') return {};
  const { quoteId, maker, expireAtUnixSeconds } = quote.firm;
  return { quoteId, maker, expireAt: expireAtUnixSeconds.toString() };
}

function remember(context: ServiceContext, order: {
  requestId: string; request: OrderRequest; quote: OrderQuote; built: Extract<OrderTransaction, { kind: 'built' }>; inUsd: number;
}): void {
  const { request, quote, built } = order;
  const hops = quote.router === 'iris' ? quote.priced.route.hops : [];
  context.orders.add({
    requestId: order.requestId,
    router: quote.router,
    message: built.message.bytes,
    signers: built.message.signers,
    inputMint: request.inputMint,
    outputMint: request.outputMint,
    inAmount: request.amount,
    inUsd: order.inUsd,
    lastValidBlockHeight: built.lastValidBlockHeight,
    path: hops,
    feeBps: quote.router === 'iris' ? quote.priced.feeBps : 0,
    ...(quote.router === 'rfqz' ? { makerOutAmount: quote.firm.outAmount, expireAtUnixSeconds: quote.firm.expireAtUnixSeconds } : {}),
  });
}
