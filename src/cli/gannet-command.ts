import type { ErrorOptions, HelpContext } from 'commander';
import { Command } from 'commander';
import { NEVER_SUGGESTED } from './command-list.ts';
import { nearest, printable } from '../core/text.ts';

/**
 * A command whose errors suggest the nearest command or option, but none that moves money. Its `help` takes the path of
 * a command ("help wallet close-empty") and names an unknown command in it.
 */
export class GannetCommand extends Command {
  constructor(name?: string) {
    super(name);
    this.showSuggestionAfterError(false);
  }

  override createCommand(name?: string): GannetCommand {
    return new GannetCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const found = UNKNOWN.exec(message);
    if (found === null) return super.error(message, options);
    const [, kind = '', name = ''] = found;
    const close = nearest(name, this.#candidates(kind).filter((candidate) => !NEVER_SUGGESTED.has(candidate)));
    const list = kind === 'command' ? `; "gannet help${this.#path()}" lists the commands` : '';
    return super.error(
      `error: unknown ${kind} `
        + `'${printable(name, 100)}'${list}${close === undefined ? '' : `\n(Did you mean ${close}?)`}`,
      options,
    );
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    const subject = this.#helpSubject();
    return subject === this ? super.help(context as HelpContext) : subject.help();
  }

  /** Returns the command that "help" names, or this one. Ends the command line when there is no such command. */
  #helpSubject(): Command {
    const asked = lineage(this).find(({ args }) => args[0] === 'help');
    if (asked === undefined) return this;
    return asked.args.slice(1).filter((word) => word !== 'help' && !word.startsWith('-')).reduce((subject, name) =>
      subject.commands.find((command) => command.name() === name)
        ?? subject.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' }),
        asked);
  }

  #path(): string {
    return lineage(this).slice(0, -1).reverse().map((command) => ` ${command.name()}`).join('');
  }

  #candidates(kind: string): string[] {
    if (kind === 'command') return this.commands.map((command) => command.name());
    return ['--help', ...lineage(this).flatMap(({ options }) => options.map(({ long }) => long ?? ''))];
  }
}

const UNKNOWN = /^error: unknown (command|option) '(.*)'$/s;

/** Returns a command and its ancestors. */
function lineage(command: Command): Command[] {
  return command.parent === null ? [command] : [command, ...lineage(command.parent)];
}
