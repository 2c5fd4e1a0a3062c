import type { FastifyInstance } from 'fastify';
import bs58 from 'bs58';
import { NATIVE_MINT } from '../chain/addresses.ts';
import { decodeTokenAccount, isTokenProgram } from '../chain/token-layout.ts';
import type { GenesisToken } from '../genesis.ts';
import type { ServiceContext } from './context.ts';
import { automaticUnitPrice, distinguishing } from './fees.ts';
import { computeUnitPrice, toWire } from './instructions.ts';
import { createParameters } from './parameters.ts';
import { priceRoute, routePlan } from './quoting.ts';
import { badRequest, notCarriedOut } from './request-error.ts';
import type { RoutePath } from './routing.ts';
import { swapInstructions } from './swap-instructions.ts';

/** What `GET /swap/v2/build` was asked, checked. */
interface BuildRequest {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount: bigint;
  readonly taker: string;
  readonly payer: string;
  readonly slippageBps: number;
  readonly fast: boolean;
  readonly acceptsLabel: (label: string) => boolean;
  readonly platformFeeBps: number;
  readonly feeAccount: string | undefined;
  readonly maxAccounts: number;
  readonly wrapSol: boolean;
  readonly destinationTokenAccount: string | undefined;
  readonly blockhashSlotsToExpiry: number;
}

/** Serves `GET /swap/v2/build`: a quote and the instructions of which the caller makes his own transaction. */
export function registerBuild(app: FastifyInstance, context: ServiceContext): void {
  app.get('/swap/v2/build', (request, reply) => reply.send(answerBuild(context, parseBuildRequest(request.query))));
}

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
  if (dexes !== undefined && excludeDexes !== undefined) throw badRequest('dexes and excludeDexes: expected one of them, got both');
  const platformFeeBps = parameters.optionalInteger('platformFeeBps', { min: 0, max: 10_000 }) ?? 0;
  const feeAccount = parameters.optionalAddress('feeAccount');
  if (platformFeeBps > 0 && feeAccount === undefined) throw badRequest('feeAccount: missing, it is required with a positive platformFeeBps');
  const maxAccounts = parameters.optionalInteger('maxAccounts', { min: 1, max: 64 }) ?? 64;
  const payer = parameters.optionalAddress('payer') ?? taker;
  const wrapSol = parameters.optionalBoolean('wrapAndUnwrapSol') ?? true;
  const destinationTokenAccount = parameters.optionalAddress('destinationTokenAccount');
  const nativeDestinationAccount = parameters.optionalAddress('nativeDestinationAccount');
  if (destinationTokenAccount !== undefined && nativeDestinationAccount !== undefined) {
    throw badRequest('destinationTokenAccount and nativeDestinationAccount: expected one of them, got both');
  }
  if (nativeDestinationAccount !== undefined) {
    if (outputMint !== NATIVE_MINT) throw badRequest('nativeDestinationAccount: expected SOL as outputMint');
    throw notCarriedOut('nativeDestinationAccount: sending SOL to another account');
  }
  const blockhashSlotsToExpiry = parameters.optionalInteger('blockhashSlotsToExpiry', { min: 1, max: 300 }) ?? 150;
  const acceptsLabel = (label: string): boolean => dexes?.includes(label) ?? !(excludeDexes?.includes(label) ?? false);
  return {
    inputMint, outputMint, amount, taker, payer, slippageBps, fast, acceptsLabel, platformFeeBps, feeAccount, maxAccounts, wrapSol,
    destinationTokenAccount, blockhashSlotsToExpiry,
  };
}

function answerBuild(context: ServiceContext, request: BuildRequest): object {
  const { chain, market, tokens, table } = context;
  const input = tokens.get(request.inputMint);
  const output = tokens.get(request.outputMint);
  const route = context.router.bestRoute({
    inputMint: request.inputMint,
    outputMint: request.outputMint,
    amount: request.amount,
    accepts: (path) => accountsOf(path) <= request.maxAccounts && path.every(({ pool }) => request.acceptsLabel(pool.label)),
    shortestOnly: request.fast,
  });
  if (input === undefined || output === undefined || route === undefined) throw badRequest('No routes found');
  const priced = priceRoute({ route, feeBps: request.platformFeeBps, slippageBps: request.slippageBps });
  const { feeAccount, destinationTokenAccount } = request;
  if (feeAccount !== undefined) requireTokenAccount(context, { name: 'feeAccount', account: feeAccount, token: output });
  if (destinationTokenAccount !== undefined) {
    requireTokenAccount(context, { name: 'destinationTokenAccount', account: destinationTokenAccount, token: output });
  }
  const parts = swapInstructions({
    chain, input, output, route,
    taker: request.taker,
    payer: request.payer,
    amount: request.amount,
    threshold: priced.threshold,
    wrapSol: request.wrapSol,
    destination: destinationTokenAccount,
    ...(feeAccount === undefined || request.platformFeeBps === 0 ? {} : { platformFee: { bps: request.platformFeeBps, account: feeAccount } }),
  });
  const { blockhash, lastValidBlockHeight } = context.blockhashes.expiringWithin({
    slots: request.blockhashSlotsToExpiry, blockHeight: chain.blockHeight,
  });
  const unitPrice = automaticUnitPrice({ slot: chain.slot, fast: request.fast }) + BigInt(distinguishing(context.nextNumber()));
  return {
    inputMint: input.mint,
    outputMint: output.mint,
    inAmount: request.amount.toString(),
    outAmount: priced.outAmount.toString(),
    otherAmountThreshold: priced.threshold.toString(),
    swapMode: 'ExactIn',
    slippageBps: priced.slippageBps,
    routePlan: routePlan({ route, market, tokens }),
    computeBudgetInstructions: [toWire(computeUnitPrice(unitPrice))],
    setupInstructions: parts.setup.map(toWire),
    swapInstruction: toWire(parts.swap),
    cleanupInstruction: parts.cleanup === undefined ? null : toWire(parts.cleanup),
    otherInstructions: [],
    addressesByLookupTableAddress: { [table.address]: table.addresses },
    blockhashWithMetadata: { blockhash: [...bs58.decode(blockhash)], lastValidBlockHeight },
    contextSlot: chain.slot,
  };
}

/** Accounts that a swap names beside its pools': program, user, source, destination, fee account, first mint and its program. */
const FIXED_ACCOUNTS = 7;
/** Each hop's pool, two vaults, output mint and its program. */
const ACCOUNTS_PER_HOP = 5;

function accountsOf(path: RoutePath): number {
  return FIXED_ACCOUNTS + ACCOUNTS_PER_HOP * path.length;
}

function requireTokenAccount({ chain }: ServiceContext, { name, account, token }: { name: string; account: string; token: GenesisToken }): void {
  const found = chain.account(account);
  const mint = found !== undefined && isTokenProgram(found.owner) ? decodeTokenAccount(found.data)?.mint : undefined;
  if (mint !== token.mint) throw badRequest(`${name}: expected an initialised token account of ${token.mint} at ${account}`);
}
