import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trialBasis } from '../../../src/research/sweep/finished-trials.ts';
import { strategyText } from '../../../src/research/trials/strategy-source.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { openWriter, temporaryFolder } from '../../recording/temporary.ts';
import { threadStrategy, trialSetup } from '../trials/trial-setup.ts';

/** A folder with a strategy that takes a figure from a package, which takes it from another one. */
function strategyFolder(): {
  readonly use: string; readonly put: (path: string, text: string) => void;
  readonly install: (name: string, version: string, dependencies?: object) => void;
} {
  const dir = temporaryFolder();
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  const install = (name: string, version: string, dependencies: object = {}): void => {
    put(`node_modules/${name}/package.json`, JSON.stringify({
      name, version, type: 'module', main: 'index.js', dependencies,
    }));
    put(`node_modules/${name}/index.js`, 'export const figure = 1;');
  };
  install('figures', '1.0.0', { deeper: '^1.0.0' });
  install('deeper', '1.0.0');
  put('shared.ts', `export { figure } from 'figures';`);
  put('own.ts', `import { NEVER } from 'rxjs';
import { z } from 'zod';
import { defineStrategy } from '${PROJECT_DIR}src/strategy/index.ts';
import { figure } from './shared.ts';\n
export default defineStrategy({
  name: 'own', summary: String(figure), params: z.looseObject({}), inputs: () => ({}), run: () => NEVER,
});`);
  for (const name of ['rxjs', 'zod'])
    symlinkSync(join(PROJECT_DIR, 'node_modules', name), join(dir, 'node_modules', name));
  return { use: join(dir, 'own.ts'), put, install };
}

async function basisOf(use: string): ReturnType<typeof trialBasis> {
  const writer = openWriter(temporaryFolder());
  await writer.close();
  const recording = openRecording(writer.directory);
  return trialBasis({ setup: trialSetup(writer.directory, [threadStrategy(use)]), recording });
}

async function dataOf(use: string): Promise<unknown> {
  return (await strategyText(use, { strategiesDir: dirname(use), baseDir: dirname(use) })).data;
}

describe('the basis of finished trials', () => {
  it('changes with the version of each package that a strategy imports, directly or indirectly', async () => {
    const { use, install } = strategyFolder();
    const keys = [await basisOf(use), await basisOf(use)];
    expect(keys[1]!.key).toBe(keys[0]!.key);
    install('figures', '1.0.1', { deeper: '^1.0.0' });
    keys.push(await basisOf(use));
    install('deeper', '1.1.0');
    keys.push(await basisOf(use));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(3);
    expect(new Set(keys.map(({ strategies }) => strategies)).size).toBe(1);
  });

  it('includes the code of a linked package, whatever its version', async () => {
    const { use, put } = strategyFolder();
    const linked = temporaryFolder();
    writeFileSync(join(linked, 'package.json'), JSON.stringify({
      name: 'linked', version: '1.0.0', type: 'module', main: 'index.js',
    }));
    writeFileSync(join(linked, 'index.js'), 'export const figure = 1;');
    symlinkSync(linked, join(dirname(use), 'node_modules', 'linked'));
    put('shared.ts', `export { figure } from 'linked';`);
    const before = await basisOf(use);
    writeFileSync(join(linked, 'index.js'), 'export const figure = 2;');
    expect((await basisOf(use)).key).not.toBe(before.key);
  });

  it('includes the JSON files of the strategy’s folder that its code names, and no other file', async () => {
    const { use, put } = strategyFolder();
    const keys = new Set<string>();
    const step = async (path: string, text: string): Promise<number> => {
      put(path, text);
      keys.add((await basisOf(use)).key);
      return keys.size;
    };
    put('imported.json', '[1]');
    put('shared.ts', `import { readFileSync } from 'node:fs';
import weights from './imported.json' with { type: 'json' };\n
export const figure = [weights, readFileSync(new URL('./data/read.json', import.meta.url), 'utf8')];`);
    expect(await step('data/read.json', '[1]')).toBe(1);
    expect(await step('data/read.json', '[2]')).toBe(2);
    expect(await step('imported.json', '[2]')).toBe(3);
    expect(await step('data/other.json', '[2]')).toBe(3);
    expect(await dataOf(use)).toEqual(['imported.json', 'data/read.json'].map((name) => (
      { name, path: realpathSync(join(dirname(use), name)), hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string }
    )));
  });

  it('leaves out a JSON file that is a link out of the strategy’s folder', async () => {
    const { use, put } = strategyFolder();
    const elsewhere = join(temporaryFolder(), 'closes.json');
    writeFileSync(elsewhere, '[1]');
    symlinkSync(elsewhere, join(dirname(use), 'closes.json'));
    put('shared.ts', `import closes from './closes.json' with { type: 'json' };\nexport const [figure] = closes;`);
    expect(await dataOf(use)).toEqual([]);
  });
});
