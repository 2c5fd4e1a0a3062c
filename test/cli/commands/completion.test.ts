import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCommands, COMMANDS } from '../../../src/cli/command-list.ts';
import { completionCommand } from '../../../src/cli/commands/completion.ts';
import type { RunCommand } from '../../../src/cli/command.ts';

let folder: string;
const scripts: Record<string, string> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    scripts[shell] = await scriptOf(shell);
    writeFileSync(join(folder, `gannet.${shell}`), scripts[shell]);
  }
  for (const name of ['20261121T101112-0a1b2c', '20261122T101112-0a1b2c']) {
    mkdirSync(join(folder, 'state', 'runs', name), { recursive: true });
    mkdirSync(join(folder, 'state', 'recordings', `rec-${name}`), { recursive: true });
  }
  writeFileSync(join(folder, 'bot.yaml'), 'strategies:\n  - { use: dca, name: dca-sol }\n  - use: x\n    name: dip\n');
});
afterAll(() => { rmSync(folder, { recursive: true, force: true }); });

async function scriptOf(shell: string): Promise<string> {
  let script = '';
  const run: RunCommand = (action) => async (...args) => {
    const terminal = { json: false, out: (text: string) => { script += text; } };
    await (action as (...all: readonly unknown[]) => Promise<unknown>)({ terminal }, ...args);
  };
  const program = new Command('gannet').exitOverride().option('--json', 'one JSON document')
    .option('--config <file>', 'the configuration file').option('--state-dir <dir>', 'the state directory')
    .addOption(new Option('--log-level <level>', 'the least severe messages').choices(['error', 'warn']));
  completionCommand(addCommands)(program, run);
  await program.parseAsync(['node', 'gannet', 'completion', shell]);
  return script;
}

/** Returns what bash completes for a line, whose last word is under the cursor; "=" is a word of its own there. */
function completed(...words: readonly string[]): string[] {
  const list = ['gannet', ...words].map((word) => `'${word}'`).join(' ');
  const text = execFileSync('bash', ['--norc', '-c', `set -u; source ./gannet.bash; COMP_WORDS=(${list}); `
    + `COMP_CWORD=${words.length}; _gannet; printf '%s\\n' "\${COMPREPLY[@]-}"`], { cwd: folder, encoding: 'utf8' });
  return text.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  it('names every command', () => {
    const names = Object.values(COMMANDS).flat().flatMap((entry) => entry.names);
    expect(completed('').filter((word) => !word.startsWith('-')).sort()).toEqual([...names, 'help'].sort());
  });

  it.each([
    [['sta'], ['status', 'state']],
    [['wallet', ''], expect.arrayContaining(['show', 'close-empty', 'help', '--json'])],
    [['wallet', 'close-empty', '--dr'], ['--dry-run']],
    [['--config', 'bot.yaml', 'wallet', 'close-empty', '--unw'], ['--unwrap']],
    [['logs', '--level', ''], ['error', 'warn', 'info', 'debug']],
    [['logs', '--level', '=', 'w'], ['warn']],
    [['--log-level', ''], ['error', 'warn']],
    [['logs', '--st'], ['--strategy', '--state-dir']],
    [['completion', ''], expect.arrayContaining(['bash', 'zsh', 'fish'])],
    [['--config', 'bo'], ['bot.yaml']],
    [['logs', '--run', ''], ['20261121T101112-0a1b2c', '20261122T101112-0a1b2c']],
    [['logs', '--run', '202611221'], []],
    [['replay', '20261122'], ['20261122T101112-0a1b2c']],
    [['backtest', '--recording', 'rec-20261121'], ['rec-20261121T101112-0a1b2c']],
    [['--state-dir', 'elsewhere', 'logs', '--run', ''], []],
    [['--config', 'bot.yaml', 'halt', '--strategy', ''], ['dca-sol', 'dip']],
    [['quote', ''], expect.not.arrayContaining(['status'])],
    [['logs', '--since', ''], []],
  ])('completes %j', (words, expected) => {
    expect(completed(...words)).toEqual(expected);
  });

  it('takes nothing of a word as code', () => {
    expect(completed('logs', '--run', '$(touch hacked)')).toEqual([]);
    expect(completed('--state-dir', '`touch hacked`', 'logs', '--run', '')).toEqual([]);
    expect(completed('hack')).toEqual([]);
    expect(execFileSync('ls', [folder], { encoding: 'utf8' })).not.toContain('hacked');
  });
});

describe('completion in other shells', () => {
  const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).error === undefined;

  it('names every command and option in the scripts', () => {
    for (const script of [scripts['zsh']!, scripts['fish']!])
      for (const word of ['close-empty', 'reduce-only', 'walk-forward']) expect(script).toContain(word);
    expect(scripts['fish']).toMatch(/__gannet_is "gannet logs"' -l level -r -f -a 'error warn info debug'/);
  });

  it.runIf(has('zsh'))('zsh reads its script, and completes', () => {
    const text = execFileSync('zsh', ['-f', '-c', 'autoload -Uz compinit && compinit -u; source ./gannet.zsh; '
      + 'emulate sh; COMP_WORDS=(gannet logs --level w); COMP_CWORD=3; _gannet; echo "${COMPREPLY[@]}"'],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, ZDOTDIR: folder } });
    // zsh itself leaves out what does not begin with the word.
    expect(text.trim().split(' ')).toContain('warn');
    expect(text).not.toContain('--');
  });

  it.runIf(has('fish'))('fish reads its script, and completes', () => {
    const text = execFileSync('fish', ['--no-config', '-c', 'source gannet.fish; complete -C "gannet logs --level w"; '
      + 'complete -C "gannet wallet cl"; complete -C "gannet logs --run 20261122"'], { cwd: folder, encoding: 'utf8' });
    expect(text).toMatch(/^warn/m);
    expect(text).toMatch(/^close-empty\t/m);
    expect(text).toMatch(/^20261122T101112-0a1b2c/m);
  });
});
