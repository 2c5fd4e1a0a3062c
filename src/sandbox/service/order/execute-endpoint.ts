import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import type { LandedTransaction, TokenBalance } from '../../chain/chain.ts';
import { platformFee } from '../../chain/swap-math.ts';
import { MAX_TRANSACTION_BYTES } from '../../chain/transaction-bytes.ts';
import type { TransactionError } from '../../chain/transaction-error.ts';
import { customErrorCode, describeTransactionError } from '../../chain/transaction-error.ts';
import { SIGNATURE_BYTES } from '../../chain/message.ts';
import type { Profile, ServiceContext } from '../context.ts';
import { RequestError } from '../http/request-error.ts';
import { EXECUTE } from '../http/request-text.ts';
import { arriving } from '../routing/routing.ts';
import { LOW_LAMPORTS } from './gasless.ts';
import type { ExecuteReason, Family, FirmPromise, StoredOrder } from './kept-orders.ts';
import { EXECUTE_CODES, familyOf } from './kept-orders.ts';

/** Serves `POST /swap/v2/execute`: lands an order's signed transaction and answers with the outcome. */
export function registerExecute(app: FastifyInstance, context: ServiceContext): void {
  app.post(EXECUTE.path, (request, reply) => {
    const answer = execute(context, request.body);
    return reply.code(answer.statusCode).send(answer.body);
  });
}

interface Answer {
  readonly statusCode: number;
  readonly body: object;
}

function execute(context: ServiceContext, body: unknown): Answer {
  const { requestId, signedTransaction, lastValidBlockHeight } = readBody(body);
  const order = context.orders.find(requestId);
  if (order === undefined) throw refusal(EXECUTE_CODES.orderNotFound);
  const transaction = completeSignatures(context, order, signedTransaction);
  if (order.execution !== undefined) {
    // Posting the same bytes again returns their outcome. They are not sent again, and no others are sent for the
    // order.
    if (order.execution.transaction.equals(transaction)) return { statusCode: 200, body: order.execution.answer };
    throw refusal(EXECUTE_CODES.badSignature);
  }
  if (lastValidBlockHeight !== undefined && lastValidBlockHeight !== order.lastValidBlockHeight.toString()) {
    throw refusal(EXECUTE_CODES.invalidBlockHeight);
  }
  return send(context, order, transaction);
}

function readBody(
  body: unknown,
): { requestId: string; signedTransaction: string; lastValidBlockHeight: string | undefined } {
  const fields: { requestId?: unknown; signedTransaction?: unknown; lastValidBlockHeight?: unknown } =
    typeof body === 'object' && body !== null ? body : {};
  const { requestId, signedTransaction, lastValidBlockHeight } = fields;
  if (typeof requestId !== 'string' || requestId === '') throw refusal(EXECUTE_CODES.missingRequestId);
  if (typeof signedTransaction !== 'string' || signedTransaction === '')
    throw refusal(EXECUTE_CODES.missingTransaction);
  if (lastValidBlockHeight === undefined) return { requestId, signedTransaction, lastValidBlockHeight };
  if (typeof lastValidBlockHeight !== 'string') throw refusal(EXECUTE_CODES.invalidBlockHeight);
  return { requestId, signedTransaction, lastValidBlockHeight };
}

function send(context: ServiceContext, order: StoredOrder, transaction: Buffer): Answer {
  const { chain, faults } = context;
  const family = familyOf(order);
  const signature = bs58.encode(transaction.subarray(1, 1 + SIGNATURE_BYTES));
  const remember = (body: object): Answer => {
    context.orders.remember(order, { transaction, answer: body });
    return { statusCode: 200, body };
  };
  if (order.firm !== undefined) {
    // Without the maker's signature there is none to report, since the maker's is the transaction's.
    const isOverdue = context.nowMs() >= order.firm.expireAtUnixSeconds * 1_000;
    if (isOverdue || faults.draw(EXECUTE, ['expire']) !== undefined)
      return remember(failureAnswer(EXECUTE_CODES.expired.maker));
    const isRejected = faults.draw(EXECUTE, ['reject']) !== undefined || !makerHonours(context, order, order.firm);
    if (isRejected) return remember(failureAnswer(EXECUTE_CODES.rejectedByMaker));
  } else if (faults.draw(EXECUTE, ['expire']) !== undefined) {
    return remember(failureAnswer(EXECUTE_CODES.expired.pools, { signature }));
  }
  const unknown = faults.draw(EXECUTE, ['unknown']);
  if (unknown?.landed === false) return uncertain(signature);

  const result = chain.land(transaction);
  if (result.kind === 'rejected') {
    if (result.error === 'SignatureFailure') throw refusal(EXECUTE_CODES.badSignature);
    // The error of an expired blockhash needs no details.
    return remember(result.error === 'BlockhashNotFound'
      ? failureAnswer(EXECUTE_CODES.expired[family], { signature })
      : failureAnswer(EXECUTE_CODES.failedToLand[family], {
        signature, detail: describeTransactionError(result.error),
      }));
  }
  context.confirm();
  const landed = chain.transaction(result.signature);
  if (result.error === null)
    context.market.recordTrade({ inputMint: order.inputMint, outputMint: order.outputMint, usd: order.inUsd });
  const remembered = remember(result.error === null && landed !== undefined
    ? successAnswer(order, landed)
    : failureOnChain(order, { ...result, error: result.error ?? 'Unknown' }, context.profile));
  return unknown === undefined ? remembered : uncertain(result.signature);
}

/** The maker's last check. Live, it never fills an order with a referral fee whose taker cannot pay for gas. */
function makerHonours(context: ServiceContext, order: StoredOrder, firm: FirmPromise): boolean {
  const { chain, maker, profile, tokens } = context;
  if (profile === 'live' && firm.hasReferrer && chain.balance(firm.taker) < LOW_LAMPORTS) return false;
  const [input, output] = [tokens.get(order.inputMint)!, tokens.get(order.outputMint)!];
  return maker.honours({ input, output, inAmount: order.inAmount, outAmount: firm.outAmount });
}

/** A 500 with a signature: the outcome is unknown, and the caller may post the same bytes again. */
function uncertain(signature: string): Answer {
  return { statusCode: 500, body: { signature, error: EXECUTE_CODES.unknown.pools.error } };
}

/** Returns the answer of an order that landed and swapped, with the amounts that moved on chain. */
function successAnswer(order: StoredOrder, landed: LandedTransaction): object {
  return {
    status: 'Success', signature: landed.signature, slot: landed.slot.toString(), code: 0,
    ...amountsOf(order, eventsOf(order, landed)),
  };
}

/** Returns the answer of an order that landed and failed. Live, it still has the amounts that should have moved. */
function failureOnChain(
  order: StoredOrder, landed: { signature: string; slot: number; error: TransactionError }, profile: Profile,
): object {
  const reason = programFailure(landed.error, familyOf(order));
  const amounts = profile === 'live' && reason.code === EXECUTE_CODES.slippage.code
    ? amountsOf(order, plannedEvents(order)) : {};
  return { ...failureAnswer(reason, landed), ...amounts };
}

/** Returns the answer of an order that failed; without a signature where the service never signed. */
function failureAnswer(
  reason: ExecuteReason, at: { signature?: string | undefined; slot?: number; detail?: string | undefined } = {},
): object {
  return {
    status: 'Failed',
    ...(at.signature === undefined ? {} : { signature: at.signature }),
    slot: (at.slot ?? 0).toString(),
    code: reason.code,
    error: at.detail === undefined ? reason.error : `${reason.error}: ${at.detail}`,
  };
}

interface SwapEvent {
  readonly inputMint: string;
  readonly inputAmount: bigint;
  readonly outputMint: string;
  readonly outputAmount: bigint;
}

/** Wallet level in the totals, route level in the results: the difference is the fee, on the side where it is taken. */
function amountsOf(order: StoredOrder, events: readonly SwapEvent[]): object {
  const routeInput = events[0]?.inputAmount ?? 0n;
  const routeOutput = events.at(-1)?.outputAmount ?? 0n;
  const sent = order.fee.side === 'input' ? routeOutput : routeOutput - platformFee(routeOutput, order.fee.bps);
  const received = order.path.length === 0 ? sent : arriving({ hops: order.path }, sent);
  return {
    totalInputAmount: order.inAmount.toString(),
    totalOutputAmount: received.toString(),
    inputAmountResult: routeInput.toString(),
    outputAmountResult: routeOutput.toString(),
    swapEvents: events.map((event) =>
      ({ ...event, inputAmount: event.inputAmount.toString(), outputAmount: event.outputAmount.toString() })),
  };
}

/** Returns what went into and out of each pool's vaults, as recorded on chain. */
function eventsOf(order: StoredOrder, landed: LandedTransaction): SwapEvent[] {
  if (order.firm !== undefined) return plannedEvents(order);
  return order.path.map(({ pool, inputMint, outputMint }) => {
    const change = (mint: string): bigint =>
      held(landed.postTokenBalances, { owner: pool.address, mint })
        - held(landed.preTokenBalances, { owner: pool.address, mint });
    return { inputMint, inputAmount: change(inputMint), outputMint, outputAmount: -change(outputMint) };
  });
}

/** Returns the planned amounts of each pool, or the exact amounts of a maker. */
function plannedEvents(order: StoredOrder): SwapEvent[] {
  if (order.firm !== undefined) {
    return [{
      inputMint: order.inputMint, inputAmount: order.inAmount, outputMint: order.outputMint,
      outputAmount: order.firm.outAmount,
    }];
  }
  return order.path.map(({ inputMint, outputMint, inAmount, outAmount }) =>
    ({ inputMint, inputAmount: inAmount, outputMint, outputAmount: outAmount }));
}

function held(balances: readonly TokenBalance[], { owner, mint }: { owner: string; mint: string }): bigint {
  return balances.find((balance) => balance.owner === owner && balance.mint === mint)?.amount ?? 0n;
}

/** A program's own code is passed on unchanged; other failures on chain have none. */
function programFailure(error: TransactionError, family: Family): ExecuteReason {
  const code = customErrorCode(error);
  if (code === EXECUTE_CODES.slippage.code) return EXECUTE_CODES.slippage;
  return { code: code ?? EXECUTE_CODES.unknown[family].code, error: describeTransactionError(error) };
}

/** Returns the refusal of a transaction that was never sent: HTTP 400, without a status. */
function refusal({ code, error }: ExecuteReason): RequestError {
  return new RequestError(400, { code, error });
}

/**
 * Returns the bytes of an order's signed transaction, with the service's own signatures where needed: the maker's, or
 * that of the account that pays the gas. Throws a refusal when the bytes are not the order's, or another signature is
 * missing.
 */
function completeSignatures(context: ServiceContext, order: StoredOrder, signedTransaction: string): Buffer {
  const transaction = Buffer.from(signedTransaction, 'base64');
  const malformed = refusal(EXECUTE_CODES.invalidTransaction[familyOf(order)]);
  if (transaction.toString('base64') !== signedTransaction || transaction.length > MAX_TRANSACTION_BYTES)
    throw malformed;
  const places = order.signers.length;
  const messageStart = 1 + SIGNATURE_BYTES * places;
  if (transaction.length <= messageStart || transaction[0] !== places) throw malformed;
  if (!transaction.subarray(messageStart).equals(order.message)) throw refusal(EXECUTE_CODES.changedMessage);
  const placeOf = (index: number): Buffer =>
    transaction.subarray(1 + SIGNATURE_BYTES * index, 1 + SIGNATURE_BYTES * (index + 1));
  const isEmpty = (index: number): boolean => placeOf(index).every((byte) => byte === 0);
  const missing = order.signers.some((signer, index) => signer !== order.cosigner && isEmpty(index));
  // A wallet without support for a second signer puts its signature in the payer's place.
  const isMisplaced = missing && order.cosigner === context.gas.address && !isEmpty(0);
  if (missing) throw refusal(isMisplaced ? EXECUTE_CODES.unsupportedWallet : EXECUTE_CODES.notFullySigned);
  // The service's addresses are public, and a request may name them as taker or payer. So the service signs only as the
  // cosigner of its order.
  const key = [context.maker.key, context.gas].find(({ address }) => address === order.cosigner);
  if (key !== undefined) key.sign(order.message).copy(placeOf(order.signers.indexOf(key.address)));
  return transaction;
}
