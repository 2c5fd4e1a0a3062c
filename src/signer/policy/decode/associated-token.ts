import type { Addresses } from '../addresses.ts';
import { isTokenProgram, SYSTEM_PROGRAM } from '../known-programs.ts';
import type { ResolvedInstruction } from '../resolve.ts';
import { refuse, unreadable, type Decoded } from './decoded.ts';

const CREATE = 0;
const CREATE_IDEMPOTENT = 1;

/** Returns what an instruction of the associated-token program does: it opens an account where the derivation puts it, or is refused. */
export function decodeAssociatedToken({ accounts, data }: ResolvedInstruction, { associated }: Pick<Addresses, 'associated'>): Decoded {
  const kind = data.length === 0 ? CREATE : data[0]!;
  if (kind !== CREATE && kind !== CREATE_IDEMPOTENT) return refuse('TOKEN_FORBIDDEN', 'moves what lies in an account that belongs to another account');
  const [payer, account, owner, mint, system, tokenProgram] = accounts;
  if (data.length > 1 || accounts.length !== 6 || payer === undefined || account === undefined || owner === undefined || mint === undefined || tokenProgram === undefined) {
    return unreadable(`associated account: expected at most 1 byte and 6 accounts, got ${data.length} bytes and ${accounts.length} accounts`);
  }
  if (system !== SYSTEM_PROGRAM) return unreadable(`associated account: expected the system program, got ${system}`);
  if (!isTokenProgram(tokenProgram)) return refuse('ATA_MISMATCH', `opens an account under ${tokenProgram}, which is no token program`);
  const derived = associated(owner, mint, tokenProgram);
  if (derived !== account) return refuse('ATA_MISMATCH', `opens ${account}, while the account of ${owner} for ${mint} is ${derived ?? 'nowhere'}`);
  return { kind: 'open-associated', payer, account, owner, mint, tokenProgram };
}
