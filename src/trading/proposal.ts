import type { Amount, Bps } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';

/** How a swap reaches the chain: assembled by the service and landed by it, or built here and landed through an RPC. */
export type Route = 'order' | 'build';

/** The amount to spend: smallest units, all that this strategy has, or a fraction of it in (0, 1]. */
export type Size = Amount | 'all' | { readonly fraction: number };

/** A proposal to swap. Strategies propose; they never execute. */
export interface SwapProposal {
  readonly kind: 'swap';
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Size;
  /** The least output in smallest units, whatever the slippage allows. */
  readonly limit?: Amount | undefined;
  readonly slippageBps?: Bps | undefined;
  readonly route?: Route | undefined;
  /** For people: why. */
  readonly reason: string;
  /** Idempotency: a second proposal of this strategy with the same key is refused, across restarts too. */
  readonly key?: string | undefined;
}

/** The urgency of an alert. */
export type AlertLevel = 'info' | 'warning' | 'critical';

/** A message for people; plain data only. */
export interface AlertProposal {
  readonly kind: 'alert';
  readonly level: AlertLevel;
  readonly message: string;
  readonly data?: Readonly<Record<string, string | number | boolean | bigint | null>> | undefined;
}

/** Everything that a strategy can propose. */
export type Proposal = SwapProposal | AlertProposal;

/**
 * Returns the fault of an invalid proposal, undefined for a valid one. Types cannot exclude every fault of a strategy's
 * arithmetic: a NaN in a size or in an alert's data could neither be compared nor serialised.
 */
export function proposalFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `expected a proposal, got ${shown(value)}`;
  const { kind } = value as { kind?: unknown };
  if (kind === 'swap') return swapFault(value as Readonly<Record<keyof SwapProposal, unknown>>);
  if (kind === 'alert') return alertFault(value as Readonly<Record<keyof AlertProposal, unknown>>);
  return `expected a proposal of kind "swap" or "alert", got ${shown(kind)}`;
}

function swapFault({
  inputMint, outputMint, amount, limit, slippageBps, route, reason, key,
}: Readonly<Record<keyof SwapProposal, unknown>>): string | undefined {
  if (![inputMint, outputMint, reason].every((text) => typeof text === 'string'))
    return 'expected mints and a reason as text';
  if (!isSize(amount)) return 'expected an amount in smallest units, "all", or a finite fraction';
  if (limit !== undefined && typeof limit !== 'bigint')
    return `expected a limit in smallest units, got ${shown(limit)}`;
  if (slippageBps !== undefined && !isWholeBps(slippageBps))
    return `expected whole basis points of 0 to 10000 as slippage, got ${shown(slippageBps)}`;
  if (route !== undefined && route !== 'order' && route !== 'build')
    return `expected the route "order" or "build", got ${shown(route)}`;
  return key === undefined || typeof key === 'string' ? undefined : `expected a key as text, got ${shown(key)}`;
}

function isSize(size: unknown): boolean {
  if (typeof size === 'bigint' || size === 'all') return true;
  return typeof size === 'object' && size !== null && 'fraction' in size && Number.isFinite(size.fraction);
}

function isWholeBps(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 10_000;
}

function alertFault({ level, message, data }: Readonly<Record<keyof AlertProposal, unknown>>): string | undefined {
  if (typeof level !== 'string' || typeof message !== 'string') return 'expected a level and a message as text';
  if (data === undefined) return undefined;
  if (typeof data !== 'object' || data === null) return `expected named values as data, got ${shown(data)}`;
  const odd = Object.entries(data).find(([, item]) => !isPlain(item));
  return odd === undefined ? undefined
    : `expected text, a finite number or a truth value as data.${odd[0]}, got ${shown(odd[1])}`;
}

function isPlain(value: unknown): boolean {
  return value === null || value === undefined || ['string', 'boolean', 'bigint'].includes(typeof value)
    || Number.isFinite(value);
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 60);
}
