import { config as rx } from 'rxjs';
import { messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Terminal } from './terminal.ts';

/**
 * Tells, each once, the errors of strategies that subscribe by themselves and throw there, until the process ends. They come a turn
 * late, when nobody can catch them any more, and say nothing of what was decided: in a run they are logged, and it goes on.
 */
export function tellLooseErrors(terminal: Pick<Terminal, 'err'>): void {
  const told = new Set<string>();
  rx.onUnhandledError = (error: unknown) => {
    const message = printable(messageOf(error));
    if (told.has(message)) return;
    told.add(message);
    terminal.err(`a strategy threw where nobody could catch it; it must return its stream, not subscribe to it: ${message}\n`);
  };
}
