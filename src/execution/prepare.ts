import { afterSlippage } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { SwapOrder, SwapTerms } from '../trading/swap-order.ts';
import { refuseTerms } from '../trading/terms.ts';
import type { LiveWorld } from './journey.ts';
import { wait } from './wait.ts';
import { withinFloor } from './within-floor.ts';

/** A signed attempt, or why there is none; nothing has left the house either way. */
export type Preparation =
  | { readonly kind: 'signed'; readonly attempt: Attempt }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly router?: string | undefined };

/** A transaction to be signed with what is known of it. */
interface Unsigned {
  readonly quotedAt: Millis;
  readonly terms: SwapTerms;
  readonly transaction: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  readonly requestId?: string | undefined;
  /** Who may sign besides us. */
  readonly coSigners: readonly string[];
  readonly maker?: string | undefined;
}

/** Before anything is signed a passing fault may be tried again: nothing can happen twice. */
const TRIES = 3;
const RETRY_DELAY_MS = 300;
const TRANSIENT: ReadonlySet<string> = new Set([
  'SERVICE_TIMEOUT', 'SERVICE_UNREACHABLE', 'SERVICE_RATE_LIMITED', 'CHAIN_UNREACHABLE', 'CHAIN_RPC_ERROR', 'QUOTE_STALE',
]);
/** Of the service's own refusals, those that pass: that nobody quotes (400) does at times, and what begins with 5. */
const isPassing = ({ code, details: { status } }: GannetError): boolean =>
  TRANSIENT.has(code) || (code === 'SERVICE_STATUS' && (status === 400 || status === 408 || Number(status) >= 500));
/** How old a price may be when it is signed; slow answers in between mean another one. */
const QUOTE_TTL_MS = 2_000;
/** Blocks that a transaction may live: the chain forgets a blockhash after 150; some room for nodes that differ. */
const LIFETIME_BLOCKS_MAX = 400n;
/** For so many blocks the chain knows a blockhash. */
const BLOCKHASH_BLOCKS = 150n;

/** Quotes afresh, checks the terms and the bytes, and signs. A refusal is a value with a code. */
export async function prepareAttempt(world: LiveWorld, intent: Intent, number: number): Promise<Preparation> {
  for (let tries = 1; ; tries++) {
    try {
      const unsigned = intent.route === 'order' ? await byOrder(world, intent) : await byBuild(world, intent);
      if ('kind' in unsigned) return unsigned;
      return { kind: 'signed', attempt: await sign(world, intent, number, unsigned) };
    } catch (error) {
      if (!isGannetError(error)) throw error;
      if (tries >= TRIES || !isPassing(error)) return { kind: 'refused', code: codeOf(error), reason: error.message.slice(0, 300) };
      await wait(world.clock, RETRY_DELAY_MS * tries);
    }
  }
}

async function byOrder(world: LiveWorld, intent: Intent): Promise<Unsigned | (Preparation & { kind: 'refused' })> {
  const quotedAt = world.clock.now();
  const order = await withinFloor(intent, (slippageBps) => world.service.order({
    inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn, taker: world.signer.address, slippageBps,
  }, { priority: intent.purpose }));
  const refusal = refuseTerms(intent, order) ?? refuseOrder(world, order);
  if (refusal !== undefined) return { kind: 'refused', router: order.router, ...refusal };
  const { transaction, requestId, lastValidBlockHeight } = order;
  if (transaction === undefined || requestId === undefined || lastValidBlockHeight === undefined) {
    return { kind: 'refused', router: order.router, code: 'ORDER_INCOMPLETE', reason: 'expected a transaction, a requestId and a lastValidBlockHeight' };
  }
  const coSigners = [order.signatureFeePayer, order.maker].filter((signer) => signer !== undefined && signer !== world.signer.address);
  return { quotedAt, terms: order, transaction, requestId, lastValidBlockHeight, coSigners: coSigners as string[], maker: order.maker };
}

function refuseOrder(world: LiveWorld, order: SwapOrder): { code: string; reason: string } | undefined {
  if (order.buildError !== undefined) {
    // What the number means depends on the router, so the code says both.
    const router = /^[\w-]{1,40}$/.test(order.router) ? order.router.toUpperCase() : 'UNKNOWN';
    return { code: `ORDER_${router}_${order.buildError.code ?? 'UNKNOWN'}`, reason: printable(order.buildError.message, 300) };
  }
  if (order.taker !== undefined && order.taker !== world.signer.address) {
    return { code: 'TERMS_MISMATCH', reason: `the order is for the taker ${order.taker}` };
  }
  if (order.expireAt !== undefined && order.expireAt <= world.clock.now()) {
    return { code: 'QUOTE_EXPIRED', reason: 'the quote had expired on arrival' };
  }
  return undefined;
}

/**
 * A build does not say its price impact, and nothing else here knows the market: so the price is looked up a second
 * time, from the quotes, and the build must agree with it.
 */
async function byBuild(world: LiveWorld, intent: Intent): Promise<Unsigned | (Preparation & { kind: 'refused' })> {
  const quotedAt = world.clock.now();
  const asked = { inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn };
  const [build, reference] = await Promise.all([
    withinFloor(intent, (slippageBps) => world.service.build({ ...asked, taker: world.signer.address, slippageBps }, { priority: intent.purpose })),
    world.service.order(asked, { priority: intent.purpose }),
  ]);
  const priceImpact = worse(build.priceImpact, reference.priceImpact);
  const refusal = refuseTerms(intent, { ...build, priceImpact }) ?? refuseOffPrice(intent, build, reference);
  if (refusal !== undefined) return { kind: 'refused', router: build.router, ...refusal };
  const { transaction } = await world.chain.compose(build, world.signer.address);
  return { quotedAt, terms: build, transaction, lastValidBlockHeight: build.lastValidBlockHeight, coSigners: [] };
}

/** Hosts whose builds do say it give nothing to check it by, so that it must not hide what the quote says. */
function worse(build: number | undefined, reference: number | undefined): number | undefined {
  return build === undefined || reference === undefined ? build ?? reference : Math.min(build, reference);
}

function refuseOffPrice(intent: Intent, build: SwapTerms, reference: SwapTerms): { code: string; reason: string } | undefined {
  const least = afterSlippage(reference.outAmount, intent.maxPriceImpactBps);
  if (build.outAmount >= least) return undefined;
  return { code: 'PRICE_OFF_REFERENCE', reason: `${build.outAmount} offered, a quote of the same moment says ${reference.outAmount}` };
}

async function sign(world: LiveWorld, intent: Intent, number: number, unsigned: Unsigned): Promise<Attempt> {
  const { quotedAt, terms, transaction, lastValidBlockHeight, requestId, coSigners } = unsigned;
  const { address } = world.signer;
  const facts = world.chain.readTransaction(transaction);
  const stranger = facts.signers.find((signer) => signer !== address && !coSigners.includes(signer));
  if (stranger !== undefined) throw new GannetError('SIGN_REFUSED', `the transaction wants the signature of ${stranger}, whom the order does not name`);
  if (facts.durableNonce) throw new GannetError('SIGN_REFUSED', 'the transaction hangs on a nonce: it would never expire');
  const height = await world.chain.finalizedBlockHeight();
  if (lastValidBlockHeight <= height || lastValidBlockHeight > height + LIFETIME_BLOCKS_MAX) {
    throw new GannetError('SIGN_REFUSED', `expected a last valid block height within ${LIFETIME_BLOCKS_MAX} of ${height}, got ${lastValidBlockHeight}`);
  }
  // "Not valid at finalized" is said of an expired blockhash and of one too young to be known there. A height below what a
  // young one has would let the first be taken for the second: expired, while the bytes could still land.
  if (lastValidBlockHeight <= height + BLOCKHASH_BLOCKS && !(await world.chain.isBlockhashValid(facts.blockhash))) {
    throw new GannetError('SIGN_REFUSED', `the last valid block height ${lastValidBlockHeight} does not belong to the blockhash ${facts.blockhash}, which is not known at finalized ${height}`);
  }
  const ageMs = world.clock.now() - quotedAt;
  if (ageMs > QUOTE_TTL_MS) throw new GannetError('QUOTE_STALE', `the quote was ${ageMs} ms old when all was ready to be signed, allowed are ${QUOTE_TTL_MS}`);
  const signed = await world.signer.sign(transaction, {
    intentId: intent.id, attempt: number, route: intent.route, inputMint: intent.inputMint, outputMint: intent.outputMint,
    amountIn: intent.amountIn, minimumOut: terms.threshold, maker: unsigned.maker,
    feePayer: facts.feePayer === address ? undefined : facts.feePayer, maxFeeBps: intent.maxFeeBps,
  });
  return {
    intentId: intent.id,
    number,
    route: intent.route,
    router: terms.router,
    quotedOut: terms.outAmount,
    threshold: terms.threshold,
    requestId,
    signature: signed.signature,
    // What stands in another payer's slot is theirs to change until it lands: only our own signature names it.
    transactionId: facts.feePayer === address ? signed.signature : undefined,
    messageHash: signed.messageHash,
    blockhash: facts.blockhash,
    lastValidBlockHeight,
    feePayer: facts.feePayer,
    maker: unsigned.maker,
    signedTransaction: signed.transaction,
  };
}

/** A simulation that failed says why in the program's own code, "6001" say, which tells more than that it failed. */
function codeOf({ code, details }: GannetError): string {
  return code === 'CHAIN_SIMULATION_FAILED' && typeof details['code'] === 'string' ? details['code'] : code;
}
