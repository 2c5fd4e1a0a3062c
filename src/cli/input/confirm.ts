import { createInterface } from 'node:readline/promises';
import type { CommandContext } from '../command.ts';
import { GannetError } from '../../core/errors.ts';
import { interruption } from '../../recording/interrupt.ts';

/** Throws USAGE with the flag to add when no person can answer a question: with `--json`, or without a terminal. */
export function expectPerson({ terminal }: Pick<CommandContext, 'terminal'>, remedy: string): void {
  if (terminal.json || !process.stdin.isTTY)
    throw new GannetError('USAGE', `the command needs a confirmation, and there is no terminal to ask on: ${remedy}`);
}

/** Returns whether the person at the terminal answers yes; any other answer means no. Throws INTERRUPTED. */
export async function confirmed({ interrupt }: Pick<CommandContext, 'interrupt'>, question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await prompt.question(`  ${question} [y/N] `, { signal: interrupt });
    return /^\s*y(?:es)?\s*$/i.test(answer);
  } catch (error) {
    throw interrupt.aborted ? interruption(error) : error;
  } finally {
    prompt.close();
  }
}
