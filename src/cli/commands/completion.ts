import { Argument, Command } from 'commander';
import type { CommandContext, CommandModule, RunCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { CompletedCommand, CompletedOption } from '../output/completion-scripts.ts';
import { COMPLETION_SCRIPTS } from '../output/completion-scripts.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Adds all commands to a program. */
type AddCommands = (
  program: Command, options: { readonly argv: readonly string[]; readonly run: RunCommand },
) => Promise<void>;

/** Returns the module of the command that prints completion scripts, made of what `addCommands` adds. */
export function completionCommand(addCommands: AddCommands): CommandModule {
  return (program, run) => {
    program.command('completion')
      .description('prints the script that completes commands, options and their values in a shell')
      .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
      .action(run(async ({ terminal }: CommandContext, shell: typeof SHELLS[number]) => {
        const all = new Command('gannet');
        for (const option of program.options) all.addOption(option);
        await addCommands(all, { argv: [], run });
        const script = COMPLETION_SCRIPTS[shell](commandsIn(all));
        if (terminal.json) terminal.result({ shell, script }, () => '');
        else terminal.out(script, 'data');
        return EXIT.done;
      }));
  };
}

/** Returns a command and those below it, each with the options of its ancestors. */
function commandsIn(command: Command, above: readonly CompletedOption[] = []): CompletedCommand[] {
  const options = [...command.options.map(completedOption), ...above];
  const path = command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
  const help = { name: 'help', description: 'shows the help of a command' };
  return [
    {
      path,
      options: [...options, { names: ['-h', '--help'], description: 'shows the help', value: undefined }],
      commands: [...command.commands.map((one) => ({ name: one.name(), description: one.description() })),
        ...(command.commands.length > 0 ? [help] : [])],
      argument: command.registeredArguments.map((argument) => valueOf(argument.argChoices, argument.name()))[0],
    },
    ...command.commands.flatMap((one) => commandsIn(one, options)),
  ];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function completedOption({ short, long, description, flags, argChoices }: Command['options'][number]): CompletedOption {
  const [, name] = /[<[]([\w-]+)[\]>]/.exec(flags) ?? [];
  return {
    names: [short, long].filter((one) => one !== undefined), description,
    value: name === undefined ? undefined : valueOf(argChoices, name, long),
    isValueOptional: flags.includes('['),
  };
}

/** Values that a shell finds by itself, by the name of the option or the argument. */
const FOUND: readonly (readonly [name: RegExp, kind: 'file' | 'run' | 'recording' | 'strategy'])[] = [
  [/^--strategy$/, 'strategy'], [/^--recording$/, 'recording'], [/^--run$|^run$/, 'run'], [/^recording$/, 'recording'],
  [/file|dir|path|config|report|grid|trades|^--out$|^--expect$/i, 'file'],
];

function valueOf(choices: readonly string[] | undefined, name: string, option = name): CompletedOption['value'] {
  if (choices !== undefined) return choices;
  return FOUND.find(([pattern]) => pattern.test(option) || pattern.test(name))?.[1] ?? 'any';
}
