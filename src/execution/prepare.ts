import { GannetError, isGannetError } from '../core/errors.ts';
import type { Amount } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { CapRoom } from '../trading/spend-tally.ts';
import type { SwapOrder, SwapTerms } from '../trading/swap-order.ts';
import { minimumOut, refuseTerms } from '../trading/terms.ts';
import type { LiveWorld } from './journey.ts';
import type { TokenBalance } from './ports.ts';
import type { QuoteReading } from './quote-age.ts';
import { EXPIRY_MARGIN_MS, refuseStaleQuote } from './quote-age.ts';
import { wait } from './wait.ts';
import { withinFloor } from './within-floor.ts';

/** A signed attempt, or why there is none; nothing has left the house either way. */
export type Preparation =
  | { readonly kind: 'signed'; readonly attempt: Attempt }
  | {
    readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly router?: string | undefined;
    readonly capRoom?: CapRoom | undefined;
  };

/** A transaction to be signed with what is known of it. */
interface Unsigned {
  readonly quote: QuoteReading;
  readonly inputBalance: TokenBalance;
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
  'SERVICE_TIMEOUT', 'SERVICE_UNREACHABLE', 'SERVICE_RATE_LIMITED', 'CHAIN_UNREACHABLE', 'CHAIN_RPC_ERROR',
  'QUOTE_STALE',
]);
/** Of the service's own refusals, those that pass: that nobody quotes (400) does at times, and what begins with 5. */
const isPassing = ({ code, details: { status } }: GannetError): boolean =>
  TRANSIENT.has(code) || (code === 'SERVICE_STATUS' && (status === 400 || status === 408 || Number(status) >= 500));
/** Blocks that a transaction may live: the chain forgets a blockhash after 150; some room for nodes that differ. */
const LIFETIME_BLOCKS_MAX = 400n;
/** For so many blocks the chain knows a blockhash. */
const BLOCKHASH_BLOCKS = 150n;

/**
 * Quotes afresh, checks the terms and the bytes, and signs. A refusal is a value with a code: where the signer refuses,
 * that of its policy. What is signed by others too and refused is quoted once more without the router it came from.
 */
export async function prepareAttempt(world: LiveWorld, intent: Intent, number: number): Promise<Preparation> {
  let refusedRouter: string | undefined;
  for (let tries = 1; ; tries++) {
    let unsigned: Unsigned | undefined;
    try {
      const made = intent.route === 'order' ? await byOrder(world, intent, refusedRouter)
        : await byBuild(world, intent);
      if ('kind' in made) return made;
      unsigned = made;
      return { kind: 'signed', attempt: await sign(world, intent, number, unsigned) };
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
      await wait(world.clock, RETRY_DELAY_MS * tries);
    }
  }
}

/** When the request for a quote left, and the wallet's balance as of that moment. */
interface Departure {
  /** To be called when the request leaves; a second request replaces the first. */
  readonly onStart: () => void;
  /** Returns both, once the answer is there. */
  reading(): Promise<{ readonly quotedAt: Millis; readonly inputBalance: TokenBalance }>;
}

/**
 * The balance is read while the quote is on its way, so that it costs no time. Waiting for a turn is no age of either.
 */
function departureOf({ clock, chain, signer }: LiveWorld, { inputMint }: Intent): Departure {
  // A service that queues nothing need not say when a request leaves: it leaves when it is asked for.
  let quotedAt = clock.now();
  let balance: Promise<TokenBalance> | undefined;
  return {
    onStart() {
      quotedAt = clock.now();
      balance = chain.tokenBalance(signer.address, inputMint);
      // Its fault is told by the reading, unless the quote itself has failed before.
      balance.catch(() => undefined);
    },
    async reading() {
      return { quotedAt, inputBalance: await (balance ?? chain.tokenBalance(signer.address, inputMint)) };
    },
  };
}

async function byOrder(
  world: LiveWorld, intent: Intent, excludedRouter: string | undefined,
): Promise<Unsigned | (Preparation & { kind: 'refused' })> {
  const departure = departureOf(world, intent);
  const order = await withinFloor(intent, (slippageBps) => world.service.order({
    inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn, taker: world.signer.address,
    slippageBps,
    ...(excludedRouter === undefined ? {} : { excludeRouters: [excludedRouter] }),
  }, { priority: intent.purpose, onStart: departure.onStart }));
  const { quotedAt, inputBalance } = await departure.reading();
  const refusal = refuseTerms(intent, order) ?? refuseOrder(world, order);
  if (refusal !== undefined) return { kind: 'refused', router: order.router, ...refusal };
  const { transaction, requestId, lastValidBlockHeight, expireAt, contextSlot, maker } = order;
  if (transaction === undefined || requestId === undefined || lastValidBlockHeight === undefined) {
    return {
      kind: 'refused', router: order.router, code: 'ORDER_INCOMPLETE',
      reason: 'expected a transaction, a requestId and a lastValidBlockHeight',
    };
  }
  const coSigners = [order.signatureFeePayer, maker]
    .filter((signer) => signer !== undefined && signer !== world.signer.address);
  const quote = { quotedAt, expireAt, contextSlot, chainSlot: inputBalance.slot };
  return {
    quote, inputBalance, terms: order, transaction, requestId, lastValidBlockHeight, coSigners: coSigners as string[],
    maker,
  };
}

function refuseOrder(world: LiveWorld, order: SwapOrder): { code: string; reason: string } | undefined {
  if (order.buildError !== undefined) {
    // What the number means depends on the router, so the code says both.
    const router = /^[\w-]{1,40}$/.test(order.router) ? order.router.toUpperCase() : 'UNKNOWN';
    return {
      code: `ORDER_${router}_${order.buildError.code ?? 'UNKNOWN'}`, reason: printable(order.buildError.message, 300),
    };
  }
  if (order.taker !== undefined && order.taker !== world.signer.address) {
    return { code: 'TERMS_MISMATCH', reason: `the order is for the taker ${order.taker}` };
  }
  const leftMs = order.expireAt === undefined ? Infinity : order.expireAt - world.clock.now();
  if (!(leftMs > EXPIRY_MARGIN_MS)) {
    return {
      code: 'QUOTE_EXPIRED',
      reason: `the quote is good for ${leftMs} ms more on arrival, ${EXPIRY_MARGIN_MS} are needed to sign and land it`,
    };
  }
  return undefined;
}

/**
 * A build does not say its price impact, and nothing else here knows the market: so the price is looked up a second
 * time, from the quotes, and the build must agree with it.
 */
async function byBuild(world: LiveWorld, intent: Intent): Promise<Unsigned | (Preparation & { kind: 'refused' })> {
  const departure = departureOf(world, intent);
  const asked = { inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn };
  const priority = intent.purpose;
  // The build is asked for last: where both have to wait for a turn, what will be signed is the younger one.
  const [reference, build] = await Promise.all([
    world.service.order(asked, { priority }),
    withinFloor(intent, (slippageBps) => world.service.build(
      { ...asked, taker: world.signer.address, slippageBps }, { priority, onStart: departure.onStart },
    )),
  ]);
  const { quotedAt, inputBalance } = await departure.reading();
  const priceImpact = worse(build.priceImpact, reference.priceImpact);
  const refusal = refuseTerms(intent, { ...build, priceImpact }) ?? refuseOffPrice(intent, build, reference);
  if (refusal !== undefined) return { kind: 'refused', router: build.router, ...refusal };
  const { transaction } = await world.chain.compose(build, world.signer.address);
  const quote = { quotedAt, contextSlot: build.contextSlot, chainSlot: inputBalance.slot };
  return {
    quote, inputBalance, terms: build, transaction, lastValidBlockHeight: build.lastValidBlockHeight, coSigners: [],
  };
}

/** Hosts whose builds do say it give nothing to check it by, so that it must not hide what the quote says. */
function worse(build: number | undefined, reference: number | undefined): number | undefined {
  return build === undefined || reference === undefined ? build ?? reference : Math.min(build, reference);
}

function refuseOffPrice(
  intent: Intent, build: SwapTerms, reference: SwapTerms,
): { code: string; reason: string } | undefined {
  const least = afterSlippage(reference.outAmount, intent.maxPriceImpactBps);
  if (build.outAmount >= least) return undefined;
  return { code: 'PRICE_OFF_REFERENCE', reason: `${build.outAmount} of ${intent.outputMint} offered, a quote of the `
    + `same moment says ${reference.outAmount} of ${intent.outputMint}` };
}

async function sign(world: LiveWorld, intent: Intent, number: number, unsigned: Unsigned): Promise<Attempt> {
  const { quote, terms, transaction, lastValidBlockHeight, requestId, coSigners } = unsigned;
  const { address } = world.signer;
  const facts = world.chain.readTransaction(transaction);
  const stranger = facts.signers.find((signer) => signer !== address && !coSigners.includes(signer));
  if (stranger !== undefined) throw new GannetError(
    'SIGN_REFUSED', `the transaction wants the signature of ${stranger}, whom the order does not name`,
  );
  if (facts.durableNonce)
    throw new GannetError('SIGN_REFUSED', 'the transaction hangs on a nonce: it would never expire');
  const height = await world.chain.finalizedBlockHeight();
  if (lastValidBlockHeight <= height || lastValidBlockHeight > height + LIFETIME_BLOCKS_MAX) {
    throw new GannetError(
      'SIGN_REFUSED',
      `expected a last valid block height within ${LIFETIME_BLOCKS_MAX} of ${height}, got ${lastValidBlockHeight}`,
    );
  }
  // "Not valid at finalized" is said of an expired blockhash and of one too young to be known there. A height below
  // what a young one has would let the first be taken for the second: expired, while the bytes could still land.
  if (lastValidBlockHeight <= height + BLOCKHASH_BLOCKS && !(await world.chain.isBlockhashValid(facts.blockhash))) {
    throw new GannetError('SIGN_REFUSED', `the last valid block height ${lastValidBlockHeight} does not belong to the `
      + `blockhash ${facts.blockhash}, which is not known at finalized ${height}`);
  }
  const stale = refuseStaleQuote(world, quote);
  if (stale !== undefined) throw stale;
  const signed = await world.signer.sign(transaction, {
    intentId: intent.id, attempt: number, route: intent.route, inputMint: intent.inputMint,
    outputMint: intent.outputMint,
    amountIn: intent.amountIn, minimumOut: leastOutput(intent, terms), maker: unsigned.maker,
    feePayer: facts.feePayer === address ? undefined : facts.feePayer, maxFeeBps: intent.maxFeeBps,
  });
  // The same bytes have the same signature: what became of them is another attempt's, and would be booked a second
  // time.
  if (world.journal.isSigned(signed.signature)) {
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
    // What stands in another payer's slot is theirs to change until it lands: only our own signature names it.
    transactionId: facts.feePayer === address ? signed.signature : undefined,
    messageHash: signed.messageHash,
    blockhash: facts.blockhash,
    lastValidBlockHeight,
    feePayer: facts.feePayer,
    maker: unsigned.maker,
    inputBalance: unsigned.inputBalance.amount,
    inputSlots: { from: unsigned.inputBalance.slot, to: unsigned.inputBalance.lastSlot },
    signedTransaction: signed.transaction,
  };
}

/** What the bytes themselves must guarantee: the intent's own floor, and what this quote promised. */
function leastOutput(intent: Intent, { outAmount, threshold }: SwapTerms): Amount {
  const least = minimumOut(intent, outAmount);
  return threshold > least ? threshold : least;
}

/** The signer's policy refused bytes that others sign too; a route without them may pass. */
function isForeignRefused({ code, details }: GannetError, { coSigners }: Unsigned): boolean {
  return code === 'SIGN_REFUSED' && details['code'] !== undefined && coSigners.length > 0;
}

/**
 * What failed inside tells more than that it failed: the program's own code of a simulation ("6001"), the policy's of a
 * signer.
 */
function codeOf({ code, details }: GannetError): string {
  return (code === 'CHAIN_SIMULATION_FAILED' || code === 'SIGN_REFUSED') && typeof details['code'] === 'string'
    ? details['code'] : code;
}

/** What the signer says of the cap for which it refused. */
function capRoomOf({ code, details }: GannetError): CapRoom | undefined {
  const { cap_span: span, cap_left: left, cap_free_at: freeAt } = details;
  if (code !== 'SIGN_REFUSED' || (span !== 'hour' && span !== 'day') || typeof left !== 'string'
      || typeof freeAt !== 'number') return undefined;
  return /^\d{1,20}$/.test(left) ? { span, left: BigInt(left) as Amount, freeAt } : undefined;
}
