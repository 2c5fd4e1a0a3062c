import { grouped } from '../core/counted.ts';

/** Returns counts for people, "3 confirmed, 1 expired"; "none" without any. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${grouped(String(count))} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
