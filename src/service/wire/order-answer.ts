import { z } from 'zod';
import type { Lamports } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import type { SwapOrder, SwapRequest } from '../../trading/swap-terms.ts';
import {
  decisiveText, lenientFlag, lenientInstant, lenientNumber, lenientText, optional, wireAddress, wireBytes, wireId,
  wireInstant, wireInteger, wireLamports, wireMint, wireU64,
} from './fields.ts';
import { readPriceImpact } from './price-impact.ts';
import type { ReportUnread } from './read.ts';
import { malformed, readNoting } from './read.ts';
import type { StatedTerms } from './swap-terms.ts';
import { readStated, readTerms, termsShape } from './swap-terms.ts';

const WHAT = 'order';

/** Everything an answer of `/order` says; a member that decides nothing is undefined where it is missing or null. */
export interface OrderAnswer extends SwapOrder, StatedTerms {
  /** `ultra` where nothing steered the order, `manual` where something did. */
  readonly mode?: string | undefined;
  readonly inUsdValue?: number | undefined;
  readonly outUsdValue?: number | undefined;
  readonly swapUsdValue?: number | undefined;
  readonly referralAccount?: string | undefined;
  /** The token that the fee is taken in. */
  readonly feeMint?: Mint | undefined;
  readonly signatureFeeLamports?: Lamports | undefined;
  /** Priority fees and tips. */
  readonly prioritizationFeeLamports?: Lamports | undefined;
  readonly prioritizationFeePayer?: string | undefined;
  /** Estimated. */
  readonly rentFeeLamports?: Lamports | undefined;
  readonly rentFeePayer?: string | undefined;
  /** Deprecated; the router says more. */
  readonly swapType?: string | undefined;
  readonly gasless?: boolean | undefined;
  readonly totalTimeMs?: number | undefined;
  /** A maker's. */
  readonly quoteId?: string | undefined;
}

const positiveHeight =
  wireU64.refine((height) => height > 0n, { error: 'expected a positive block height' });

/** What the order of a wallet says. What is signed, and for how long it can land, hangs on the decisive members. */
const WireOrder = z.object({
  ...termsShape,
  requestId: decisiveText(wireId),
  taker: decisiveText(wireAddress),
  transaction: decisiveText(wireBytes),
  lastValidBlockHeight: decisiveText(positiveHeight),
  signatureFeePayer: decisiveText(wireAddress),
  maker: decisiveText(wireAddress),
  expireAt: decisiveText(wireInstant),
  errorCode: decisiveText(wireInteger),
  errorMessage: lenientText,
  error: lenientText,
  mode: lenientText,
  inUsdValue: lenientNumber,
  outUsdValue: lenientNumber,
  swapUsdValue: lenientNumber,
  referralAccount: lenientText,
  feeMint: optional(wireMint),
  signatureFeeLamports: optional(wireLamports),
  prioritizationFeeLamports: optional(wireLamports),
  prioritizationFeePayer: lenientText,
  rentFeeLamports: optional(wireLamports),
  rentFeePayer: lenientText,
  swapType: lenientText,
  gasless: lenientFlag,
  totalTime: lenientNumber,
  quoteId: lenientText,
});

type WireOrder = z.output<typeof WireOrder>;

/** The members of an order that are read here, in neutral words. */
export const ORDER_MEMBERS: readonly string[] = Object.keys(WireOrder.shape);

/** The same without a wallet: nothing of it is signed, so these members decide nothing. */
const WireQuote = z.object({
  ...WireOrder.shape,
  requestId: optional(wireId),
  lastValidBlockHeight: optional(positiveHeight),
  signatureFeePayer: optional(wireAddress),
  maker: optional(wireAddress),
  expireAt: lenientInstant,
  errorCode: optional(wireInteger),
});

/** The routers that the deprecated swapType stands for. */
const ROUTER_OF_TYPE: ReadonlyMap<string, string> =
  new Map([['aggregator', 'iris'], ['rfq', 'rfqz'], ['routerA', 'routerA'], ['routerB', 'routerB']]);

/**
 * Returns the order in an answer of `/order`. Throws SERVICE_MALFORMED where it cannot be true or answers another
 * question.
 */
export function readSwapOrder(
  answer: unknown, request: Pick<SwapRequest, 'inputMint' | 'outputMint' | 'amount' | 'taker'>, report?: ReportUnread,
): OrderAnswer {
  const { value: wire, unread } =
    readNoting(request.taker === undefined ? WireQuote : WireOrder, answer, WHAT, report);
  const router = wire.router ?? ROUTER_OF_TYPE.get(wire.swapType ?? '');
  if (router === undefined) throw malformed(`${WHAT}, router: expected the router that won`, undefined);
  if (wire.taker !== undefined && wire.taker !== request.taker) {
    throw malformed(`${WHAT}, taker: expected ${request.taker ?? 'none, as none was given'}`, wire.taker);
  }
  const buildError = request.taker === undefined ? undefined : readBuildError(wire, router);
  if (wire.transaction !== undefined && (request.taker === undefined || buildError !== undefined)) {
    throw malformed(`${WHAT}, transaction: expected none without a taker or beside an error`, 'a transaction');
  }
  const impact = readPriceImpact(wire);
  return {
    ...readTerms(wire, { request, router, impact, what: WHAT }),
    ...readStated(wire, { impact, unread }),
    requestId: wire.requestId,
    taker: wire.taker,
    transaction: wire.transaction,
    lastValidBlockHeight: wire.lastValidBlockHeight,
    signatureFeePayer: wire.signatureFeePayer,
    maker: wire.maker,
    expireAt: wire.expireAt,
    buildError,
    mode: wire.mode,
    inUsdValue: wire.inUsdValue,
    outUsdValue: wire.outUsdValue,
    swapUsdValue: wire.swapUsdValue,
    referralAccount: wire.referralAccount,
    feeMint: wire.feeMint,
    signatureFeeLamports: wire.signatureFeeLamports,
    prioritizationFeeLamports: wire.prioritizationFeeLamports,
    prioritizationFeePayer: wire.prioritizationFeePayer,
    rentFeeLamports: wire.rentFeeLamports,
    rentFeePayer: wire.rentFeePayer,
    swapType: wire.swapType,
    gasless: wire.gasless,
    totalTimeMs: wire.totalTime,
    quoteId: wire.quoteId,
  };
}

/** A taker was given, so a missing transaction is a failure whether or not the service gives a reason. */
function readBuildError(wire: WireOrder, router: string): SwapOrder['buildError'] {
  const code = wire.errorCode === 0 ? undefined : wire.errorCode;
  if (wire.transaction !== undefined && code === undefined) return undefined;
  const message = wire.errorMessage ?? wire.error ?? orderErrorMeaning(router, code)
    ?? 'the service gave no transaction and no reason';
  return { code, message };
}

/**
 * What the codes of an order without transaction mean, by the family of its router: the same number is another fault in
 * each.
 */
const MEANINGS = {
  pools: new Map([
    [1, 'the wallet has too little of the input token'],
    [2, 'the wallet has too little SOL for fees and rent'],
    [3, 'the trade is below the least that is carried out gasless'],
  ]),
  maker: new Map([
    [1, 'the wallet has too little of the input token'],
    [2, 'an associated token account is missing'],
    [3, 'no transaction could be made of the quote'],
  ]),
} as const;

/** The router whose quotes are a maker's. */
const MAKER_ROUTER = 'rfqz';

/** Returns what an order's errorCode means; undefined for a code without description. */
function orderErrorMeaning(router: string, code: number | undefined): string | undefined {
  if (code === undefined) return undefined;
  return MEANINGS[router === MAKER_ROUTER ? 'maker' : 'pools'].get(code);
}
