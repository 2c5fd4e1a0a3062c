import type { HostProfile } from '../../service/wire/host-profile.ts';
import { isAddress } from '../chain/addresses.ts';
import type { RateLimit } from './http/rate-limit.ts';

/** Whether answers follow the service's description or the observed live service where the two differ. */
export const PROFILES = ['reference', 'live'] as const;
export type Profile = (typeof PROFILES)[number];

/** How the share of a route's step is written. */
export type PercentForm = 'integer' | 'fraction' | 'absent';

/** The tips that the service adds to orders by itself. */
interface OwnTips {
  readonly largestLamports: bigint;
  /** The accounts that receive them, beside the sandbox's own. */
  readonly receivers: readonly string[];
}

/** What a host does where the service's description leaves it open, or says something else. */
export interface HostTraits {
  /** Whether the least output of a route is rounded up. */
  readonly roundsUp: { readonly order: boolean; readonly build: boolean };
  /** Undefined where the service adds none. */
  readonly tips: OwnTips | undefined;
  readonly percent: PercentForm;
  /** Whether `priceImpact` counts in percentage points. */
  readonly impactInPoints: boolean;
  /** Members that answers leave out, nested ones with points between the names. */
  readonly absent: { readonly order: readonly string[]; readonly build: readonly string[] };
  /** Whether the public aggregator, programs without a known layout, and tokens with a transfer fee exist. */
  readonly hasForeignPrograms: boolean;
  /** Whether strangers send the wallet something now and then. */
  readonly hasStrangers: boolean;
  /** Undefined where the host's answers state no limit. */
  readonly limit: RateLimit | undefined;
  /** How long answers take in addition, in milliseconds. */
  readonly latencyMs: { readonly order: number; readonly build: number; readonly node: number };
  readonly node: {
    /** The newest transaction version that it answers for. */
    readonly transactionVersion: number;
    readonly hasWebsocket: boolean;
  };
}

/** The newest version that the network carries. */
const NEWEST_VERSION = 1;
/** No amounts of automatic tips are public. This is what the signer allows by default. */
const USUAL_TIPS: OwnTips = { largestLamports: 100_000n, receivers: [] };
/** A delay of a file is not believed beyond this. */
const LONGEST_DELAY_MS = 60_000;
const LONGEST_WINDOW_MS = 86_400_000;

const REFERENCE: HostTraits = {
  roundsUp: { order: false, build: false }, tips: undefined, percent: 'integer', impactInPoints: false,
  absent: { order: [], build: [] }, hasForeignPrograms: false, hasStrangers: false, limit: undefined,
  latencyMs: { order: 0, build: 0, node: 0 }, node: { transactionVersion: NEWEST_VERSION, hasWebsocket: true },
};

// What is known and what is assumed stands in docs/sandbox.md. D-365
const LIVE: HostTraits = {
  ...REFERENCE, roundsUp: { order: false, build: true }, tips: USUAL_TIPS, percent: 'fraction', impactInPoints: true,
  hasForeignPrograms: true, hasStrangers: true,
};

/** Returns the traits of a profile; those that a host's file states replace the ones of `live`. */
export function traitsOf(profile: Profile, host?: HostProfile): HostTraits {
  if (host === undefined) return profile === 'live' ? LIVE : REFERENCE;
  const { rounding, percent, price_impact: impact, members, limits, latency_ms: latency, node } = host;
  return {
    ...LIVE,
    roundsUp: {
      order: rounding.order === 'unknown' ? LIVE.roundsUp.order : rounding.order === 'up',
      build: rounding.build === 'unknown' ? LIVE.roundsUp.build : rounding.build === 'up',
    },
    tips: tipsOf(host.tip),
    percent: percent === 'unknown' ? LIVE.percent : percent,
    impactInPoints: impact === 'unknown' ? LIVE.impactInPoints : impact === 'points',
    absent: { order: members.order.absent, build: members.build.absent },
    limit: limitOf(limits),
    latencyMs: { order: delayOf(latency.order), build: delayOf(latency.build), node: delayOf(latency.node) },
    node: {
      transactionVersion: node.transaction_version ?? NEWEST_VERSION, hasWebsocket: node.websocket ?? true,
    },
  };
}

function tipsOf({ lamports, receivers }: HostProfile['tip']): OwnTips | undefined {
  const seen = BigInt(lamports);
  if (seen === 0n) return undefined;
  // More than the service's own accounts hold cannot be paid.
  const largestLamports = seen < 1_000_000_000n ? seen : 1_000_000_000n;
  return { largestLamports, receivers: receivers.filter(isAddress) };
}

function limitOf({ requests, window_ms: windowMs }: HostProfile['limits']): RateLimit | undefined {
  if (requests === null || windowMs === null) return undefined;
  const count = Math.max(1, Math.floor(requests));
  return {
    kind: 'fixed', requests: Math.min(count, LONGEST_WINDOW_MS), executeRequests: Math.min(count, LONGEST_WINDOW_MS),
    windowMs: Math.min(Math.max(1, Math.round(windowMs)), LONGEST_WINDOW_MS), headers: true,
  };
}

function delayOf(ms: number | null): number {
  return Math.min(ms ?? 0, LONGEST_DELAY_MS);
}

/** Returns an answer without the members at some paths; a list on the way is followed into each of its elements. */
export function withoutMembers<Value>(value: Value, paths: readonly string[]): Value {
  if (paths.length === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => withoutMembers(element, paths)) as Value;
  const within = (name: string): string[] => paths.filter((path) => path.startsWith(`${name}.`))
    .map((path) => path.slice(name.length + 1));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !paths.includes(name))
    .map(([name, inner]: [string, unknown]) => [name, withoutMembers(inner, within(name))])) as Value;
}
