import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../store/fixtures.ts';

const ROOT = join(import.meta.dirname, '..', '..');

it('finds the package of a strategy in a box that may not read the folders between them', async () => {
  const folder = temporaryFolder();
  const description = join(folder, 'package.json');
  mkdirSync(join(folder, 'strategies'));
  writeFileSync(description, '{"gannet":{"api":99}}');
  const module = pathToFileURL(join(ROOT, 'src/config/strategies/strategy-package.ts')).href;
  const file = JSON.stringify(join(folder, 'strategies', 'dip.ts'));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--permission', `--allow-fs-read=${ROOT}/`, `--allow-fs-read=${description}`, '--input-type=module',
    '-e', `console.log((await import('${module}')).otherVersion(${file}))`,
  ], { env: {} });
  expect(stdout).toContain('is written for version 99 of');
});
