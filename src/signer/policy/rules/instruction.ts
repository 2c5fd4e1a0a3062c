import type { Decoded } from '../decode/decoded.ts';
import type { Review } from '../review.ts';
import { judgeLamportTransfer, judgeSeededAccount } from './lamports.ts';
import { judgeSwap } from './swap.ts';
import { judgeClose, judgeInitializing, judgeOpening, judgeTokenTransfer } from './tokens.ts';

/** Judges one instruction after all those before it, and enters it into the ledger. */
export function judgeInstruction(review: Review, index: number, decoded: Decoded): void {
  switch (decoded.kind) {
    case 'refused':
      review.deny(decoded.code, index, decoded.what);
      return;
    case 'budget':
      if (review.ledger.budget.has(decoded.setting)) review.deny('BUDGET_INVALID', index, `sets the ${decoded.setting} a second time`);
      review.ledger.budget.set(decoded.setting, decoded.value);
      return;
    case 'transfer-lamports':
      judgeLamportTransfer(review, index, decoded);
      return;
    case 'open-seeded':
      judgeSeededAccount(review, index, decoded);
      return;
    case 'transfer-tokens':
      judgeTokenTransfer(review, index, decoded);
      return;
    case 'close-token':
      judgeClose(review, index, decoded);
      return;
    case 'open-associated':
      judgeOpening(review, index, decoded);
      return;
    case 'initialize-token':
      judgeInitializing(review, index, decoded);
      return;
    case 'swap':
      judgeSwap(review, index, decoded);
      return;
    case 'opaque':
      review.ledger.opaque.push({ index, program: decoded.program });
      return;
    // Neither counts what is there already nor says something can do harm.
    case 'sync-native':
    case 'memo':
      return;
  }
}
