import { assert } from '../../core/assert.ts';
import type { DenialCode } from '../denials.ts';
import type { Protection } from '../protection.ts';
import type { ProtectionKind } from './catalogue.ts';
import { PROTECTIONS, protectionFault } from './catalogue.ts';

/** A configured protection with its place among those of its kind and scope, by which a restart finds it again. */
export interface ProtectionRule {
  readonly protection: Protection;
  readonly code: DenialCode;
  /** `<kind>:<scope>`. */
  readonly family: string;
  /** From 1, within the family. */
  readonly number: number;
  /** Whether prices or time alone can bring it on; the others come on with what we do. */
  readonly isTimely: boolean;
  /** Whether nothing but what is noted of its subject can bring it on. */
  readonly isOfSwaps: boolean;
  /** Of `max-drawdown`, in millionths of the highest: the least loss that brings it on. */
  readonly drawdownLimit: bigint;
}

const TIMELY: ReadonlySet<ProtectionKind> =
  new Set(['max-drawdown', 'daily-loss', 'stale-feed', 'unresolved-intent', 'dead-man']);
const OF_EQUITY: ReadonlySet<ProtectionKind> = new Set(['max-drawdown', 'daily-loss']);

/** Returns what is configured, each with its place. Throws on what cannot be carried out as asked. */
export function rulesOf(protections: readonly Protection[]): ProtectionRule[] {
  const counts = new Map<string, number>();
  return protections.map((protection) => {
    const fault = protectionFault(protection);
    assert(fault === undefined, () => fault ?? '');
    const { trigger: { kind }, scope } = protection;
    const family = `${kind}:${scope}`;
    const number = (counts.get(family) ?? 0) + 1;
    counts.set(family, number);
    const isTimely = TIMELY.has(kind);
    return {
      protection, code: PROTECTIONS[kind].code, family, number, isTimely,
      isOfSwaps: !isTimely && kind !== 'reconciliation-mismatch', drawdownLimit: drawdownLimitOf(protection),
    };
  });
}

/** A limit that is no number holds nothing: whatever was lost is too much then. */
function drawdownLimitOf({ trigger }: Protection): bigint {
  return trigger.kind === 'max-drawdown' && Number.isFinite(trigger.limitPct)
    ? BigInt(Math.round(trigger.limitPct * 10_000)) : 0n;
}

/** Returns whether a protection depends on what things are worth. */
export function isOfEquity({ trigger: { kind } }: Protection): boolean {
  return OF_EQUITY.has(kind);
}
