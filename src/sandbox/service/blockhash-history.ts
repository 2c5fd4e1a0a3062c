import type { LatestBlockhash } from '../chain/blocks.ts';

/** The blockhashes of the last slots, so that a transaction can expire earlier than with a fresh one. */
export interface BlockhashHistory {
  add(latest: LatestBlockhash): void;
  /** Returns the youngest blockhash that expires within `slots` blocks, or the oldest known one. */
  expiringWithin(options: { slots: number; blockHeight: number }): LatestBlockhash;
}

const KEPT = 160;

/** Returns an empty history. */
export function createBlockhashHistory(): BlockhashHistory {
  const entries: LatestBlockhash[] = [];
  return {
    add(latest) {
      if (entries.at(-1)?.blockhash === latest.blockhash) return;
      entries.push(latest);
      if (entries.length > KEPT) entries.shift();
    },
    expiringWithin({ slots, blockHeight }) {
      const valid = entries.filter(({ lastValidBlockHeight }) => lastValidBlockHeight > blockHeight);
      const fitting = valid.findLast(({ lastValidBlockHeight }) => lastValidBlockHeight - blockHeight <= slots);
      const chosen = fitting ?? valid[0];
      if (chosen === undefined) throw new RangeError(`no blockhash is valid at height ${blockHeight}`);
      return chosen;
    },
  };
}
