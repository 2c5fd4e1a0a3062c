import type { Command } from '../trading/command.ts';

/** Returns the command in a JSON text. */
export function readCommand(text: string): Command {
  return JSON.parse(text) as Command;
}
