import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeServiceManager } from '../../src/core/process-supervisor.ts';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'gannet-manager-')); });
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

/** Puts a `systemd-notify` on the path that writes down its socket and what it is told. */
function path(script = `printf '%s\\n' "$NOTIFY_SOCKET|$(env | wc -l)" "$@" end >> '${folder}/told'`): string {
  const file = join(folder, 'systemd-notify');
  // A process that still runs the file keeps it from being written.
  rmSync(file, { force: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return `${folder}:/usr/bin:/bin`;
}

const told = (): string => (existsSync(join(folder, 'told')) ? readFileSync(join(folder, 'told'), 'utf8') : '');

describe('the service manager', () => {
  it('is none without a socket, and the variables go to no child process', () => {
    const variables = { NOTIFY_SOCKET: '', WATCHDOG_USEC: '5000', WATCHDOG_PID: '1', PATH: '/bin' };
    expect(takeServiceManager(variables, () => undefined)).toBeUndefined();
    expect(variables).toEqual({ PATH: '/bin' });
  });

  it('is told each state as one message, with words that cannot forge another', async () => {
    const faults: string[] = [];
    const manager = takeServiceManager(
      { NOTIFY_SOCKET: '@manager', WATCHDOG_USEC: '60000000', PATH: path(), GANNET_API_KEY: 'secret' },
      (fault) => { faults.push(fault); },
    )!;
    expect(manager.watchdogMs).toBe(60_000);
    manager.tell({ ready: true });
    manager.tell({ well: true, status: 'one\nREADY=1\ttwo * $(id) "three"' });
    manager.close();
    manager.tell({ well: true });
    await expect.poll(told, { timeout: 10_000 }).toContain('three');
    const [socket] = told().split('\n');
    expect(socket).toMatch(/^@manager\|[1-5]$/);
    expect(told().replaceAll(`${socket}\n`, '')).toBe(
      'READY=1\nend\nWATCHDOG=1\nSTATUS=one\\u000aREADY=1\\u0009two * $(id) "three"\nend\n',
    );
    expect(faults).toEqual([]);
  });

  it('that takes no message is reported once, and is told again once it does', async () => {
    const faults: string[] = [];
    const manager =
      takeServiceManager({ NOTIFY_SOCKET: '/none', PATH: path('exit 1') }, (fault) => { faults.push(fault); })!;
    for (let times = 0; times < 2; times++) {
      manager.tell({ well: true });
      await expect.poll(() => faults, { timeout: 10_000 }).toHaveLength(1);
    }
    expect(faults[0]).toContain('systemd-notify ended with 1');
    path();
    await expect.poll(() => {
      manager.tell({ well: true });
      return told();
    }, { timeout: 10_000 }).toContain('WATCHDOG=1');
    manager.close();
    expect(faults).toHaveLength(1);
  });
});
