import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagesFault } from '../../src/cli/kept-process.ts';

const KEPT = new URL('../../src/cli/kept-process.ts', import.meta.url).href;

describe('a process that ends before its command is done', () => {
  it.each(['process.exit(0)', 'setTimeout(() => { throw new Error("a bug"); }); await new Promise(() => undefined)'])(
    'fails, and says that the next run recovers an open swap: %s', (end) => {
      const script = `import { keepProcess } from ${JSON.stringify(KEPT)}; keepProcess(true); ${end};`;
      const { status, stdout, stderr } =
        spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
      expect([status, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(
        /PROCESS_ENDED.*there is no result, and the next run recovers a swap that was in progress/s,
      )]);
    });
});

/** Returns a checkout that needs packages, with installed ones in its own folder or in the one above. */
function checkout(needed: object, installed: Readonly<Record<string, string>>, place = '.'): string {
  const dir = join(mkdtempSync(join(tmpdir(), 'gannet-packages-')), 'checkout');
  mkdirSync(dir);
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ dependencies: needed }));
  for (const [name, version] of Object.entries(installed)) {
    mkdirSync(join(dir, place, 'node_modules', name), { recursive: true });
    writeFileSync(join(dir, place, 'node_modules', name, 'package.json'), JSON.stringify({ name, version }));
  }
  return dir;
}

describe('packages that are not those of the checkout', () => {
  const NEEDED = { rxjs: '7.8.2', '@solana/web3.js': '1.99.0', own: 'file:vendor/own' };
  const INSTALLED = { rxjs: '7.8.2', '@solana/web3.js': '1.99.0', own: '0.0.1' };

  it('are named with both versions and the command that installs the right ones', () => {
    const missing = checkout(NEEDED, { rxjs: '7.8.2', own: '1.0.0' });
    expect(packagesFault(missing))
      .toBe(`the package @solana/web3.js is not installed, and 1.99.0 is needed: run "npm ci" in ${missing}`);
    const old = checkout(NEEDED, { ...INSTALLED, rxjs: '7.8.1' });
    expect(packagesFault(old))
      .toBe(`the package rxjs is installed as 7.8.1, and 7.8.2 is needed: run "npm ci" in ${old}`);
    expect(packagesFault(checkout(NEEDED, { rxjs: '7.8.2', '@solana/web3.js': '1.99.0' })))
      .toMatch(/^the package own is not installed: run "npm ci" in /);
  });

  it('are no fault where all are there, in the checkout or above it', () => {
    expect(packagesFault(checkout(NEEDED, INSTALLED))).toBeUndefined();
    expect(packagesFault(checkout(NEEDED, INSTALLED, '..'))).toBeUndefined();
  });

  it('are none of this checkout', () => {
    expect(packagesFault(join(import.meta.dirname, '../..'))).toBeUndefined();
  });
});
