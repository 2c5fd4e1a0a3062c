import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stopFileOf, watchStopFile } from '../../../src/daemon/watch/stop-file.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

describe('the file STOP', () => {
  it.each<readonly [string, (path: string) => void, string | undefined]>([
    ['nothing', () => undefined, undefined],
    ['an empty file', (path) => { writeFileSync(path, ''); }, ''],
    ['a reason', (path) => { writeFileSync(path, '  the market is closed \r\nsecond line'); }, 'the market is closed'],
    ['what could fool a terminal', (path) => { writeFileSync(path, 'a\u001b[2Jb\u202ec'); }, 'a\\u001b[2Jb\\u202ec'],
    [
      'bytes that are no text', (path) => { writeFileSync(path, Buffer.from([0xff, 0x00, 0x80])); },
      '\ufffd\\u0000\ufffd',
    ],
    ['megabytes', (path) => { writeFileSync(path, 'x'.repeat(3_000_000)); }, `${'x'.repeat(200)}…`],
    ['a folder', (path) => { mkdirSync(path); }, ''],
    ['a pipe without a writer', (path) => { execFileSync('mkfifo', [path]); }, ''],
    ['a link to nowhere', (path) => { symlinkSync('/nowhere', path); }, ''],
  ])('%s', (_name, make, said) => {
    const file = stopFileOf(temporaryFolder());
    make(file.path);
    expect(file.read()).toBe(said);
  });

  it('is checked at once and every second until the subscription ends', () => {
    const file = stopFileOf(temporaryFolder());
    const clock = new VirtualClock(0);
    const checks: [number, string | undefined][] = [];
    const watching = watchStopFile(file, clock, (said) => { checks.push([clock.now(), said]); });
    clock.advanceTo(1_500);
    writeFileSync(file.path, 'now');
    clock.advanceTo(2_500);
    rmSync(file.path);
    clock.advanceTo(3_000);
    watching.unsubscribe();
    clock.advanceTo(9_000);
    expect(checks).toEqual([[0, undefined], [1_000, undefined], [2_000, 'now'], [3_000, undefined]]);
  });
});
