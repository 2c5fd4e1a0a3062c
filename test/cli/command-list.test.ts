import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addCommands, COMMANDS } from '../../src/cli/command-list.ts';
import type { RunCommand } from '../../src/cli/command.ts';

const idle: RunCommand = () => async () => { /* Nothing is run here. */ };

function commandLine(): Command {
  return new Command('gannet').option('--json', 'a flag').option('--config <file>', 'takes a value');
}

async function added(...words: string[]): Promise<string[]> {
  const program = commandLine();
  await addCommands(program, { argv: ['node', 'gannet', ...words], run: idle });
  return program.commands.map((command) => command.name());
}

const entries = Object.values(COMMANDS).flat();
const all = entries.flatMap(({ names }) => names);

describe('the table of commands', () => {
  it.each(entries)('lists the commands that the module of $names adds', async ({ names, load }) => {
    const program = commandLine();
    (await load())(program, idle);
    expect(program.commands.map((command) => command.name()).sort()).toEqual([...names].sort());
  });

  it('lists every command once', () => {
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    [['swap'], ['swap']],
    [['--json', 'status'], ['status']],
    [['--config', 'run', 'swap', 'run'], ['swap']],
    [['--config=run', 'quote', '--help'], ['quote']],
    [['halt'], ['halt', 'reduce-only', 'flatten', 'resume', 'pause']],
  ])('for the words %j adds only %j', async (words, expected) => {
    expect(await added(...words)).toEqual(expected);
  });

  it.each([
    [[]], [['--help']], [['help', 'swap']], [['swop']], [['--config', 'swap']],
  ])('for the words %j adds all commands, for help and suggestions', async (words) => {
    expect((await added(...words)).sort()).toEqual([...all].sort());
  });
});
