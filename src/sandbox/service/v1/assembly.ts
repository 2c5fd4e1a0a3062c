import { associatedTokenAddress, NATIVE_MINT, TOKEN_PROGRAM } from '../../chain/addresses.ts';
import type { LatestBlockhash } from '../../chain/blocks.ts';
import { platformFee } from '../../chain/swap-math.ts';
import { requireNativeDestination, requireTokenAccount } from '../build/destinations.ts';
import type { SwapCaller } from '../build/foreign-programs.ts';
import type { CollectedFee, Delivery, SwapInstructions } from '../build/swap-instructions.ts';
import { swapInstructions } from '../build/swap-instructions.ts';
import type { ServiceContext } from '../context.ts';
import { badRequest } from '../http/request-error.ts';
import { carriedOut, type CarriedOut, type SlippageReport } from './carry-out.ts';
import { routingError } from './quote-request.ts';
import { marketOf } from './quote-route.ts';
import type { SwapRequest } from './swap-request.ts';

/** The instructions of a quote, without its compute budget. */
export interface Assembly {
  readonly parts: SwapInstructions;
  readonly blockhash: LatestBlockhash;
  readonly slippageReport: SlippageReport | undefined;
  /** Tells equal swaps of one slot apart. */
  readonly number: number;
}

/**
 * Returns the instructions of a returned quote. Throws a RequestError (400) where accounts on the chain are missing or
 * wrong.
 */
export function assemble(context: ServiceContext, request: SwapRequest): Assembly {
  const { chain } = context;
  const { quoted, user, payer, wrapSol } = request;
  const number = context.nextNumber();
  requireSharable(request);
  if (!wrapSol && !request.skipAccountChecks) requireWrapped(context, request);
  const side = feeSide(context, request);
  const swap = carriedOut(context, { quoted, side, dynamicSlippage: request.dynamicSlippage });
  const parts = swapInstructions({
    chain, taker: user, payer, input: quoted.input, output: quoted.output, route: swap.route,
    threshold: swap.minimumOut, wrapSol,
    delivery: deliveryOf(context, request, number),
    fee: collectedFee(request, swap, side),
    intermediateAccounts: request.sharedAccounts === false,
    omitExisting: !request.skipAccountChecks,
    caller: callerOf(context, request, swap),
  });
  const slots = request.blockhashSlotsToExpiry;
  const blockhash = slots === undefined ? chain.latestBlockhash()
    : context.blockhashes.expiringWithin({ slots, blockHeight: chain.blockHeight });
  return { parts, blockhash, slippageReport: swap.report, number };
}

/** Instructions of the second version are the aggregator's; it has none for an exact output here. */
function callerOf(
  { foreign }: ServiceContext, { quoted }: SwapRequest, { minimumOut, report }: CarriedOut,
): SwapCaller | undefined {
  const { request: { instructionVersion, slippageBps, swapMode }, outAmount } = quoted;
  if (foreign === undefined || instructionVersion !== 'V2') return undefined;
  const terms = swapMode === 'ExactIn' ? { quotedOut: outAmount, slippageBps: report?.slippageBps ?? slippageBps }
    : { quotedOut: minimumOut, slippageBps: 0 };
  return { program: foreign.routeV2, layout: 'route_v2', ...terms };
}

/** Intermediate tokens never pass through token accounts here; a market without shared accounts still refuses them. */
function requireSharable({ quoted, sharedAccounts }: SwapRequest): void {
  const stubborn = quoted.route.hops.find(({ pool }) => !marketOf(pool.label).sharedAccounts);
  if (sharedAccounts === true && stubborn !== undefined) {
    throw routingError(
      'NOT_SUPPORTED', `useSharedAccounts: the market ${stubborn.pool.label} does not go with shared accounts`,
    );
  }
}

function requireWrapped(
  { chain }: ServiceContext, { user, quoted, destinationTokenAccount, nativeDestinationAccount }: SwapRequest,
): void {
  const isDelivered = destinationTokenAccount !== undefined || nativeDestinationAccount !== undefined;
  const needed = quoted.input.mint === NATIVE_MINT || (quoted.output.mint === NATIVE_MINT && !isDelivered);
  const account = associatedTokenAddress(user, NATIVE_MINT, TOKEN_PROGRAM);
  if (needed && !chain.accountExists(account)) {
    throw badRequest(`wrapAndUnwrapSol: expected true, or an initialised wrapped-SOL account at ${account}`);
  }
}

function feeSide({ chain }: ServiceContext, { quoted, feeAccount }: SwapRequest): 'input' | 'output' {
  if (feeAccount === undefined) return 'output';
  const { input, output } = quoted;
  return requireTokenAccount(chain, { name: 'feeAccount', account: feeAccount, tokens: [output, input] }) === output
    ? 'output' : 'input';
}

function collectedFee(
  { quoted, feeAccount }: SwapRequest, swap: CarriedOut, side: 'input' | 'output',
): CollectedFee | undefined {
  const bps = quoted.request.platformFeeBps ?? 0;
  if (feeAccount === undefined || bps === 0) return undefined;
  return {
    side, bps, account: feeAccount, amount: side === 'input' ? swap.inputFee : platformFee(swap.route.outAmount, bps),
  };
}

function deliveryOf({ chain }: ServiceContext, request: SwapRequest, number: number): Delivery {
  const { destinationTokenAccount, nativeDestinationAccount: account } = request;
  // Assumed to be initialised, without a check.
  if (destinationTokenAccount !== undefined) return { kind: 'account', account: destinationTokenAccount };
  if (account === undefined) return { kind: 'taker' };
  const { output, outAmount } = request.quoted;
  requireNativeDestination(chain, { account, outputMint: output.mint, outAmount });
  return { kind: 'native', account, seed: `v${number}` };
}
