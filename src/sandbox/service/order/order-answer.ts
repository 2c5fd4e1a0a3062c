import { platformFee } from '../../chain/swap-math.ts';
import { exactNumber } from '../../json-text.ts';
import { unsignedTransaction } from '../../chain/message.ts';
import type { ServiceContext } from '../context.ts';
import { decimalText, priceImpact, routePlan, usdValue } from '../routing/quoting.ts';
import type { RouterName } from '../routing/routing.ts';
import type { FirmQuote, OrderQuote, PooledQuote } from './order-quote.ts';
import type { OrderRequest } from './order-request.ts';
import type { OrderTransaction } from './order-transaction.ts';

interface AnsweredOrder {
  readonly requestId: string;
  readonly request: OrderRequest;
  readonly quote: OrderQuote;
  /** Undefined without a taker. */
  readonly built: OrderTransaction | undefined;
}

/** The older names of the routers, which say how a swap is filled. */
const SWAP_TYPES: Readonly<Record<RouterName, string>> =
  { iris: 'aggregator', rfqz: 'rfq', routerA: 'routerA', routerB: 'routerB' };

/**
 * Returns the answer of `/order`. The description and the live service differ in the unit of a price impact, and in the
 * members of a quote without a taker.
 */
export function orderAnswer(context: ServiceContext, order: AnsweredOrder): object {
  const { request, quote, built, requestId } = order;
  const { taker, referral } = request;
  const isLive = context.profile === 'live';
  return {
    mode: request.mode,
    inputMint: request.inputMint,
    outputMint: request.outputMint,
    inAmount: request.amount.toString(),
    outAmount: quote.outAmount.toString(),
    ...valuesOf(context, quote),
    ...leastOf(quote, isLive && taker === undefined && request.slippageBps === undefined),
    swapMode: 'ExactIn',
    routePlan: quote.router === 'rfqz' ? firmPlan(request, quote)
      : routePlan({
        route: quote.priced.route, market: context.market, tokens: context.tokens, percent: context.traits.percent,
      }),
    ...(referral === undefined ? {} : { referralAccount: referral.account }),
    ...feesOf(quote, isLive && taker === undefined),
    ...costsOf(built),
    swapType: SWAP_TYPES[quote.router],
    router: quote.router,
    ...transactionOf(context, built),
    gasless: built === undefined ? quote.router === 'rfqz' : built.costs.payer !== taker,
    requestId,
    taker: taker ?? null,
    ...(quote.router === 'rfqz' ? firmOf(quote, isLive && taker === undefined) : {}),
    ...(isLive ? { guaranteedPrice: quote.router === 'rfqz' } : {}),
    contextSlot: context.chain.slotAt('processed'),
  };
}

function valuesOf({ market, traits }: ServiceContext, { output, inUsd, outAmount }: OrderQuote): object {
  const outUsd = usdValue({ market, token: output, amount: outAmount });
  const impact = priceImpact({ inUsd, outUsd });
  return {
    inUsdValue: inUsd,
    outUsdValue: outUsd,
    swapUsdValue: inUsd,
    priceImpact: traits.impactInPoints ? Number((impact * 100).toFixed(6)) : impact,
    priceImpactPct: decimalText(impact),
  };
}

/** A maker's price is firm: no slippage, and the least is the whole amount. Live, an order without a taker is too. */
function leastOf(quote: OrderQuote, isOpen: boolean): object {
  if (quote.router === 'rfqz' || isOpen) return { otherAmountThreshold: quote.outAmount.toString(), slippageBps: 0 };
  return { otherAmountThreshold: quote.priced.threshold.toString(), slippageBps: quote.priced.slippageBps };
}

function firmPlan({ amount }: OrderRequest, { input, output, inUsd, firm }: FirmQuote): object[] {
  return [{
    swapInfo: {
      ammKey: firm.maker, label: 'rfqz', inputMint: input.mint, outputMint: output.mint, inAmount: amount.toString(),
      outAmount: firm.outAmount.toString(),
    },
    percent: 100,
    bps: 10_000,
    usdValue: inUsd,
  }];
}

function feesOf(quote: OrderQuote, isOpen: boolean): object {
  const { feeMint, feeBps, amount } = quote.router === 'rfqz' ? firmFee(quote) : pooledFee(quote);
  return {
    feeMint,
    feeBps,
    platformFee: { ...(isOpen ? {} : { amount: amount.toString() }), feeBps: quote.platformBps, feeMint },
  };
}

interface Fee {
  readonly feeMint: string;
  readonly feeBps: number;
  /** The platform's or the referrer's share. */
  readonly amount: bigint;
}

/** The service's charge for gas is in `feeBps` only. */
function pooledFee({ input, output, priced, platformBps }: PooledQuote): Fee {
  const { side, bps } = priced.fee;
  const base = side === 'input' ? priced.inAmount : priced.route.outAmount;
  return { feeMint: (side === 'input' ? input : output).mint, feeBps: bps, amount: platformFee(base, platformBps) };
}

function firmFee({ output, platformBps, feeAmount }: FirmQuote): Fee {
  return { feeMint: output.mint, feeBps: platformBps, amount: feeAmount };
}

function costsOf(built: OrderTransaction | undefined): object {
  const payer = built?.costs.payer ?? null;
  return {
    signatureFeeLamports: exactNumber(built?.costs.signatureLamports ?? 0n),
    signatureFeePayer: payer,
    prioritizationFeeLamports: exactNumber(built?.costs.prioritizationLamports ?? 0n),
    prioritizationFeePayer: payer,
    rentFeeLamports: exactNumber(built?.costs.rentLamports ?? 0n),
    rentFeePayer: payer,
  };
}

/**
 * By its description every answer has the expiry of a new transaction; live, only answers with a transaction have it.
 */
function transactionOf({ chain, profile }: ServiceContext, built: OrderTransaction | undefined): object {
  if (built?.kind === 'built') {
    return {
      transaction: unsignedTransaction(built.message).toString('base64'),
      lastValidBlockHeight: built.lastValidBlockHeight.toString(),
    };
  }
  const height = profile === 'live' ? {}
    : { lastValidBlockHeight: chain.latestBlockhash().lastValidBlockHeight.toString() };
  if (built === undefined) return { transaction: null, ...height };
  return { transaction: '', ...height, errorCode: built.code, errorMessage: built.message, error: built.message };
}

function firmOf({ firm }: FirmQuote, isOpen: boolean): object {
  const { quoteId, maker, expireAtUnixSeconds } = firm;
  return { quoteId, maker, expireAt: isOpen ? null : expireAtUnixSeconds.toString() };
}
