import { z } from 'zod';
import type { SwapOrder, SwapRequest } from '../../trading/swap-order.ts';
import { optionalText, wireAddress, wireBytes, wireInstant, wireInteger, wireText, wireU64 } from './fields.ts';
import { malformed, readWire } from './read.ts';
import { readTerms, termsShape } from './swap-terms.ts';

const WHAT = 'order';

const WireOrder = z.object({
  ...termsShape,
  requestId: optionalText(wireText),
  taker: optionalText(wireAddress),
  transaction: optionalText(wireBytes),
  lastValidBlockHeight: optionalText(wireU64.refine((height) => height > 0n, { error: 'expected a positive block height' })),
  signatureFeePayer: optionalText(wireAddress),
  maker: optionalText(wireAddress),
  expireAt: optionalText(wireInstant),
  errorCode: optionalText(wireInteger),
  errorMessage: optionalText(wireText),
  error: optionalText(wireText),
});

/** Returns the order in an answer of `/order`. Throws SERVICE_MALFORMED where it cannot be true or answers another question. */
export function readSwapOrder(answer: unknown, request: SwapRequest): SwapOrder {
  const wire = readWire(WireOrder, answer, WHAT);
  if (wire.router === undefined) throw malformed(`${WHAT}, router: expected the router that won`, undefined);
  if (wire.taker !== undefined && wire.taker !== request.taker) {
    throw malformed(`${WHAT}, taker: expected ${request.taker ?? 'none, as none was given'}`, wire.taker);
  }
  const buildError = request.taker === undefined ? undefined : readBuildError(wire);
  if (wire.transaction !== undefined && (request.taker === undefined || buildError !== undefined)) {
    throw malformed(`${WHAT}, transaction: expected none without a taker or beside an error`, 'a transaction');
  }
  return {
    ...readTerms(wire, request, wire.router, WHAT),
    requestId: wire.requestId,
    taker: wire.taker,
    transaction: wire.transaction,
    lastValidBlockHeight: wire.lastValidBlockHeight,
    signatureFeePayer: wire.signatureFeePayer,
    maker: wire.maker,
    expireAt: wire.expireAt,
    buildError,
  };
}

/** A taker was given, so a missing transaction is a failure whether or not the service gives a reason. */
function readBuildError(wire: z.output<typeof WireOrder>): SwapOrder['buildError'] {
  const code = wire.errorCode === 0 ? undefined : wire.errorCode;
  if (wire.transaction !== undefined && code === undefined) return undefined;
  return { code, message: wire.errorMessage ?? wire.error ?? 'the service gave no transaction and no reason' };
}
