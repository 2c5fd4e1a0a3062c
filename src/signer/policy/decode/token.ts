import type { Addresses } from '../addresses.ts';
import type { PolicyCode } from '../codes.ts';
import type { ResolvedInstruction } from '../resolve.ts';
import { refuse, unreadable, type Decoded } from './decoded.ts';

/** Kinds that the rules look at more closely; the numbers are the same in both token programs. */
const KIND = {
  initialize: 1, transfer: 3, close: 9, transferChecked: 12, initialize2: 16, syncNative: 17, initialize3: 18,
} as const;

/** Stands for an instruction without data. */
const NO_KIND = -1;

const FORBIDDEN: ReadonlyMap<number, readonly [code: PolicyCode, what: string]> = new Map([
  [0, ['TOKEN_FORBIDDEN', 'makes a mint']],
  [2, ['TOKEN_FORBIDDEN', 'makes an account of several signers']],
  [4, ['APPROVAL_FORBIDDEN', 'lets somebody spend']],
  [5, ['TOKEN_FORBIDDEN', 'takes back what somebody was let to spend']],
  [6, ['AUTHORITY_FORBIDDEN', 'changes an authority']],
  [7, ['TOKEN_FORBIDDEN', 'mints']],
  [8, ['TOKEN_FORBIDDEN', 'burns']],
  [10, ['TOKEN_FORBIDDEN', 'freezes an account']],
  [11, ['TOKEN_FORBIDDEN', 'thaws an account']],
  [13, ['APPROVAL_FORBIDDEN', 'lets somebody spend']],
  [14, ['TOKEN_FORBIDDEN', 'mints']],
  [15, ['TOKEN_FORBIDDEN', 'burns']],
]);

/**
 * Returns what an instruction of either token program does. What only extensions know (from 25 on), a batch of others,
 * several signers and further accounts are refused with all that is not needed for a swap.
 */
export function decodeToken(instruction: ResolvedInstruction, { addressOf }: Pick<Addresses, 'addressOf'>): Decoded {
  const { accounts, program: tokenProgram } = instruction;
  const data = Buffer.from(instruction.data.buffer, instruction.data.byteOffset, instruction.data.byteLength);
  const [first, second, third, fourth] = accounts as readonly [string, string, string, string];
  const hasForm = (bytes: number, places: number): boolean => data.length === bytes && accounts.length === places;
  const kind = data[0] ?? NO_KIND;
  switch (kind) {
    case KIND.transfer:
      if (!hasForm(9, 3)) break;
      return {
        kind: 'transfer-tokens', source: first, mint: undefined, destination: second, authority: third,
        amount: data.readBigUInt64LE(1), decimals: undefined, tokenProgram,
      };
    case KIND.transferChecked:
      if (!hasForm(10, 4)) break;
      return {
        kind: 'transfer-tokens', source: first, mint: second, destination: third, authority: fourth,
        amount: data.readBigUInt64LE(1), decimals: data[9]!, tokenProgram,
      };
    case KIND.close:
      if (!hasForm(1, 3)) break;
      return { kind: 'close-token', account: first, destination: second, authority: third, tokenProgram };
    case KIND.syncNative:
      if (!hasForm(1, 1)) break;
      return { kind: 'sync-native', account: first };
    case KIND.initialize:
      if (!hasForm(1, 4)) break;
      return { kind: 'initialize-token', account: first, mint: second, owner: third, tokenProgram };
    case KIND.initialize2:
      if (!hasForm(33, 3)) break;
      return { kind: 'initialize-token', account: first, mint: second, owner: addressOf(data.subarray(1)), tokenProgram };
    case KIND.initialize3:
      if (!hasForm(33, 2)) break;
      return { kind: 'initialize-token', account: first, mint: second, owner: addressOf(data.subarray(1)), tokenProgram };
    default: {
      const [code, what] = FORBIDDEN.get(kind) ?? ['TOKEN_FORBIDDEN', `is of a kind that no swap needs, ${kind === NO_KIND ? 'without data' : kind}`];
      return refuse(code, what);
    }
  }
  return unreadable(`token instruction ${kind}: not the form of its kind, with ${data.length} bytes and ${accounts.length} accounts`);
}
