import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { inlineModules } from '../../src/web/inline-modules.ts';
import { temporaryFolder } from '../recording/temporary.ts';

/** Writes modules, inlines them, and returns the value of `run` in their script. */
function inlined(modules: Readonly<Record<string, string>>, run: string): unknown {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text);
  const kept: { result?: unknown } = {};
  runInNewContext(inlineModules(join(folder, 'entry.ts'), `kept.result = ${run};`), { kept });
  return kept.result;
}

describe('modules in a page', () => {
  it('are inlined once each, without types and without conflicts of names', () => {
    const modules = {
      'entry.ts': [
        `import type { Size } from './a.ts';`,
        `import { twice } from './a.ts';`,
        `import { twice as more, type Loose } from './b.ts';`,
        'export function all(size: Size): Loose { return [twice(size), more(size)]; }',
      ].join('\n'),
      'a.ts': [
        `import { counted } from './c.ts';`,
        'export type Size = number;',
        'const FACTOR = 2;',
        '// A comment.',
        `export function twice(size: Size): number { counted.push('a'); return FACTOR * size!; }`,
      ].join('\n'),
      'b.ts': [
        `import { counted } from './c.ts';`,
        'export type Loose = readonly (number | string)[];',
        'const FACTOR = 20;',
        `export function twice(size: number): string {`,
        `  counted.push('b');`,
        `  return FACTOR * size + '/' + counted.length;`,
        '}',
      ].join('\n'),
      'c.ts': 'export const counted: string[] = [];\n',
    };
    expect(inlined(modules, 'entry.all(3).join()')).toBe('6,60/2');
  });

  it('are refused where they use unsupported syntax, or would end the page’s script', () => {
    expect(() => inlined({ 'entry.ts': `export * from './a.ts';\n`, 'a.ts': '' }, '0'))
      .toThrow(/entry\.ts cannot be inlined into a page: export \*/);
    expect(() =>
      inlined({ 'entry.ts': `import { readFileSync } from 'node:fs';\nexport const a = readFileSync;\n` }, '0'))
      .toThrow(/cannot be inlined into a page: import/);
    expect(() => inlined({ 'entry.ts': `export const a = '</script>';\n` }, '0'))
      .toThrow(/may not contain text that ends the script/);
  });
});
