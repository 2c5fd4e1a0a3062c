import type { Amount } from '../core/amount.ts';
import { parseRaw } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { SpendCap, StrategyLimits, ValueLimit } from '../trading/limits.ts';
import type { ExitPlan, ExitRules } from '../trading/positions/exit-plan.ts';

/** An amount of a token in a record, smallest units as text. */
export interface ValueRecord {
  readonly mint: string;
  readonly amount: string;
}

/** The signer's caps of one token, smallest units as text. */
export interface CapRecord {
  readonly per_trade: string | null;
  readonly per_hour: string | null;
  readonly per_day: string | null;
}

/** Returns caps as plain data. */
export function recordCaps(caps: ReadonlyMap<Mint, SpendCap>): Record<string, CapRecord> {
  return Object.fromEntries([...caps].map(([mint, { perTrade, perHour, perDay }]) => [mint, {
    per_trade: perTrade?.toString() ?? null, per_hour: perHour?.toString() ?? null, per_day: perDay?.toString() ?? null,
  }]));
}

/** Returns the caps of a record. */
export function readCap({ per_trade: perTrade, per_hour: perHour, per_day: perDay }: CapRecord): SpendCap {
  return { perTrade: readRaw(perTrade), perHour: readRaw(perHour), perDay: readRaw(perDay) };
}

function readRaw(text: string | null): Amount | undefined {
  return text === null ? undefined : parseRaw(text);
}

/** Returns the record of an amount. */
export function recordValue(limit: ValueLimit | undefined): ValueRecord | null {
  return limit === undefined ? null : writeValue(limit);
}

/** Returns the amount of a record. */
export function readValue(record: ValueRecord | null): ValueLimit | undefined {
  return record === null ? undefined : parseValue(record);
}

/** Returns an amount of a token as plain data. */
export function writeValue({ mint, amount }: ValueLimit): ValueRecord {
  return { mint, amount: amount.toString() };
}

/** Returns the amount of a token from plain data. */
export function parseValue({ mint, amount }: ValueRecord): ValueLimit {
  return { mint: mint as Mint, amount: parseRaw(amount) };
}

/** Exit rules as plain data of a manifest. */
export interface ExitRecord {
  readonly rules: ExitRules;
  readonly watch: readonly {
    readonly input_mint: string; readonly output_mint: string; readonly amount: string; readonly every_ms: Millis;
  }[];
}

/** Returns exit rules as plain data; null without any. */
export function recordExits(plan: ExitPlan | undefined): ExitRecord | null {
  return plan === undefined ? null : {
    rules: plan.rules,
    watch: plan.feeds.flatMap((spec) => (spec.kind === 'quote' ? [{
      input_mint: spec.inputMint, output_mint: spec.outputMint, amount: spec.amount.toString(), every_ms: spec.everyMs,
    }] : [])),
  };
}

/** Returns the exit rules that `recordExits` wrote; undefined in records of earlier versions. */
export function readExits(record: ExitRecord | null | undefined): ExitPlan | undefined {
  return record === null || record === undefined ? undefined : {
    rules: record.rules,
    feeds: record.watch.map(({ input_mint: inputMint, output_mint: outputMint, amount: size, every_ms: everyMs }) => ({
      kind: 'quote', inputMint: inputMint as Mint, outputMint: outputMint as Mint, amount: parseRaw(size), everyMs,
    })),
  };
}

/** Returns the limits of one strategy for an identity, without the exits and the route that are not configured. */
export function recordStrategyLimits({ maxAgeMs, maxExposure, exits, route }: StrategyLimits): Record<string, unknown> {
  return {
    max_age_ms: maxAgeMs, max_exposure: recordValue(maxExposure),
    ...(exits === undefined ? {} : { exits: recordExits(exits) }), ...(route === undefined ? {} : { route }),
  };
}
