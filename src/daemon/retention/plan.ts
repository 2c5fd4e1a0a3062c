import type { RetentionConfig } from '../../config/operations/retention-config.ts';
import type { Millis } from '../../core/time.ts';
import type { Inventory, Piece, PieceKind } from './inventory.ts';

/** Why a piece is deleted: it is too old, its kind or everything together is too large, or the disk is nearly full. */
export type PruneReason = 'age' | 'size' | 'budget' | 'disk';

/** A piece to delete. */
interface PlannedPiece {
  readonly piece: Piece;
  readonly reason: PruneReason;
}

/** What is deleted, and what stays too large after it. */
export interface PrunePlan {
  /** In the order of deletion. */
  readonly pieces: readonly PlannedPiece[];
  readonly freedBytes: number;
  /** The bytes over the budget that nothing may be deleted for; 0 where it is met. */
  readonly overBudgetBytes: number;
}

const KINDS: readonly PieceKind[] = ['recordings', 'runs', 'logs'];

/**
 * Returns what is deleted of an inventory: what is too old, then the oldest of each kind that is too large, then the
 * oldest of all while the total is over the budget or the disk lacks `neededBytes`. Pinned pieces stay.
 */
export function planPruning(
  { pieces, usage }: Inventory, config: RetentionConfig,
  { now, neededBytes = 0 }: { readonly now: Millis; readonly neededBytes?: number | undefined },
): PrunePlan {
  const chosen = new Map<Piece, PruneReason>();
  let freedBytes = 0;
  const choose = (piece: Piece, reason: PruneReason): void => {
    chosen.set(piece, reason);
    freedBytes += piece.bytes;
  };
  const free = pieces.filter(({ pinned }) => pinned === undefined);
  for (const piece of free) if (piece.until <= now - config[piece.kind].maxAgeMs) choose(piece, 'age');
  for (const kind of KINDS) {
    let bytes = pieces.filter((piece) => piece.kind === kind && !chosen.has(piece))
      .reduce((sum, piece) => sum + piece.bytes, 0);
    for (const piece of free) {
      if (bytes <= config[kind].maxBytes) break;
      if (piece.kind !== kind || chosen.has(piece)) continue;
      choose(piece, 'size');
      bytes -= piece.bytes;
    }
  }
  for (const piece of free) {
    const isOver = usage.total - freedBytes > config.budgetBytes;
    if (!isOver && freedBytes >= neededBytes) break;
    if (!chosen.has(piece)) choose(piece, isOver ? 'budget' : 'disk');
  }
  return {
    pieces: pieces.flatMap((piece) => {
      const reason = chosen.get(piece);
      return reason === undefined ? [] : [{ piece, reason }];
    }),
    freedBytes,
    overBudgetBytes: Math.max(0, usage.total - freedBytes - config.budgetBytes),
  };
}
