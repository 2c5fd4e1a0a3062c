import type { RoutePath } from './routing.ts';

/**
 * Accounts that a swap names beside its pools': program, user, source, destination, fee account, first mint and its
 * program.
 */
const FIXED_ACCOUNTS = 7;
/** Each hop's pool, two vaults, output mint and its program. */
const ACCOUNTS_PER_HOP = 5;

/** What a caller lets a route be made of. */
export interface RouteLimits {
  readonly dexes: readonly string[] | undefined;
  readonly excludeDexes: readonly string[] | undefined;
  readonly maxAccounts: number;
}

/** Returns whether a route keeps to its markets and names no more accounts in its swap than it may. */
export function keepsLimits(path: RoutePath, { dexes, excludeDexes, maxAccounts }: RouteLimits): boolean {
  if (FIXED_ACCOUNTS + ACCOUNTS_PER_HOP * path.length > maxAccounts) return false;
  return path.every(({ pool }) =>
    (dexes === undefined || dexes.includes(pool.label)) && excludeDexes?.includes(pool.label) !== true);
}
