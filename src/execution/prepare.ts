import { GannetError, isGannetError } from '../core/errors.ts';
import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { CapRoom } from '../trading/usage-counters.ts';
import type { SwapOrder, SwapTerms } from '../trading/swap-terms.ts';
import { minimumOut, refuseTerms, slippageFor } from '../trading/swap-terms.ts';
import type { SwapOptions } from '../trading/swap-options.ts';
import { NO_SWAP_OPTIONS, optionsOf, ownFeeBps, receiverOf } from '../trading/swap-options.ts';
import type { ExecutorPorts, TokenBalance } from './ports.ts';
import { wait } from './monotonic-time.ts';
import { QUOTE_MAX_AGE_MS } from '../trading/limits.ts';

/** What preparing an attempt uses: nothing that sends. */
type PreparationPorts = Pick<
  ExecutorPorts, 'chain' | 'signer' | 'clock' | 'swapOptions' | 'maxQuoteAgeMs' | 'maxQuoteAgeSlots'
> & {
  readonly service: Pick<ExecutorPorts['service'], 'order' | 'build'>;
  readonly journal: Pick<ExecutorPorts['journal'], 'isSigned'>;
};

/** A signed attempt, or the reason for none; nothing has been sent either way. */
type Preparation =
  | { readonly kind: 'signed'; readonly attempt: Attempt }
  | {
    readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly router?: string | undefined;
    readonly capRoom?: CapRoom | undefined;
  };

/** A transaction before its signature, with its quote and terms. */
interface Unsigned {
  readonly quote: QuoteReading;
  readonly inputBalance: TokenBalance;
  readonly terms: SwapTerms;
  readonly transaction: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  readonly requestId?: string | undefined;
  /** May sign besides the wallet. */
  readonly coSigners: readonly string[];
  readonly maker?: string | undefined;
}

/** The time and slot of a quote. */
interface QuoteReading {
  /** When its request was sent: waiting in the queue is no age. */
  readonly quotedAt: Millis;
  readonly expireAt?: Millis | undefined;
  /** The slot the service priced it at. */
  readonly contextSlot?: bigint | undefined;
  /** The slot of the chain at the same moment. */
  readonly chainSlot: bigint;
}

/** Before the signature a transient fault may be retried: nothing can happen twice. */
const TRIES = 3;
const RETRY_DELAY_MS = 300;
const TRANSIENT: ReadonlySet<string> = new Set([
  'SERVICE_TIMEOUT', 'SERVICE_UNREACHABLE', 'SERVICE_RATE_LIMITED', 'CHAIN_UNREACHABLE', 'CHAIN_RPC_ERROR',
  'QUOTE_STALE',
]);
/** Transient refusals of the signer, by the code in their details. */
const TRANSIENT_REFUSALS: ReadonlySet<unknown> = new Set(['PRICE_GUARD_UNAVAILABLE']);

/**
 * The most blocks that a transaction may stay valid: a blockhash expires after 150, with some room for nodes that
 * differ.
 */
const VALIDITY_BLOCKS_MAX = 400n;
/** A blockhash is valid for this many blocks. */
const BLOCKHASH_BLOCKS = 150n;
/** The time that a firm quote must still be valid: it has to reach the maker and then a block, by the chain's clock. */
const EXPIRY_MARGIN_MS = 2_000;

/** Transient refusals: of the service, no quote at the moment (400) and server errors; of the signer, no price. */
const isPassing = ({ code, details: { status, code: inner } }: GannetError): boolean =>
  TRANSIENT.has(code) || (code === 'SIGN_REFUSED' && TRANSIENT_REFUSALS.has(inner))
    || (code === 'SERVICE_STATUS' && (status === 400 || status === 408 || Number(status) >= 500));

/** A swap to prepare, with the options of its request. */
interface Requested {
  readonly intent: Intent;
  readonly options: SwapOptions;
}

/** Returns the options of an intent. The fee that the operator pays to an own account is allowed beside others. */
export function requestedOf({ swapOptions }: Pick<ExecutorPorts, 'swapOptions'>, given: Intent): Requested {
  const options = optionsOf(given, swapOptions?.(given.strategy) ?? NO_SWAP_OPTIONS);
  const maxFeeBps = Math.max(given.maxFeeBps, ownFeeBps(options, given.route)) as Bps;
  return { intent: { ...given, maxFeeBps }, options };
}

/**
 * Requests a new quote, checks the terms and the bytes, and signs. A refusal is a value with a code, for the signer the
 * code of its policy. A refused transaction with co-signers is quoted once more without its router.
 */
export async function prepareAttempt(ports: PreparationPorts, given: Intent, number: number): Promise<Preparation> {
  const requested = requestedOf(ports, given);
  const { intent } = requested;
  let refusedRouter: string | undefined;
  for (let tries = 1; ; tries++) {
    let unsigned: Unsigned | undefined;
    try {
      const made = intent.route === 'order' ? await byOrder(ports, requested, refusedRouter)
        : await byBuild(ports, requested);
      if ('kind' in made) return made;
      unsigned = made;
      return { kind: 'signed', attempt: await sign(ports, requested, number, unsigned) };
    } catch (error) {
      if (!isGannetError(error)) throw error;
      if (refusedRouter === undefined && unsigned !== undefined && isForeignRefused(error, unsigned)) {
        refusedRouter = unsigned.terms.router;
        continue;
      }
      if (tries >= TRIES || !isPassing(error)) return {
        kind: 'refused', router: unsigned?.terms.router, code: codeOf(error), reason: error.message.slice(0, 400),
        capRoom: capRoomOf(error),
      };
      await wait(ports.clock, RETRY_DELAY_MS * tries);
    }
  }
}

/** A request for a quote, and the wallet's balance at the time it is sent. */
interface QuoteRequest {
  /** To be called when the request is sent; a second request replaces the first. */
  readonly onStart: () => void;
  /** Returns both, once the answer is there. */
  reading(): Promise<{ readonly quotedAt: Millis; readonly inputBalance: TokenBalance }>;
}

/** The balance is read while the quote is requested, so that it costs no time. Waiting in the queue ages neither. */
function startQuoteRequest(
  { clock, chain, signer }: PreparationPorts, { inputMint, outputMint, amountIn, purpose }: Intent,
): QuoteRequest {
  // A service without a queue need not call `onStart`: it sends the request at once.
  let quotedAt = clock.now();
  let balance: Promise<TokenBalance> | undefined;
  return {
    onStart() {
      quotedAt = clock.now();
      signer.expectSwap?.({ inputMint, outputMint, amountIn }, purpose);
      balance = chain.tokenBalance(signer.address, inputMint);
      // `reading` reports its fault, unless the quote has failed before.
      balance.catch(() => undefined);
    },
    async reading() {
      return { quotedAt, inputBalance: await (balance ?? chain.tokenBalance(signer.address, inputMint)) };
    },
  };
}

async function byOrder(
  ports: PreparationPorts, { intent, options }: Requested, excludedRouter: string | undefined,
): Promise<Unsigned | (Preparation & { kind: 'refused' })> {
  const request = startQuoteRequest(ports, intent);
  const excluded = [...options.order.excludeRouters ?? [], ...(excludedRouter === undefined ? [] : [excludedRouter])];
  const order = await withMinimumOutput(intent, (slippageBps) => ports.service.order({
    inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn, taker: ports.signer.address,
    slippageBps, ...options.order,
    ...(excluded.length === 0 ? {} : { excludeRouters: excluded }),
  }, { priority: intent.purpose, onStart: request.onStart }), options);
  const { quotedAt, inputBalance } = await request.reading();
  const refusal = refuseTerms(intent, order) ?? refuseOrder(ports, order);
  if (refusal !== undefined) return { kind: 'refused', router: order.router, ...refusal };
  const { transaction, requestId, lastValidBlockHeight, expireAt, contextSlot, maker } = order;
  if (transaction === undefined || requestId === undefined || lastValidBlockHeight === undefined) {
    return {
      kind: 'refused', router: order.router, code: 'ORDER_INCOMPLETE',
      reason: 'expected a transaction, a requestId and a lastValidBlockHeight',
    };
  }
  const coSigners = [order.signatureFeePayer, maker]
    .filter((signer) => signer !== undefined && signer !== ports.signer.address);
  const quote = { quotedAt, expireAt, contextSlot, chainSlot: inputBalance.slot };
  return {
    quote, inputBalance, terms: order, transaction, requestId, lastValidBlockHeight, coSigners: coSigners as string[],
    maker,
  };
}

function refuseOrder(ports: PreparationPorts, order: SwapOrder): { code: string; reason: string } | undefined {
  if (order.buildError !== undefined) {
    // The meaning of the number depends on the router, so the code contains both.
    const router = /^[\w-]{1,40}$/.test(order.router) ? order.router.toUpperCase() : 'UNKNOWN';
    return {
      code: `ORDER_${router}_${order.buildError.code ?? 'UNKNOWN'}`, reason: printable(order.buildError.message, 300),
    };
  }
  if (order.taker !== undefined && order.taker !== ports.signer.address) {
    return { code: 'TERMS_MISMATCH', reason: `the order is for the taker ${order.taker}` };
  }
  const leftMs = order.expireAt === undefined ? Infinity : order.expireAt - ports.clock.now();
  if (!(leftMs > EXPIRY_MARGIN_MS)) {
    return {
      code: 'QUOTE_EXPIRED',
      reason: `the quote is valid for ${leftMs} ms more on arrival, ${EXPIRY_MARGIN_MS} are needed to sign and land it`,
    };
  }
  return undefined;
}

/**
 * A build does not state its price impact, so the price is requested a second time as a quote, and the build must agree
 * with it.
 */
async function byBuild(
  ports: PreparationPorts, { intent, options }: Requested,
): Promise<Unsigned | (Preparation & { kind: 'refused' })> {
  const request = startQuoteRequest(ports, intent);
  const asked = { inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn };
  const priority = intent.purpose;
  // The build is requested last: where both wait in the queue, the signed one is the newer.
  const [reference, build] = await Promise.all([
    ports.service.order(asked, { priority }),
    withMinimumOutput(intent, (slippageBps) => ports.service.build(
      { ...asked, taker: ports.signer.address, slippageBps, ...options.build },
      { priority, onStart: request.onStart },
    )),
    ports.chain.loadComposer?.(),
  ]);
  const { quotedAt, inputBalance } = await request.reading();
  const priceImpact = worse(build.priceImpact, reference.priceImpact);
  const refusal = refuseTerms(intent, { ...build, priceImpact })
    ?? refuseOffPrice(intent, build, afterSlippage(reference.outAmount, ownFeeBps(options, 'build')));
  if (refusal !== undefined) return { kind: 'refused', router: build.router, ...refusal };
  const { transaction } = await ports.chain.compose(build, ports.signer.address);
  const quote = { quotedAt, contextSlot: build.contextSlot, chainSlot: inputBalance.slot };
  return {
    quote, inputBalance, terms: build, transaction, lastValidBlockHeight: build.lastValidBlockHeight, coSigners: [],
  };
}

/** A build's own price impact cannot be checked, so the worse of both counts. */
function worse(build: number | undefined, reference: number | undefined): number | undefined {
  return build === undefined || reference === undefined ? build ?? reference : Math.min(build, reference);
}

/** Compares a build with the output of a quote of the same moment, after the operator's own fee. */
function refuseOffPrice(
  intent: Intent, build: SwapTerms, quoted: Amount,
): { code: string; reason: string } | undefined {
  if (build.outAmount >= afterSlippage(quoted, intent.maxPriceImpactBps)) return undefined;
  return { code: 'PRICE_OFF_REFERENCE', reason: `${build.outAmount} of ${intent.outputMint} offered, a quote of the `
    + `same moment says ${quoted} of ${intent.outputMint}` };
}

async function sign(
  ports: PreparationPorts, { intent, options }: Requested, number: number, unsigned: Unsigned,
): Promise<Attempt> {
  const { quote, terms, transaction, lastValidBlockHeight, requestId, coSigners } = unsigned;
  const { address } = ports.signer;
  const facts = ports.chain.readTransaction(transaction);
  const stranger = facts.signers.find((signer) => signer !== address && !coSigners.includes(signer));
  if (stranger !== undefined) throw new GannetError(
    'SIGN_REFUSED', `the transaction needs the signature of ${stranger}, which the order does not name`,
  );
  if (facts.durableNonce)
    throw new GannetError('SIGN_REFUSED', 'the transaction uses a durable nonce: it would never expire');
  const height = await ports.chain.finalizedBlockHeight({ beforeSigning: true });
  if (lastValidBlockHeight <= height || lastValidBlockHeight > height + VALIDITY_BLOCKS_MAX) {
    throw new GannetError(
      'SIGN_REFUSED',
      `expected a last valid block height within ${VALIDITY_BLOCKS_MAX} of ${height}, got ${lastValidBlockHeight}`,
    );
  }
  // An expired blockhash and one that is too new are both "not valid at finalized". With too low a height a new one
  // would count as expired, while the bytes could still land.
  if (lastValidBlockHeight <= height + BLOCKHASH_BLOCKS && !(await ports.chain.isBlockhashValid(facts.blockhash))) {
    throw new GannetError('SIGN_REFUSED', `the last valid block height ${lastValidBlockHeight} does not belong to the `
      + `blockhash ${facts.blockhash}, which is not known at finalized ${height}`);
  }
  const stale = refuseStaleQuote(ports, quote);
  if (stale !== undefined) throw stale;
  const signed = await ports.signer.sign(transaction, {
    intentId: intent.id, attempt: number, route: intent.route, inputMint: intent.inputMint,
    outputMint: intent.outputMint,
    amountIn: intent.amountIn, minimumOut: leastOutput(intent, terms), maker: unsigned.maker,
    feePayer: facts.feePayer === address ? undefined : facts.feePayer, maxFeeBps: intent.maxFeeBps,
  });
  // The same bytes have the same signature: their outcome belongs to an earlier attempt and would be booked twice.
  if (ports.journal.isSigned(signed.signature)) {
    throw new GannetError('SIGN_REFUSED', 'the service gave bytes that were signed before, for an earlier swap', {
      details: { code: 'TRANSACTION_REPEATED' },
    });
  }
  return {
    intentId: intent.id,
    number,
    route: intent.route,
    router: terms.router,
    quotedOut: terms.outAmount,
    threshold: terms.threshold,
    requestId,
    signature: signed.signature,
    // Another fee payer can change its signature until the transaction lands: only the wallet's own one identifies it.
    transactionId: facts.feePayer === address ? signed.signature : undefined,
    messageHash: signed.messageHash,
    blockhash: facts.blockhash,
    lastValidBlockHeight,
    feePayer: facts.feePayer,
    maker: unsigned.maker,
    receiver: receiverOf(options, intent.route),
    inputBalance: unsigned.inputBalance.amount,
    inputSlots: { from: unsigned.inputBalance.slot, to: unsigned.inputBalance.lastSlot },
    signedTransaction: signed.transaction,
  };
}

/**
 * The minimum output that the bytes must guarantee: the higher one of intent and quote. Hosts round a threshold up or
 * down, and programs round their minimum by a rule of their own, so that honest bytes may be one unit below what the
 * quote says (D-343). The intent's own minimum holds to the unit, as does a quote without slippage.
 */
function leastOutput(intent: Intent, { outAmount, threshold, slippageBps }: SwapTerms): Amount {
  const least = minimumOut(intent, outAmount);
  const promised = (slippageBps === 0 ? threshold : threshold - 1n) as Amount;
  return promised > least ? promised : least;
}

/** The signer's policy refused a transaction with co-signers; a route without them may pass. */
function isForeignRefused({ code, details }: GannetError, { coSigners }: Unsigned): boolean {
  const { code: inner } = details;
  return code === 'SIGN_REFUSED' && inner !== undefined && !TRANSIENT_REFUSALS.has(inner) && coSigners.length > 0;
}

/** The inner code says more: the program's own code of a simulation ("6001"), or the policy's code of a signer. */
function codeOf({ code, details }: GannetError): string {
  return (code === 'CHAIN_SIMULATION_FAILED' || code === 'SIGN_REFUSED') && typeof details['code'] === 'string'
    ? details['code'] : code;
}

/** The room in the cap for which the signer refused. */
function capRoomOf({ code, details }: GannetError): CapRoom | undefined {
  const { cap_span: span, cap_left: left, cap_free_at: freeAt } = details;
  if (code !== 'SIGN_REFUSED' || (span !== 'hour' && span !== 'day') || typeof left !== 'string'
      || typeof freeAt !== 'number') return undefined;
  return /^\d{1,20}$/.test(left) ? { span, left: BigInt(left) as Amount, freeAt } : undefined;
}

/**
 * Returns QUOTE_STALE where a quote is too old to be signed, by the clock or by the chain. A clock that was set back
 * makes its age unknown, and a quote without a slot fails any limit on slots.
 */
function refuseStaleQuote(
  {
    clock, maxQuoteAgeMs = QUOTE_MAX_AGE_MS, maxQuoteAgeSlots,
  }: Pick<ExecutorPorts, 'clock' | 'maxQuoteAgeMs' | 'maxQuoteAgeSlots'>, quote: QuoteReading,
): GannetError | undefined {
  const now = clock.now();
  const ageMs = now - quote.quotedAt;
  if (!(ageMs >= 0 && ageMs <= maxQuoteAgeMs))
    return stale(`was ${ageMs} ms old when it was to be signed, allowed are ${maxQuoteAgeMs}`);
  if (quote.expireAt !== undefined && !(quote.expireAt - now > EXPIRY_MARGIN_MS)) {
    return stale(`is valid for ${quote.expireAt - now} ms more, ${EXPIRY_MARGIN_MS} are needed to land it`);
  }
  if (maxQuoteAgeSlots === undefined) return undefined;
  if (quote.contextSlot === undefined)
    return stale(`does not state its slot, and no more than ${maxQuoteAgeSlots} slots are allowed`);
  const slots = quote.chainSlot - quote.contextSlot;
  return slots > BigInt(maxQuoteAgeSlots) ? stale(
    `is of slot ${quote.contextSlot}, the chain is at ${quote.chainSlot}; allowed are ${maxQuoteAgeSlots} slots`,
  ) : undefined;
}

function stale(found: string): GannetError {
  return new GannetError('QUOTE_STALE', `the quote ${found}`);
}

/**
 * Requests with the allowed slippage, or with that of the service where it is automatic, and once more with less where
 * the minimum output requires it.
 */
export async function withMinimumOutput<T extends SwapTerms>(
  intent: Intent, ask: (slippageBps: Bps | undefined) => Promise<T>,
  { isAutomatic }: Pick<SwapOptions, 'isAutomatic'> = NO_SWAP_OPTIONS,
): Promise<T> {
  const first = await ask(isAutomatic ? undefined : intent.maxSlippageBps);
  const tighter = slippageFor(intent, first.outAmount);
  const isTooWide = first.threshold < minimumOut(intent, first.outAmount);
  return isTooWide && (isAutomatic || tighter < intent.maxSlippageBps) ? ask(tighter) : first;
}
