import type { Mint } from '../../market/token.ts';
import type { EquityRecord, ProtectionMemory } from './memory.ts';
import { ALL } from './memory.ts';

/**
 * Books that a strategy was given so much of its budget's token, or that it was taken: neither is a profit or a loss.
 * In per cent it is as far under its peaks as before, and today it has lost as much as before.
 */
export function shiftEquity(memory: ProtectionMemory, strategy: string, mint: Mint, change: bigint): void {
  const own = memory.equity.get(strategy);
  if (own !== undefined && currencyOf(own) === mint) shift(own, change);
  const total = memory.equity.get(ALL);
  if (total === undefined) return;
  if (currencyOf(total) === mint) shift(total, change);
  // No price is known yet: with another basis it is carried over in proportion as soon as one is.
  else total.basis = currencyOf(total);
}

function shift(record: EquityRecord, change: bigint): void {
  const value = record.value + change;
  for (const heights of [record, ...record.anew.values()]) {
    heights.peak = record.value > 0n ? (heights.peak * value) / record.value : heights.peak + change;
    heights.dayStart += change;
  }
  record.value = value;
}

/** A basis begins with the token's mint. */
function currencyOf({ basis }: EquityRecord): string {
  return basis.split(' ', 1)[0]!;
}
