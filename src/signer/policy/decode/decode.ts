import type { Addresses } from '../addresses.ts';
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, isTokenProgram, MEMO_PROGRAMS, SYSTEM_PROGRAM } from '../known-programs.ts';
import type { ResolvedInstruction } from '../resolve.ts';
import { decodeAssociatedToken } from './associated-token.ts';
import { decodeComputeBudget } from './compute-budget.ts';
import { refuse, type Decoded } from './decoded.ts';
import type { SwapProgram } from './swap-decoder.ts';
import { decodeSystem } from './system.ts';
import { decodeToken } from './token.ts';

/** Returns what an instruction does, or the rule that it breaks whoever it is about. */
export function decodeInstruction(
  instruction: ResolvedInstruction, { addresses, programs }: { readonly addresses: Addresses; readonly programs: ReadonlyMap<string, SwapProgram> },
): Decoded {
  const { program, data } = instruction;
  if (program === COMPUTE_BUDGET_PROGRAM) return decodeComputeBudget(instruction);
  if (program === SYSTEM_PROGRAM) return decodeSystem(instruction, addresses);
  if (isTokenProgram(program)) return decodeToken(instruction, addresses);
  if (program === ASSOCIATED_TOKEN_PROGRAM) return decodeAssociatedToken(instruction, addresses);
  if (MEMO_PROGRAMS.includes(program)) return { kind: 'memo', text: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8') };
  const swap = programs.get(program);
  if (swap === undefined) return refuse('PROGRAM_UNKNOWN', `calls ${program}, which is not on the allow-list`);
  if (swap.decode === undefined) return { kind: 'opaque', program };
  const terms = swap.decode(instruction);
  if (terms === 'opaque') return { kind: 'opaque', program };
  // A decoder that fails is no reason to look less closely: the form is not the one that was agreed on.
  return terms === undefined ? refuse('SWAP_UNREADABLE', `calls ${program} with something that is no swap`) : { kind: 'swap', ...terms };
}
