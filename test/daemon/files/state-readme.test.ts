import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeStateReadme } from '../../../src/daemon/files/state-readme.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

it('the README of a state directory names the files of docs/operations/state.md, in 80 columns', () => {
  const text = readFileSync(new URL('../../../docs/operations/state.md', import.meta.url), 'utf8');
  const rows = [...text.slice(0, text.indexOf('\nA run writes')).matchAll(/^\| (`.*?) \| (.*?) \|/gm)]
    .map(([, files, content]) => [files, content!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
      .replace(/ \([a-z]*\.md\)$/, '')]);
  const folder = join(temporaryFolder(), 'state');
  writeStateReadme(folder);
  const path = join(folder, 'README.txt');
  const written = readFileSync(path, 'utf8');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(Math.max(...written.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  const [, list] = written.split('\n\n');
  const entries = list!.trimEnd().split(/\n(?=\S)/).map((entry) => entry.split('\n').map((line) => line.trim()));
  const code = (files: string): string => files.split(', ').map((file) => `\`${file}\``).join(', ');
  expect(entries.map(([files, ...lines]) => [code(files!), lines.join(' ')])).toEqual(rows);
  writeFileSync(path, 'of an earlier version');
  writeStateReadme(folder);
  expect(readFileSync(path, 'utf8')).toBe(written);
});
