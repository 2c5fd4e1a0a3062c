import { NATIVE_MINT } from '../chain/addresses.ts';
import { createParameters } from './parameters.ts';
import { badRequest, notCarriedOut } from './request-error.ts';

export const ROUTERS = ['iris', 'rfqz', 'routerA', 'routerB'] as const;
export type RouterName = (typeof ROUTERS)[number];

/** What `GET /swap/v2/order` was asked, checked. */
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
  /** Treats the two fees above as limits rather than as exact. */
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
const LARGEST_FEE_LAMPORTS = 1_000_000_000;

/** Returns the request in a query. Throws a RequestError (400) on anything that breaks a rule of the reference. */
export function parseOrderRequest(query: unknown): OrderRequest {
  const parameters = createParameters(query);
  const inputMint = parameters.address('inputMint');
  const outputMint = parameters.address('outputMint');
  if (inputMint === outputMint) throw badRequest('outputMint: expected another mint than inputMint');
  const amount = parameters.amount('amount');
  const taker = parameters.optionalAddress('taker');
  const receiver = parameters.optionalAddress('receiver');
  if (receiver !== undefined && receiver === taker) throw badRequest('receiver: expected another address than taker');
  if (receiver !== undefined && outputMint === NATIVE_MINT) throw notCarriedOut('receiver: sending SOL to another wallet');
  parameters.optionalChoice('swapMode', ['ExactIn']);
  const slippageBps = parameters.optionalInteger('slippageBps', { min: 0, max: 10_000 });
  const referralAccount = parameters.optionalAddress('referralAccount');
  const referralFee = parameters.optionalInteger('referralFee', { min: 50, max: 255 });
  if ((referralAccount === undefined) !== (referralFee === undefined)) {
    throw badRequest('referralAccount and referralFee: expected both or neither');
  }
  const referral = referralAccount === undefined || referralFee === undefined ? undefined : { account: referralAccount, feeBps: referralFee };
  const payer = parameters.optionalAddress('payer');
  const priorityFeeLamports = lamports(parameters.optionalInteger('priorityFeeLamports', { min: 0, max: LARGEST_FEE_LAMPORTS }));
  const bundleTipLamports = lamports(parameters.optionalInteger('bundleTipLamports', { min: 0, max: LARGEST_FEE_LAMPORTS }));
  const feesAreLimits = parameters.optionalChoice('broadcastFeeType', ['maxCap', 'exactFee']) === 'maxCap';
  const excludedRouters = new Set((parameters.optionalList('excludeRouters') ?? []).map(routerName));
  const excludedLabels = new Set(parameters.optionalList('excludeDexes') ?? []);
  return {
    inputMint, outputMint, amount, taker, receiver, payer, slippageBps, referral, priorityFeeLamports, bundleTipLamports,
    feesAreLimits, excludedRouters, excludedLabels,
    mode: STEERING.some((name) => parameters.has(name)) ? 'manual' : 'ultra',
  };
}

function lamports(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}

function routerName(name: string): RouterName {
  const router = ROUTERS.find((candidate) => candidate === name);
  if (router === undefined) throw badRequest(`excludeRouters: expected names of ${ROUTERS.join(', ')}, got "${name.slice(0, 40)}"`);
  return router;
}
