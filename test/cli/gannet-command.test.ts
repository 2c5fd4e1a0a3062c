import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addCommands, COMMANDS, NEVER_SUGGESTED } from '../../src/cli/command-list.ts';
import { GannetCommand } from '../../src/cli/gannet-command.ts';
import { PROJECT } from '../e2e/gannet.ts';

/** Returns what a command line says on standard error and on standard output. */
async function said(...words: readonly string[]): Promise<{ readonly err: string; readonly out: string }> {
  let err = '';
  let out = '';
  const program = new GannetCommand('gannet').exitOverride().option('--json', 'a flag')
    .configureOutput({ writeErr: (text) => { err += text; }, writeOut: (text) => { out += text; } });
  const argv = ['node', 'gannet', ...words];
  await addCommands(program, { argv, run: () => async () => { throw new Error('nothing is run here'); } });
  program.helpCommand(true);
  await expect(program.parseAsync(argv)).rejects.toThrow();
  return { err, out };
}

/** Returns what a word becomes by one wrong key: a letter too few, two swapped, one twice. */
function typosOf(word: string): string[] {
  return word.split('').flatMap((letter, at) => [
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + (word[at + 1] ?? '') + letter + word.slice(at + 2),
    word.slice(0, at) + letter + word.slice(at),
  ]);
}

describe('issue 13.22: a typo', () => {
  it('never suggests a command that moves money', async () => {
    const names = Object.values(COMMANDS).flat().flatMap((entry) => entry.names);
    expect(names).toEqual(expect.arrayContaining(['run', 'swap', 'resume', 'flatten', 'resolve', 'stop']));
    const typos = ['run', 'swap', 'stop', 'sweep', 'resume', 'flatten', 'resolve'].flatMap(typosOf)
      .filter((typo) => typo !== '' && !names.includes(typo));
    // A part of them says as much.
    for (const typo of typos.filter((_, at) => at % 3 === 0)) {
      const { err } = await said(typo);
      expect(err).toContain(`unknown command '${typo}'; "gannet help" lists the commands`);
      const suggested = /Did you mean (\S+)\?/.exec(err)?.[1];
      expect(suggested === undefined || !NEVER_SUGGESTED.has(suggested), `${typo}: ${err}`).toBe(true);
    }
  });

  it('suggests commands that move no money', async () => {
    expect((await said('stpo')).err).toContain('Did you mean stop?');
    expect((await said('config', 'chekc')).err)
      .toMatch(/unknown command 'chekc'; "gannet help config" lists the commands\n\(Did you mean check\?\)/);
    expect((await said('run', '--max-intent', '3')).err).toContain('Did you mean --max-intents?');
  });

  it('in an option suggests no option that allows money to move', async () => {
    for (const words of [['run', '--liv'], ['swap', 'a', 'b', '1', '--yse'], ['wallet', 'close-empty', '--ye']]) {
      const { err } = await said(...words);
      expect(err).toContain(`unknown option '${words.at(-1)}'`);
      expect(err).not.toMatch(/Did you mean --(live|yes)/);
    }
  });
});

describe('issue 13.27: help', () => {
  it('names an unknown command at any depth', async () => {
    expect((await said('help', 'nope')).err).toContain("unknown command 'nope'");
    expect((await said('help', 'wallet', 'nope')).err).toContain("unknown command 'nope'");
    expect((await said('journal', 'help', 'nope')).err).toContain("unknown command 'nope'");
  });

  it('describes the named command at any depth', async () => {
    expect((await said('help', 'wallet', 'close-empty')).out).toMatch(/^Usage: gannet wallet close-empty /);
    expect((await said('journal', 'help', 'list')).out).toMatch(/^Usage: gannet journal list /);
    expect((await said('help')).out).toMatch(/^Usage: gannet /);
  });

  it('ends silently when its reader closes the pipe', async () => {
    const child = spawn(join(PROJECT, 'bin', 'gannet'), ['run', '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] },
    });
    child.stdout.destroy();
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => { err += text; });
    const [code] = await once(child, 'close') as [number | null];
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
