import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { link } from '../../../src/sandbox/program/link.ts';

const folder = fileURLToPath(new URL('../../../src/sandbox/program/', import.meta.url));
const BUILT_WITH = 'clang version 14.0.6';

test('the committed program is the one its hash was taken of', () => {
  const [expected, name] = readFileSync(join(folder, 'swap.so.sha256'), 'utf8').trim().split(/\s+/);
  expect(name).toBe('swap.so');
  expect(hash('sha256', readFileSync(join(folder, 'swap.so')))).toBe(expected);
});

test.skipIf(!installedClang().includes(BUILT_WITH))('the committed program is what its source compiles to', () => {
  const build = mkdtempSync(join(tmpdir(), 'gannet-swap-'));
  try {
    const object = join(build, 'swap.o');
    const flags =
      ['-target', 'bpf', '-mcpu=v2', '-O2', '-ffreestanding', '-fno-builtin', '-Wall', '-Wextra', '-Werror'];
    execFileSync('clang', [...flags, '-c', 'swap.c', '-o', object], { cwd: folder });
    expect(hash('sha256', link(readFileSync(object)))).toBe(hash('sha256', readFileSync(join(folder, 'swap.so'))));
  } finally {
    rmSync(build, { recursive: true });
  }
});

test('the linker refuses what is no BPF object', () => {
  expect(() => link(new Uint8Array(200))).toThrow('expected an ELF file');
});

function installedClang(): string {
  try {
    return execFileSync('clang', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return 'none';
  }
}
