import { createParameters } from './parameters.ts';
import { badRequest } from './request-error.ts';
import type { RouteLimits } from './route-limits.ts';

/** What `GET /swap/v2/build` was asked, checked. */
export interface BuildRequest {
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
export function parseBuildRequest(query: unknown): BuildRequest {
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
