import type { Mint } from '../../market/token.ts';
import type { Intent } from '../intent.ts';
import type { ProtectionMemory, SwapSubject } from './memory.ts';
import { subjectMemory } from './memory.ts';

/**
 * Returns of whom a swap is remembered: everything, its strategy, and the token that it trades. They are looked up once
 * for all swaps of a kind: with every outcome of every swap, putting their names together would cost more than noting
 * it.
 */
export function subjectsOf(
  memory: ProtectionMemory, { strategy, purpose, inputMint, outputMint }: Intent,
): readonly SwapSubject[] {
  const token = purpose === 'exit' ? inputMint : outputMint;
  let byToken = memory.swapSubjects.get(strategy);
  if (byToken === undefined) {
    byToken = new Map<Mint, readonly SwapSubject[]>();
    memory.swapSubjects.set(strategy, byToken);
  }
  let subjects = byToken.get(token);
  if (subjects === undefined) {
    subjects = ([['global', ''], ['strategy', strategy], ['token', token]] as const)
      .map(([scope, name]) => ({ memory: subjectMemory(memory, scope, name), reach: memory.reaches[scope] }));
    byToken.set(token, subjects);
  }
  return subjects;
}
