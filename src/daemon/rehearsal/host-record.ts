import type { Json } from '../../core/json.ts';
import { medianOf } from '../../core/median.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { HostAnswer } from '../../service/transport.ts';
import { BUILD_MEMBERS } from '../../service/wire/build-answer.ts';
import type { Dialect } from '../../service/wire/dialect.ts';
import type { HostProfile } from '../../service/wire/host-profile.ts';
import { ORDER_MEMBERS } from '../../service/wire/order-answer.ts';
import { membersOf } from '../../service/wire/read.ts';
import { createAddresses } from '../../solana/addresses.ts';
import { NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM, programName } from '../../solana/constants.ts';
import { readTransaction } from '../../solana/transaction.ts';
import type { Route } from '../../trading/proposal.ts';
import type { NodeTraits } from './node-traits.ts';

/** Learns a host from its answers and transactions. No key, address of a wallet or token of access is kept. */
export interface HostRecord {
  /** Takes an answer of the service. */
  heard(answer: HostAnswer): void;
  /** Takes an unsigned transaction, with the programs whose swap the signer could read. */
  saw(transaction: Uint8Array, about: {
    readonly route: Route; readonly wallet: string; readonly isRead: (program: string) => boolean;
  }): void;
  /** Returns what was learned; undefined where the host has answered for no route. */
  profile(about: {
    readonly host: string; readonly dialect: string; readonly at: Millis; readonly node: NodeTraits;
  }): HostProfile | undefined;
}

type Rounding = HostProfile['rounding']['order'];

const BPS = 10_000n;
/** What stands in some answers alone: of failures, of makers, and of options that were not asked for. */
const CONDITIONAL: ReadonlySet<string> = new Set([
  'errorCode', 'errorMessage', 'error', 'maker', 'expireAt', 'quoteId', 'referralAccount', 'cleanupInstruction',
]);
const MOST_LISTED = 64;
const MOST_CHARACTERS = 64;
/** The System program's Transfer: its tag, then the lamports. */
const TRANSFER_TAG = 2;
const TRANSFER_BYTES = 12;

/** Returns an empty record of a host that speaks a dialect. */
export function createHostRecord({ toWire, fromWire }: Pick<Dialect, 'toWire' | 'fromWire'>): HostRecord {
  const addresses = createAddresses();
  const paths: Readonly<Record<Route, string>> =
    { order: toWire.path('/swap/v2/order'), build: toWire.path('/swap/v2/build') };
  const seen: Readonly<Record<Route, { names: Set<string>; roundings: Set<Rounding>; tookMs: Millis[] }>> =
    { order: emptySeen(), build: emptySeen() };
  const percents = new Set<HostProfile['percent']>();
  const impacts = new Set<HostProfile['price_impact']>();
  const programs = new Map<string, { layout: string | null; routes: Set<Route> }>();
  const receivers = new Set<string>();
  /** Of one transaction. */
  let mostTipLamports = 0n;
  let requests: number | undefined;
  let longestResetMs: Millis = 0;

  return {
    heard({ path, json, limits, tookMs }) {
      requests = limits?.limit ?? requests;
      longestResetMs = Math.max(longestResetMs, limits?.resetInMs ?? 0);
      const route = (['order', 'build'] as const).find((each) => paths[each] === path);
      if (route === undefined) return;
      const members = membersOf(fromWire.json(json));
      const about = seen[route];
      about.tookMs.push(tookMs);
      for (const name of Object.keys(members)) about.names.add(name);
      about.roundings.add(roundingOf(members));
      for (const percent of percentsOf(members)) percents.add(percent);
      impacts.add(impactOf(members));
    },
    saw(transaction, { route, wallet, isRead }) {
      const { accountKeys, header, instructions } = readTransaction(transaction);
      const keyOf = (index: number): string | undefined =>
        (index < accountKeys.length ? addresses.addressOf(accountKeys[index]!) : undefined);
      for (const { programIndex, data } of instructions) {
        const program = keyOf(programIndex)!;
        if (programName(program) !== program || programs.size >= MOST_LISTED) continue;
        const known = programs.get(program) ?? { layout: null, routes: new Set<Route>() };
        known.layout ??= isRead(program) ? Buffer.from(data.subarray(0, 8)).toString('hex') : null;
        known.routes.add(route);
        programs.set(program, known);
      }
      if (route === 'build') return;
      const own = addresses.associated(wallet, NATIVE_MINT, TOKEN_PROGRAM);
      // Who signs beside the wallet gets rent that it lent, or the input of its quote: no tip.
      const signers = accountKeys.slice(0, header.requiredSignatures).map(addresses.addressOf);
      let tipLamports = 0n;
      for (const { programIndex, accountIndexes, data } of instructions) {
        const [from, to] = [keyOf(accountIndexes[0]!), keyOf(accountIndexes[1]!)];
        if (keyOf(programIndex) !== SYSTEM_PROGRAM || data.length !== TRANSFER_BYTES || data[0] !== TRANSFER_TAG)
          continue;
        if (from !== wallet || to === undefined || to === own || signers.includes(to)) continue;
        tipLamports += Buffer.from(data).readBigUInt64LE(4);
        receivers.add(to);
      }
      if (tipLamports > mostTipLamports) mostTipLamports = tipLamports;
    },
    profile({ host, dialect, at, node: { latencyMs, ...node } }) {
      if (seen.order.names.size + seen.build.names.size === 0) return undefined;
      return {
        format: 1, host, dialect, recorded_at: new Date(at).toISOString(),
        rounding: { order: only(seen.order.roundings, 'unknown'), build: only(seen.build.roundings, 'unknown') },
        tip: { lamports: mostTipLamports.toString(), receivers: [...receivers].slice(0, MOST_LISTED) },
        percent: percents.has('fraction') ? 'fraction' : only(percents, 'unknown'),
        price_impact: only(impacts, 'unknown'),
        programs: [...programs].map(([program, { layout, routes }]) => ({ program, layout, routes: [...routes] })),
        members: { order: difference(seen.order.names, ORDER_MEMBERS),
          build: difference(seen.build.names, BUILD_MEMBERS) },
        // After the first request of a window its reset is the whole window away; the headers count in seconds.
        limits: {
          requests: requests ?? null, window_ms: longestResetMs > 0 ? Math.ceil(longestResetMs / 1_000) * 1_000 : null,
        },
        latency_ms: { order: medianOf(seen.order.tookMs), build: medianOf(seen.build.tookMs), node: latencyMs ?? null },
        node: {
          genesis_hash: node.genesisHash ?? null,
          version: node.version === undefined ? null : printable(node.version, MOST_CHARACTERS),
          transaction_version: node.transactionVersion ?? null, websocket: node.hasWebsocket ?? null,
        },
      };
    },
  };
}

function emptySeen(): { names: Set<string>; roundings: Set<Rounding>; tookMs: Millis[] } {
  return { names: new Set(), roundings: new Set(), tookMs: [] };
}

/** The one known value; `otherwise` where there is none, or where they contradict each other. */
function only<T extends string>(values: ReadonlySet<T | 'unknown'>, otherwise: T): T {
  const [first, second] = [...values].filter((value): value is T => value !== 'unknown');
  return first === undefined || second !== undefined ? otherwise : first;
}

type Members = Readonly<Record<string, Json>>;

/** Which rounding gives the stated threshold; unknown where both give the same. */
function roundingOf({ outAmount, otherAmountThreshold, slippageBps }: Members): Rounding {
  if (!isWhole(outAmount) || !isWhole(otherAmountThreshold) || !isWhole(slippageBps)) return 'unknown';
  const [out, least, bps] = [BigInt(outAmount), BigInt(otherAmountThreshold), BigInt(slippageBps)];
  const down = out * (BPS - bps) / BPS;
  const up = out - out * bps / BPS;
  if (down === up) return 'unknown';
  return least === down ? 'down' : least === up ? 'up' : 'unknown';
}

function isWhole(value: Json | undefined): value is string | number | bigint {
  return (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    && /^\d{1,20}$/.test(String(value));
}

function percentsOf({ routePlan }: Members): readonly HostProfile['percent'][] {
  if (!Array.isArray(routePlan)) return [];
  return (routePlan as readonly Json[]).map((step) => {
    const { percent } = membersOf(step);
    if (percent === undefined || percent === null) return 'absent';
    return Number.isInteger(Number(percent)) ? 'integer' : 'fraction';
  });
}

/** By the older name, which is a fraction: a host of points states a hundred times of it. */
function impactOf({ priceImpact, priceImpactPct }: Members): HostProfile['price_impact'] {
  const [newer, older] = [Number(priceImpact ?? NaN), Number(priceImpactPct ?? NaN)].map(Math.abs) as [number, number];
  if (!(newer > 0) || !(older > 0)) return 'unknown';
  return Math.abs(newer - older) <= older / 10 ? 'fraction'
    : Math.abs(newer / 100 - older) <= older / 10 ? 'points' : 'unknown';
}

function difference(names: ReadonlySet<string>, known: readonly string[]): HostProfile['members']['order'] {
  if (names.size === 0) return { absent: [], extra: [] };
  return {
    absent: known.filter((name) => !names.has(name) && !CONDITIONAL.has(name)),
    extra: [...names].filter((name) => !known.includes(name)).map((name) => printable(name, MOST_CHARACTERS))
      .slice(0, MOST_LISTED),
  };
}
