import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import type { GenesisToken } from '../../genesis.ts';
import type { ServiceContext } from '../context.ts';
import { withoutMembers } from '../host-traits.ts';
import { createParameters } from '../http/parameters.ts';
import { badRequest } from '../http/request-error.ts';
import { automaticUnitPrice, distinguishing } from '../routing/network-fees.ts';
import type { SwapFee } from '../routing/platform-fee.ts';
import type { PricedRoute } from '../routing/quoting.ts';
import { decimalText, priceImpact, priceRoute, routePlan, routedAmount, usdValue } from '../routing/quoting.ts';
import type { RouteLimits } from '../routing/routing.ts';
import { keepsLimits } from '../routing/routing.ts';
import { requireNativeDestination, requireTokenAccount } from './destinations.ts';
import { computeUnitPrice, toWire } from './instructions.ts';
import type { Delivery } from './swap-instructions.ts';
import { swapInstructions } from './swap-instructions.ts';

/** Serves `GET /swap/v2/build`: a quote and the instructions from which the caller builds a transaction. */
export function registerBuild(app: FastifyInstance, context: ServiceContext): void {
  app.get('/swap/v2/build', (request, reply) => reply.send(answerBuild(context, parseBuildRequest(request.query))));
}

interface Pair {
  readonly input: GenesisToken;
  readonly output: GenesisToken;
}

function answerBuild(context: ServiceContext, request: BuildRequest): object {
  const { chain, market, tokens, table } = context;
  const [input, output] = [tokens.get(request.inputMint), tokens.get(request.outputMint)];
  if (input === undefined || output === undefined) throw badRequest('No routes found');
  const priced = priceBuild(context, request, { input, output });
  const number = context.nextNumber();
  const { feeAccount } = request;
  const parts = swapInstructions({
    chain, input, output,
    taker: request.taker,
    payer: request.payer,
    route: priced.route,
    threshold: priced.threshold,
    wrapSol: request.wrapSol,
    delivery: deliveryOf(context, request, { output, outAmount: priced.outAmount, number }),
    fee: feeAccount === undefined ? undefined : { ...priced.fee, amount: priced.feeAmount, account: feeAccount },
    caller: context.foreign === undefined ? undefined : {
      program: context.foreign.routeV2, layout: 'route_v2', quotedOut: priced.outAmount,
      slippageBps: priced.slippageBps,
    },
  });
  const [cleanup, ...others] = parts.cleanup;
  const unitPrice = automaticUnitPrice({ slot: chain.slot, fast: request.fast }) + BigInt(distinguishing(number));
  return withoutMembers({
    inputMint: input.mint,
    outputMint: output.mint,
    inAmount: request.amount.toString(),
    outAmount: priced.outAmount.toString(),
    otherAmountThreshold: priced.threshold.toString(),
    swapMode: 'ExactIn',
    slippageBps: priced.slippageBps,
    ...(context.profile === 'live' ? { priceImpactPct: impactOf(context, { input, output }, priced) } : {}),
    routePlan: routePlan({ route: priced.route, market, tokens, percent: context.traits.percent }),
    computeBudgetInstructions: [toWire(computeUnitPrice(unitPrice))],
    setupInstructions: parts.setup.map(toWire),
    swapInstruction: toWire(parts.swap),
    cleanupInstruction: cleanup === undefined ? null : toWire(cleanup),
    otherInstructions: others.map(toWire),
    addressesByLookupTableAddress: { [table.address]: table.addresses },
    blockhashWithMetadata: blockhashOf(context, request.blockhashSlotsToExpiry),
    contextSlot: chain.slotAt('processed'),
  }, context.traits.absent.build);
}

function priceBuild(context: ServiceContext, request: BuildRequest, { input, output }: Pair): PricedRoute {
  const { feeAccount, amount } = request;
  const feeToken = feeAccount === undefined ? output
    : requireTokenAccount(context.chain, { name: 'feeAccount', account: feeAccount, tokens: [output, input] });
  const fee: SwapFee = { side: feeToken === input ? 'input' : 'output', bps: request.platformFeeBps };
  const route = context.routers.iris.bestRoute({
    inputMint: input.mint,
    outputMint: output.mint,
    amount: routedAmount({ amount, fee }),
    accepts: (path) => keepsLimits(path, request.limits),
    shortestOnly: request.fast,
  });
  const priced = route === undefined ? undefined : priceRoute({
    route, amount, fee, slippageBps: request.slippageBps, roundsUp: context.traits.roundsUp.build,
  });
  if (priced === undefined || priced.outAmount === 0n) throw badRequest('No routes found');
  return priced;
}

function deliveryOf(
  { chain }: ServiceContext, request: BuildRequest,
  { output, outAmount, number }: { output: GenesisToken; outAmount: bigint; number: number },
): Delivery {
  const { destinationTokenAccount: tokenAccount, nativeDestinationAccount: account } = request;
  if (tokenAccount !== undefined) {
    // The caller may create the account in the same transaction, before the swap.
    if (chain.accountExists(tokenAccount))
      requireTokenAccount(chain, { name: 'destinationTokenAccount', account: tokenAccount, tokens: [output] });
    return { kind: 'account', account: tokenAccount };
  }
  if (account === undefined) return { kind: 'taker' };
  requireNativeDestination(chain, { account, outputMint: output.mint, outAmount });
  return { kind: 'native', account, seed: `b${number}` };
}

function impactOf({ market }: ServiceContext, { input, output }: Pair, { inAmount, outAmount }: PricedRoute): string {
  const inUsd = usdValue({ market, token: input, amount: inAmount });
  return decimalText(priceImpact({ inUsd, outUsd: usdValue({ market, token: output, amount: outAmount }) }));
}

function blockhashOf(context: ServiceContext, slots: number): object {
  const { blockhash, lastValidBlockHeight } =
    context.blockhashes.expiringWithin({ slots, blockHeight: context.chain.blockHeight });
  const ms = context.nowMs();
  const seconds = Math.floor(ms / 1_000);
  return {
    blockhash: [...bs58.decode(blockhash)],
    lastValidBlockHeight,
    ...(context.profile === 'live'
      ? { fetchedAt: { secs_since_epoch: seconds, nanos_since_epoch: Math.round((ms - seconds * 1_000) * 1_000_000) } }
      : {}),
  };
}

/** The checked parameters of `GET /swap/v2/build`. */
interface BuildRequest {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount: bigint;
  readonly taker: string;
  readonly payer: string;
  readonly slippageBps: number;
  readonly fast: boolean;
  readonly limits: RouteLimits;
  readonly platformFeeBps: number;
  readonly feeAccount: string | undefined;
  readonly wrapSol: boolean;
  readonly destinationTokenAccount: string | undefined;
  readonly nativeDestinationAccount: string | undefined;
  readonly blockhashSlotsToExpiry: number;
}

/** Returns the request in a query. Throws a RequestError (400) on anything that breaks a rule of the reference. */
function parseBuildRequest(query: unknown): BuildRequest {
  const parameters = createParameters(query);
  const inputMint = parameters.address('inputMint');
  const outputMint = parameters.address('outputMint');
  if (inputMint === outputMint) throw badRequest('outputMint: expected another mint than inputMint');
  const amount = parameters.amount('amount');
  const taker = parameters.address('taker');
  const slippageBps = parameters.optionalInteger('slippageBps', { min: 0, max: 10_000 }) ?? 50;
  const fast = parameters.optionalChoice('mode', ['fast']) === 'fast';
  const dexes = parameters.optionalList('dexes');
  const excludeDexes = parameters.optionalList('excludeDexes');
  if (dexes !== undefined && excludeDexes !== undefined)
    throw badRequest('dexes and excludeDexes: expected one of them, got both');
  const platformFeeBps = parameters.optionalInteger('platformFeeBps', { min: 0, max: 10_000 }) ?? 0;
  const feeAccount = parameters.optionalAddress('feeAccount');
  if (platformFeeBps > 0 && feeAccount === undefined)
    throw badRequest('feeAccount: missing, it is required with a positive platformFeeBps');
  const maxAccounts = parameters.optionalInteger('maxAccounts', { min: 1, max: 64 }) ?? 64;
  const payer = parameters.optionalAddress('payer') ?? taker;
  const wrapSol = parameters.optionalBoolean('wrapAndUnwrapSol') ?? true;
  const destinationTokenAccount = parameters.optionalAddress('destinationTokenAccount');
  const nativeDestinationAccount = parameters.optionalAddress('nativeDestinationAccount');
  if (destinationTokenAccount !== undefined && nativeDestinationAccount !== undefined) {
    throw badRequest('destinationTokenAccount and nativeDestinationAccount: expected one of them, got both');
  }
  const blockhashSlotsToExpiry = parameters.optionalInteger('blockhashSlotsToExpiry', { min: 1, max: 300 }) ?? 150;
  return {
    inputMint, outputMint, amount, taker, payer, slippageBps, fast, limits: { dexes, excludeDexes, maxAccounts },
    platformFeeBps, feeAccount, wrapSol, destinationTokenAccount, nativeDestinationAccount, blockhashSlotsToExpiry,
  };
}
