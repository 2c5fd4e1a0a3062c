const BPS = 10_000;

/** Returns half of what lies between a price that is asked and one that is bid, in bps of the middle, which is their geometric mean; 0 where they cross. Undefined where one of them is none. */
export function halfSpreadBps(bid: number | null | undefined, ask: number | null | undefined): number | undefined {
  return typeof bid === 'number' && typeof ask === 'number' && bid > 0 && ask > 0 ? Math.max(0, (1 - Math.sqrt(bid / ask)) * BPS) : undefined;
}
