import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { initCommand } from '../../../../src/cli/commands/strategy/scaffold.ts';
import { strategyCommand } from '../../../../src/cli/commands/strategy/strategy.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const home = process.cwd();

afterEach(() => { process.chdir(home); });

const init = (...args: readonly string[]): Promise<Answer> =>
  runCommand(initCommand, ['init', ...args], { stateDir: '/nowhere' });
const begin = (name: string): Promise<Answer> =>
  runCommand(strategyCommand, ['strategy', 'new', name], { stateDir: '/nowhere' });
const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();

const PROJECT = [
  '.env.example', '.gitignore', 'README.md', 'config/gannet.yaml', 'package.json', 'strategies/dip.ts',
  'test/dip.test.ts', 'tsconfig.json',
];

/** Makes the imports of Gannet by name work without an installation. */
function linkGannet(folder: string): void {
  mkdirSync(join(folder, 'node_modules', 'gannet'), { recursive: true });
  for (const name of ['rxjs', 'zod', 'tslib'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  const faces = { '.': 'strategy', './testing': 'testing' };
  for (const face of Object.values(faces)) {
    writeFileSync(join(folder, 'node_modules', 'gannet', `${face}.mjs`),
      `export * from '${pathToFileURL(join(ROOT, 'src', face, 'index.ts')).href}';\n`);
  }
  writeFileSync(join(folder, 'node_modules', 'gannet', 'package.json'), JSON.stringify({
    name: 'gannet', exports: Object.fromEntries(Object.entries(faces).map(([name, face]) => [name, `./${face}.mjs`])),
  }));
}

describe('gannet init', () => {
  it('writes a project whose tests pass, and new writes another strategy there', async () => {
    const folder = join(temporaryFolder(), 'my bot');
    const { code, document, text } = await init(folder, '--gannet', 'file:/gannet.tgz');
    expect(code).toBe(0);
    expect(filesIn(folder)).toEqual(PROJECT);
    expect((document['files'] as string[]).toSorted()).toEqual(PROJECT);
    expect(text).toContain('npm install');
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      name: 'my-bot', type: 'module', scripts: { test: 'node --test' }, dependencies: { gannet: 'file:/gannet.tgz' },
    });

    process.chdir(folder);
    expect((await begin('second')).document['files'])
      .toEqual(['strategies/second.ts', 'test/second.test.ts', 'config/second.yaml']);
    linkGannet(folder);
    const { stdout } = await promisify(execFile)(
      process.execPath, ['--test', '--test-isolation=none', '--test-reporter=tap'], { env: {} },
    ).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toContain('# pass 6\n# fail 0\n');
  });

  it('refuses a folder that is not empty and a file, and writes nothing', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await expect(init(folder)).rejects.toThrow(/is not empty, and nothing was written into it: name a new or an empty/);
    await expect(init(join(folder, 'notes.txt'))).rejects.toThrow(/notes\.txt is a file: name a new folder/);
    await expect(init(join(folder, 'notes.txt', 'deeper'))).rejects.toThrow(/nothing was written/);
    await expect(init('/proc/bot')).rejects.toThrow(/takes no folders; name another place/);
    expect(filesIn(folder)).toEqual(['notes.txt']);
  });
});

describe('gannet strategy new', () => {
  it('overwrites nothing, and writes nothing where one file is there already', async () => {
    const folder = temporaryFolder();
    process.chdir(folder);
    mkdirSync('config');
    writeFileSync('config/mine.yaml', 'mode: paper');
    await expect(begin('mine')).rejects.toThrow(
      'nothing was written, because config/mine.yaml is there already: choose another name, or move what is there');
    expect(filesIn(folder)).toEqual(['config/mine.yaml']);
    // The folder of the tests is a file: what was written before it is removed.
    writeFileSync('test', '');
    await expect(begin('other')).rejects.toThrow(/nothing was written into/);
    expect(filesIn(folder)).toEqual(['config/mine.yaml', 'test']);
  });

  it('refuses a name that a strategy cannot have', async () => {
    for (const name of ['Mine', '../mine', 'mine.ts', '1st'])
      await expect(begin(name)).rejects.toThrow(/expected a name of up to 63 lower case letters/);
  });
});
