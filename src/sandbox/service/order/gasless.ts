import { NATIVE_MINT, associatedTokenAddress } from '../../chain/addresses.ts';
import type { GenesisToken } from '../../genesis.ts';
import { indexedRandom } from '../../market/indexed-random.ts';
import type { ServiceContext } from '../context.ts';
import {
  SIGNATURE_LAMPORTS, automaticUnitPrice, computeUnitsFor, priorityLamports, tokenAccountRent, unitPriceFor,
} from '../routing/network-fees.ts';
import { usdValue } from '../routing/quoting.ts';
import type { Route } from '../routing/routing.ts';
import type { OrderRequest } from './order-request.ts';
import { isForeignPayer } from './order-request.ts';

/** The priority fee and tip of a transaction. */
interface Bids {
  /** Micro-lamports for each compute unit. */
  readonly unitPrice: bigint;
  readonly tipLamports: bigint;
}

/** Without a bid of the request, one in four orders carries a tip of the service's own. */
const OWN_TIP_SHARE = 0.25;
const SMALLEST_OWN_TIP_LAMPORTS = 1_000n;

/** A payment to a block builder that the request did not ask for. */
interface OwnTip {
  readonly lamports: bigint;
  readonly receiver: string;
}

/** Returns the tip that the service adds to an order by itself, if any; the same for the same seed and number. */
export function ownTip(
  { seed, traits: { tips }, tipAccounts }: ServiceContext, request: OrderRequest, number: number,
): OwnTip | undefined {
  const asksForBids = request.priorityFeeLamports !== undefined || request.bundleTipLamports !== undefined;
  if (tips === undefined || asksForBids) return undefined;
  const random = indexedRandom(`${seed}:tips`);
  if (random(number, 0) >= OWN_TIP_SHARE) return undefined;
  // Small tips are the usual ones.
  const share = random(number, 1) ** 3;
  const lamports = BigInt(Math.floor(Number(tips.largestLamports) * share));
  const receivers = tips.receivers.length > 0 ? tips.receivers : tipAccounts;
  return {
    lamports: lamports > SMALLEST_OWN_TIP_LAMPORTS ? lamports : least(SMALLEST_OWN_TIP_LAMPORTS, tips.largestLamports),
    receiver: receivers[Math.floor(random(number, 2) * receivers.length)]!,
  };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The block builder's tip when `bundleTipLamports` is only a limit. */
const USUAL_TIP_LAMPORTS = 10_000n;

/** Returns the bids for priority: the request's figures, or the service's where they are missing or only limits. */
export function bidsOf(
  request: Pick<OrderRequest, 'priorityFeeLamports' | 'bundleTipLamports' | 'feesAreLimits'>,
  { slot, units }: { slot: number; units: number },
): Bids {
  const automatic = automaticUnitPrice({ slot });
  const asked = request.priorityFeeLamports === undefined ? undefined
    : unitPriceFor({ lamports: request.priorityFeeLamports, units });
  const tip = request.bundleTipLamports ?? 0n;
  if (!request.feesAreLimits) return { unitPrice: asked ?? automatic, tipLamports: tip };
  return {
    unitPrice: asked === undefined || automatic < asked ? automatic : asked,
    tipLamports: tip < USUAL_TIP_LAMPORTS ? tip : USUAL_TIP_LAMPORTS,
  };
}

/** A taker with less may be unable to pay for gas. */
export const LOW_LAMPORTS = 10_000_000n;
const SMALLEST_USD = 10;
/** Gas is refused above half of a trade. */
const LARGEST_SHARE = 0.5;
const WHOLE_BPS = 10_000;
/** A transaction that the service pays for has its signature and the taker's. */
const SIGNATURES = 2n;
/** A swap creates at most two accounts, and some units tell equal swaps apart. */
const TOKEN_ACCOUNTS = 2;
const SPARE_UNITS = 1_000;

/** The costs of a swap for a taker whose gas the service pays. */
export interface GaslessTerms {
  /** Below this the service does not pay. */
  readonly minimumUsd: number;
  /** The service's charge for gas, in basis points, in addition to the platform's fee. */
  readonly recoupBps: number;
  readonly isCovered: boolean;
}

/**
 * Returns whether the service may pay a taker's gas: the taker is not the service, has hardly any SOL, pays in another
 * token, and no other account takes part.
 */
export function mayBeGasless({ chain, gas }: ServiceContext, request: OrderRequest): boolean {
  const { taker, referral, receiver, inputMint } = request;
  const hasThirdParty = isForeignPayer(request) || referral !== undefined || receiver !== undefined;
  return taker !== undefined && taker !== gas.address && !hasThirdParty && inputMint !== NATIVE_MINT
    && chain.balance(taker) < LOW_LAMPORTS;
}

/** Returns the service's charge for signatures, priority, tip and rent of a swap; rounded against the taker. */
export function gaslessTerms(
  context: ServiceContext, request: OrderRequest & { readonly taker: string },
  swap: { output: GenesisToken; route: Route; inUsd: number },
): GaslessTerms {
  const { chain, market, tokens } = context;
  const { output, route, inUsd } = swap;
  const units = computeUnitsFor({ hops: route.hops.length, tokenAccounts: TOKEN_ACCOUNTS }) + SPARE_UNITS;
  const { unitPrice, tipLamports } = bidsOf(request, { slot: chain.slot, units });
  const account = associatedTokenAddress(request.taker, output.mint, output.tokenProgram);
  const staysOpen = output.mint !== NATIVE_MINT && !chain.accountExists(account);
  const lamports = SIGNATURES * SIGNATURE_LAMPORTS + priorityLamports({ unitPrice, units }) + tipLamports
    + (staysOpen ? tokenAccountRent(output.tokenProgram, output.transferFee !== undefined) : 0n);
  const gasUsd = usdValue({ market, token: tokens.get(NATIVE_MINT)!, amount: lamports });
  const minimumUsd = Math.max(SMALLEST_USD, gasUsd / LARGEST_SHARE);
  const isCovered = inUsd >= minimumUsd;
  return { minimumUsd, recoupBps: isCovered ? Math.ceil((gasUsd / inUsd) * WHOLE_BPS) : 0, isCovered };
}
