import type { Decoded } from '../decode/decoded.ts';
import { NATIVE_MINT } from '../known-programs.ts';
import type { Review } from '../review.ts';

/**
 * Judges where the accounts stand that decide whose the money is. A table is a node's word: one that lies about a pool
 * makes the transaction fail, one that lies about who is paid would have the wallet pay a stranger.
 */
export function judgeWritten(review: Review, decoded: readonly Decoded[]): void {
  const { loaded } = review.transaction;
  if (loaded.size === 0) return;
  for (const [index, instruction] of decoded.entries()) {
    const hidden = reliedOn(review, instruction).find((account) => loaded.has(account));
    if (hidden !== undefined) review.deny('ACCOUNT_IN_TABLE', index, `${hidden} stands in a lookup table, where only a node says that it is it`);
  }
}

/** The accounts of an instruction by which the rules tell whose something is; what else it names its program checks by itself. */
function reliedOn({ expectation, beneficiary, ledger, isAssociated }: Review, instruction: Decoded): readonly string[] {
  const { wallet, maker } = expectation;
  switch (instruction.kind) {
    case 'swap': return [instruction.user, instruction.source, instruction.destination];
    case 'transfer-tokens': {
      const { source, destination, authority } = instruction;
      // Of what others give only the receiver matters, and a fee of ours may go anywhere: what bounds it is its amount.
      if (authority !== wallet) return [destination];
      return ledger.temporary.has(destination) ? [source, destination] : [source];
    }
    case 'transfer-lamports': {
      const { to } = instruction;
      return to === beneficiary || to === maker || isAssociated(to, wallet, NATIVE_MINT) ? [to] : [];
    }
    case 'close-token': return [instruction.account, instruction.destination];
    case 'open-associated': return [instruction.owner];
    case 'open-seeded':
    case 'initialize-token': return [instruction.account];
    case 'budget':
    case 'memo':
    case 'opaque':
    case 'refused':
    case 'sync-native': return [];
  }
}
