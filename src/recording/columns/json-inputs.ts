import type { Command } from '../../trading/command.ts';

/** Returns the command in a JSON text. */
export function readCommand(text: string): Command {
  const command = JSON.parse(text) as Command;
  // Recordings of the first flight do not say from where time leapt; as far as they know, from where it stood.
  return command.name === 'leap-time' ? { ...command, from: command.from ?? 0 } : command;
}
