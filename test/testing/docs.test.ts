import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gannet-docs-'));

afterAll(() => { rmSync(folder, { recursive: true }); });

/** The faces of the package, in the source. */
const FACES = { gannet: 'src/strategy/index.ts', 'gannet/testing': 'src/testing/index.ts' } as const;

it('docs/testing.md: every code block is a file of a project whose tests pass', async () => {
  const text = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
  const blocks = [...text.matchAll(/^```ts\n(\/\/ (\S+)\n[^]*?)^```$/gm)];
  expect(blocks).toHaveLength(text.match(/^```ts$/gm)!.length);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  let tests = 0;
  for (const [, code = '', name = ''] of blocks) {
    tests += code.match(/^test\(/gm)?.length ?? 0;
    const linked = code.replaceAll(/'(gannet(?:\/testing)?)'/g, (_all, face: keyof typeof FACES) =>
      `'${pathToFileURL(join(ROOT, FACES[face])).href}'`);
    writeFileSync(join(folder, name), linked);
  }
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--test', '--test-isolation=none', '--test-reporter=tap'], { cwd: folder, env: {} },
  ).catch((error: unknown) => error as { stdout: string });
  expect(stdout).toContain(`# pass ${tests}\n`);
  expect(stdout).toContain('# fail 0\n');
});
