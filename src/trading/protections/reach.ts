import type { Protection, ProtectionScope } from '../protection.ts';

/** How many of each list the protections of a scope look at. */
export interface Reach {
  readonly exits: number;
  readonly failures: number;
  readonly unknowns: number;
}

export type Reaches = Readonly<Record<ProtectionScope, Reach>>;

/** Returns how far back the protections of each scope look. */
export function reachesOf(protections: readonly Protection[]): Reaches {
  return {
    strategy: reachOf(protections, 'strategy'), token: reachOf(protections, 'token'),
    global: reachOf(protections, 'global'),
  };
}

function reachOf(protections: readonly Protection[], scope: ProtectionScope): Reach {
  const reach = { exits: 0, failures: 0, unknowns: 0 };
  for (const { trigger, scope: own } of protections) {
    if (own !== scope) continue;
    if (trigger.kind === 'loss-streak') reach.exits = Math.max(reach.exits, trigger.losses);
    if (trigger.kind === 'low-profit') reach.exits = Math.max(reach.exits, trigger.trades);
    if (trigger.kind === 'error-rate') reach.failures = Math.max(reach.failures, trigger.failures);
    if (trigger.kind === 'blind-execution') reach.unknowns = Math.max(reach.unknowns, trigger.unknowns);
  }
  return reach;
}
