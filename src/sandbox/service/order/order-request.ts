import { U64_MAX } from '../../../core/amount.ts';
import { isAddress } from '../../chain/addresses.ts';
import type { Profile } from '../context.ts';
import { createParameters, type Parameters } from '../http/parameters.ts';
import { badRequest, RequestError } from '../http/request-error.ts';
import type { RouterName } from '../routing/routing.ts';
import { ROUTERS } from '../routing/routing.ts';

/** The checked parameters of `GET /swap/v2/order`. */
export interface OrderRequest {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount: bigint;
  readonly taker: string | undefined;
  readonly receiver: string | undefined;
  readonly payer: string | undefined;
  readonly slippageBps: number | undefined;
  readonly referral: { readonly account: string; readonly feeBps: number } | undefined;
  readonly priorityFeeLamports: bigint | undefined;
  readonly bundleTipLamports: bigint | undefined;
  /** Treats the two fees above as limits instead of exact values. */
  readonly feesAreLimits: boolean;
  readonly excludedRouters: ReadonlySet<RouterName>;
  readonly excludedLabels: ReadonlySet<string>;
  /** `manual` as soon as an optional parameter steers the order. */
  readonly mode: 'ultra' | 'manual';
}

const STEERING = [
  'receiver', 'slippageBps', 'referralAccount', 'referralFee', 'payer', 'priorityFeeLamports', 'bundleTipLamports',
  'broadcastFeeType', 'excludeRouters', 'excludeDexes',
] as const;
/** Numbers that may have fractions by the description; the chain counts whole ones. */
const REFERRAL_BPS = { min: 50n, max: 255n } as const;
const LAMPORTS = { min: 0n, max: U64_MAX } as const;

/** Returns the request in a query. Throws a RequestError (400) on anything that breaks a rule of the reference. */
export function parseOrderRequest(query: unknown, profile: Profile): OrderRequest {
  const parameters = createParameters(query);
  const inputMint = mint(parameters, 'inputMint', profile);
  const outputMint = mint(parameters, 'outputMint', profile);
  if (inputMint === outputMint) throw badRequest('outputMint: expected another mint than inputMint');
  const amount = parameters.amount('amount');
  const taker = parameters.optionalAddress('taker');
  const receiver = parameters.optionalAddress('receiver');
  if (receiver !== undefined && receiver === taker) throw badRequest('receiver: expected another address than taker');
  parameters.optionalChoice('swapMode', ['ExactIn']);
  const slippageBps = parameters.optionalInteger('slippageBps', { min: 0, max: 10_000 });
  const referralAccount = parameters.optionalAddress('referralAccount');
  const referralFee = parameters.optionalFloored('referralFee', REFERRAL_BPS);
  if ((referralAccount === undefined) !== (referralFee === undefined)) {
    throw badRequest('referralAccount and referralFee: expected both or neither');
  }
  const referral = referralAccount === undefined || referralFee === undefined ? undefined
    : { account: referralAccount, feeBps: Number(referralFee) };
  const payer = parameters.optionalAddress('payer');
  const priorityFeeLamports = parameters.optionalFloored('priorityFeeLamports', LAMPORTS);
  const bundleTipLamports = parameters.optionalFloored('bundleTipLamports', LAMPORTS);
  const feesAreLimits = parameters.optionalChoice('broadcastFeeType', ['maxCap', 'exactFee']) === 'maxCap';
  const excludedRouters = new Set((parameters.optionalList('excludeRouters') ?? []).map(routerName));
  const excludedLabels = new Set(parameters.optionalList('excludeDexes') ?? []);
  return {
    inputMint, outputMint, amount, taker, receiver, payer, slippageBps, referral, priorityFeeLamports,
    bundleTipLamports, feesAreLimits, excludedRouters, excludedLabels,
    mode: STEERING.some((name) => parameters.has(name)) ? 'manual' : 'ultra',
  };
}

/** Returns whether an account other than the taker pays. */
export function isForeignPayer({ payer, taker }: Pick<OrderRequest, 'payer' | 'taker'>): boolean {
  return payer !== undefined && payer !== taker;
}

/** Returns the refusal of a mint that no pool trades: there the live service fails. */
export function untradable(profile: Profile): RequestError {
  return profile === 'live' ? new RequestError(500, { error: 'Something unexpected occurred' })
    : badRequest('Failed to get quotes');
}

function mint(parameters: Parameters, name: string, profile: Profile): string {
  if (profile === 'live' && !isAddress(parameters.text(name))) throw untradable(profile);
  return parameters.address(name);
}

function routerName(name: string): RouterName {
  const router = ROUTERS.find((candidate) => candidate === name);
  if (router === undefined)
    throw badRequest(`excludeRouters: expected names of ${ROUTERS.join(', ')}, got "${name.slice(0, 40)}"`);
  return router;
}
