import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatIssue } from '../../src/config/config-issue.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { StrategyHosts } from '../../src/daemon/hosts/host-generations.ts';
import { openHosts } from '../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../src/daemon/watch/system-clock.ts';
import { GENESIS } from './load-text.ts';

const STRATEGY = `import { NEVER } from 'rxjs';
import { z } from 'zod';
import { defineStrategy } from 'gannet';
import { summary } from 'helper';
import { name } from './name.js';
export default defineStrategy({ name, summary, params: z.strictObject({}), inputs: () => ({}), run: () => NEVER });
`;
const FOR_1 = { gannet: { api: 1 }, type: 'module' };

let folder: string;
let hosts: StrategyHosts;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gannet-packages-'));
  hosts = openHosts({ clock: systemClock });
  await install('helper', { type: 'module' }, { 'index.js': "export const summary = 'Waits.';" });
});
afterAll(async () => {
  await hosts.close();
  await rm(folder, { recursive: true });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function install(name: string, description: object, files: Readonly<Record<string, string>>): Promise<void> {
  await put(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', ...description }));
  for (const [path, text] of Object.entries(files)) await put(`node_modules/${name}/${path}`, text);
}

/** Returns the names of the strategies that a `use` gives, or what is said of it. */
async function used(use: string): Promise<readonly string[]> {
  await put('bots/bot.yaml', `strategies:\n  - use: ${use}\n`);
  const result = await loadConfig({
    file: 'bot.yaml', workingDir: join(folder, 'bots'), environment: {}, ...GENESIS, strategyReader: hosts,
  });
  return result.ok ? result.config.strategies.map(({ name }) => name)
    : result.issues.map((issue) => formatIssue(issue).replaceAll(folder, ''));
}

describe('a strategy of a package', () => {
  it('is found from the folder of the configuration as Node finds it, and runs in its box', async () => {
    const name = "export const name = 'sharks';";
    await install('sharks', { ...FOR_1, main: './lib/index' }, { 'lib/index.js': STRATEGY, 'lib/name.js': name });
    await install('@author/fish', {
      ...FOR_1, exports: { '.': './none.js', './shark': { types: './a.d.ts', import: './shark.js' } },
    }, { 'shark.js': STRATEGY, 'name.js': name });
    expect(await used('npm:sharks')).toStrictEqual(['sharks']);
    expect(await used('npm:@author/fish/shark')).toStrictEqual(['sharks']);
  });

  it('that cannot be used is refused with its name, its file and what to do', async () => {
    const place = 'bot.yaml:2:10 strategies[0].use: ';
    await install('tools', {}, { 'index.js': 'export default 1;' });
    await install('later', { gannet: { api: 2 } }, { 'index.js': STRATEGY });
    await install('none', FOR_1, { 'index.js': 'export const strategy = 1;' });
    await install('typed', { ...FOR_1, exports: './index.ts' }, { 'index.ts': STRATEGY });
    await install('part', { ...FOR_1, exports: './index.js' }, {});
    await install('broken', FOR_1, { 'index.js': 'export default {' });
    await put('node_modules/torn/package.json', '{ "name": ');
    await symlink(join(folder, 'node_modules', 'none'), join(folder, 'node_modules', 'linked'));
    expect(await used('npm:absent'))
      .toStrictEqual([`${place}the package "absent" is not installed: run "npm install absent" in /bots`]);
    expect(await used('npm:tools')).toStrictEqual([`${place}the package "tools" holds no strategy, or is written for `
      + 'no version of Gannet: /node_modules/tools/package.json lacks "gannet": { "api": 1 }; if it does hold one, ask '
      + 'its author for it']);
    expect(await used('npm:later')).toStrictEqual([`${place}/node_modules/later/package.json says that `
      + '/node_modules/later/index.js is written for version 2 of Gannet’s SDK, and this Gannet has version 1: '
      + 'install a newer Gannet, or change the file and say "gannet": { "api": 1 }']);
    expect(await used('npm:none')).toStrictEqual([`${place}expected the default export of npm:none to be what `
      + 'defineStrategy returns: export default defineStrategy({ … })']);
    expect(await used('npm:typed')).toStrictEqual([`${place}/node_modules/typed/index.ts is TypeScript, which Node `
      + 'does not run inside node_modules: the package must be published as JavaScript']);
    expect(await used('npm:part/sub'))
      .toStrictEqual([`${place}the package "part" has no "./sub": /node_modules/part/package.json names its parts in `
        + '"exports"']);
    expect(await used('npm:part')).toStrictEqual([`${place}the package "part" has no file /node_modules/part/index.js: `
      + 'it is not complete; install it again']);
    expect(await used('npm:broken'))
      .toStrictEqual([expect.stringContaining('strategy "npm:broken" cannot be loaded: ')]);
    expect(await used('npm:torn')).toStrictEqual([expect.stringMatching(
      /^bot\.yaml:2:10 .*\/node_modules\/torn\/package\.json cannot be read: .*; install "torn" again$/,
    )]);
    expect(await used('npm:linked')).toStrictEqual([`${place}the package "linked" is a link to /node_modules/none, `
      + 'which the processes of strategies cannot follow: name its file by a path, or install it from its tarball '
      + '("npm pack")']);
  });

  it('is told apart by version where it is a file of a project as well', async () => {
    await put('bots/old/package.json', '{ "gannet": { "api": 0 }, "type": "module" }');
    await put('bots/old/mine.ts', STRATEGY);
    expect(await used('./old/mine.ts')).toStrictEqual(['bot.yaml:2:10 strategies[0].use: /bots/old/package.json says '
      + 'that /bots/old/mine.ts is written for version 0 of Gannet’s SDK, and this Gannet has version 1: install a '
      + 'newer version of the package, or change the file and say "gannet": { "api": 1 }']);
  });
});
