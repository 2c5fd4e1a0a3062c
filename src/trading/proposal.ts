import type { Amount, Bps } from '../core/amount.ts';
import { messageOf } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';

/** How a swap reaches the chain: assembled by the service and landed by it, or built here and landed through an RPC. */
export type Route = 'order' | 'build';

/** The amount to spend: smallest units, all that this strategy has, or a fraction of it in (0, 1]. */
export type Size = Amount | 'all' | { readonly fraction: number };

/** When a refused proposal is made again; both are times of the engine's clock. */
export interface Retry {
  /** The last try; the refusal counts from then on. */
  readonly until: Millis;
  readonly everyMs: Millis;
}

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
  /** Free text of the strategy, such as the level of a grid. Outcomes and denials carry it back. */
  readonly tag?: string | undefined;
  /** How a refusal that passes by itself is waited for. Needs a key, so that no restart can lead to two swaps. */
  readonly retry?: Retry | undefined;
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

/** The longest texts of a proposal, in characters, and the most values of an alert. */
const TEXT_MAX = 2_000;
const KEY_MAX = 200;
const TAG_MAX = 200;
const RETRY_EVERY_MIN_MS = 1_000;
const RETRY_EVERY_MAX_MS = 86_400_000;
const MINT_MAX = 64;
const DATA_MAX = 50;
/** No token has larger amounts; the bound keeps a number from filling the memory. */
const AMOUNT_BITS = 128;
const SHOWN_MAX = 200;

/**
 * Returns a proposal as plain data of its known members, or the fault of an invalid one. Types cannot exclude every
 * fault of a strategy's arithmetic: a NaN in a size or in an alert's data could neither be compared nor serialised.
 * Each member is read once, so that no later read can differ.
 */
export function readProposal(value: unknown): Proposal | string {
  try {
    return readMembers(value);
  } catch (error) {
    // A getter, or a proxy that was revoked.
    return `expected a proposal, reading one failed: ${messageOf(error).slice(0, SHOWN_MAX)}`;
  }
}

function readMembers(value: unknown): Proposal | string {
  if (typeof value !== 'object' || value === null) return `expected a proposal, got ${shown(value)}`;
  const { kind } = value as { kind?: unknown };
  if (kind === 'swap') return readSwap(value as Readonly<Record<keyof SwapProposal, unknown>>);
  if (kind === 'alert') return readAlert(value as Readonly<Record<keyof AlertProposal, unknown>>);
  return `expected a proposal of kind "swap" or "alert", got ${shown(kind)}`;
}

function readSwap(
  { inputMint, outputMint, amount, limit, slippageBps, route, reason, key, tag, retry }:
  Readonly<Record<keyof SwapProposal, unknown>>,
): SwapProposal | string {
  if (typeof inputMint !== 'string' || typeof outputMint !== 'string' || typeof reason !== 'string')
    return 'expected mints and a reason as text';
  const long = tooLong('inputMint', inputMint, MINT_MAX) ?? tooLong('outputMint', outputMint, MINT_MAX)
    ?? tooLong('reason', reason, TEXT_MAX);
  if (long !== undefined) return long;
  const size = readSize(amount);
  if (size === undefined) return 'expected an amount in smallest units, "all", or a finite fraction';
  if (limit !== undefined && !isAmount(limit)) return `expected a limit in smallest units, got ${shown(limit)}`;
  if (slippageBps !== undefined && !isWholeBps(slippageBps))
    return `expected whole basis points of 0 to 10000 as slippage, got ${shown(slippageBps)}`;
  if (route !== undefined && route !== 'order' && route !== 'build')
    return `expected the route "order" or "build", got ${shown(route)}`;
  if (key !== undefined && typeof key !== 'string') return `expected a key as text, got ${shown(key)}`;
  if (tag !== undefined && typeof tag !== 'string') return `expected a tag as text, got ${shown(tag)}`;
  const again = retry === undefined ? undefined : readRetry(retry, key);
  if (typeof again === 'string') return again;
  return (key === undefined ? undefined : tooLong('key', key, KEY_MAX))
    ?? (tag === undefined ? undefined : tooLong('tag', tag, TAG_MAX)) ?? {
    kind: 'swap', inputMint: inputMint as Mint, outputMint: outputMint as Mint, amount: size, reason,
    ...(limit === undefined ? {} : { limit: limit as Amount }),
    ...(slippageBps === undefined ? {} : { slippageBps }),
    ...(route === undefined ? {} : { route }),
    ...(key === undefined ? {} : { key }),
    ...(tag === undefined ? {} : { tag }),
    ...(again === undefined ? {} : { retry: again }),
  };
}

function readRetry(retry: unknown, key: unknown): Retry | string {
  if (typeof retry !== 'object' || retry === null) return `expected a retry policy, got ${shown(retry)}`;
  const { until, everyMs } = retry as Readonly<Record<keyof Retry, unknown>>;
  if (!isWholeBetween(until, 0, Number.MAX_SAFE_INTEGER))
    return `expected the end of retries as a time, got ${shown(until)}`;
  if (!isWholeBetween(everyMs, RETRY_EVERY_MIN_MS, RETRY_EVERY_MAX_MS))
    return `expected retries every 1s to 24h, got ${shown(everyMs)} ms`;
  return key === undefined ? 'expected a key beside a retry policy: without one a restart could swap twice'
    : { until, everyMs };
}

function isWholeBetween(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

function readSize(size: unknown): Size | undefined {
  if (size === 'all') return size;
  if (isAmount(size)) return size as Amount;
  if (typeof size !== 'object' || size === null || !('fraction' in size)) return undefined;
  const { fraction } = size;
  return typeof fraction === 'number' && Number.isFinite(fraction) ? { fraction } : undefined;
}

function isAmount(value: unknown): value is bigint {
  return typeof value === 'bigint' && BigInt.asIntN(AMOUNT_BITS, value) === value;
}

function isWholeBps(value: unknown): value is Bps {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 10_000;
}

function tooLong(name: string, text: string, most: number): string | undefined {
  return text.length <= most ? undefined : `expected a ${name} of at most ${most} characters, got ${text.length}`;
}

const LEVELS: ReadonlySet<unknown> = new Set<AlertLevel>(['info', 'warning', 'critical']);

function readAlert(
  { level, message, data }: Readonly<Record<keyof AlertProposal, unknown>>,
): AlertProposal | string {
  if (!LEVELS.has(level) || typeof message !== 'string')
    return 'expected the level "info", "warning" or "critical", and a message as text';
  const read = data === undefined ? {} : readData(data);
  if (typeof read === 'string') return read;
  return tooLong('message', message, TEXT_MAX)
    ?? { kind: 'alert', level: level as AlertLevel, message, ...(data === undefined ? {} : { data: read }) };
}

function readData(data: unknown): NonNullable<AlertProposal['data']> | string {
  if (typeof data !== 'object' || data === null) return `expected named values as data, got ${shown(data)}`;
  const entries = Object.entries(data);
  if (entries.length > DATA_MAX) return `expected at most ${DATA_MAX} values as data, got ${entries.length}`;
  const odd = entries.find(([, item]) => !isPlain(item));
  if (odd !== undefined)
    return `expected text, a finite number or a truth value as data.${odd[0].slice(0, KEY_MAX)}, got ${shown(odd[1])}`;
  const long = entries.find(([name, item]) =>
    name.length > KEY_MAX || (typeof item === 'string' && item.length > TEXT_MAX));
  return long === undefined ? Object.fromEntries(entries)
    : `expected names of at most ${KEY_MAX} and texts of at most ${TEXT_MAX} characters as data`;
}

function isPlain(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean'
    || isAmount(value) || Number.isFinite(value);
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 60);
}
