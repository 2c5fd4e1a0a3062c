import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockWallet } from '../../src/store/locks.ts';
import { temporaryFolder } from './fixtures.ts';

const CHILD = fileURLToPath(new URL('locking-child.ts', import.meta.url));
const ADDRESS = 'Wa11etWa11etWa11etWa11etWa11etWa11etWa11et';
const OTHER = 'otherWa11etWa11etWa11etWa11etWa11etWa11et';
const locked = expect.objectContaining({ code: 'STATE_LOCKED' });

async function lockingChild(directory: string, address: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [CHILD, directory, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => { child.kill('SIGKILL'); });
  const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { child, said: said.trim() };
}

function lock(directory: string, address = ADDRESS): ReturnType<typeof lockWallet> {
  const held = lockWallet({ address, directory, clock: new VirtualTimeScheduler() });
  onTestFinished(() => { held.release(); });
  return held;
}

describe("a wallet's lock", () => {
  it('is refused to another process with the number of the one that has it, until that one is killed', async () => {
    const directory = join(temporaryFolder(), 'locks');
    const { child, said } = await lockingChild(directory, ADDRESS);
    expect(said).toBe('locked');
    expect(() => lock(directory)).toThrow(expect.objectContaining({ code: 'STATE_LOCKED', message: expect.stringContaining(`process ${child.pid};`) }));
    child.kill('SIGKILL');
    await once(child, 'exit');
    lock(directory);
    expect((await lockingChild(directory, ADDRESS)).said).toBe('STATE_LOCKED');
  });

  it('is held once within a process too, and free after its release', () => {
    const directory = join(temporaryFolder(), 'locks');
    const held = lock(directory);
    expect(() => lock(directory)).toThrow(locked);
    // A refused attempt must not give away what the first one holds.
    expect(() => lock(directory)).toThrow(locked);
    held.release();
    lock(directory);
  });

  it('is still held against others after an attempt in the same process was refused', async () => {
    const directory = join(temporaryFolder(), 'locks');
    lock(directory);
    expect(() => lock(directory)).toThrow(locked);
    expect((await lockingChild(directory, ADDRESS)).said).toBe('STATE_LOCKED');
  });

  it('is one for each wallet', () => {
    const directory = join(temporaryFolder(), 'locks');
    lock(directory);
    lock(directory, OTHER);
  });

  it('lies in a folder that is ours alone, or is refused', () => {
    const directory = join(temporaryFolder(), 'locks');
    lock(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const open = join(temporaryFolder(), 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    expect(() => lock(open)).toThrow(locked);
  });

  it('never looks old, however long it is held', () => {
    const directory = join(temporaryFolder(), 'locks');
    const clock = new VirtualTimeScheduler();
    const held = lockWallet({ address: ADDRESS, directory, clock });
    const file = join(directory, `${ADDRESS}.lock`);
    utimesSync(file, 0, 0);
    clock.maxFrames = 30 * 86_400_000;
    clock.flush();
    expect(statSync(file).mtimeMs).toBeGreaterThan(29 * 86_400_000);
    held.release();
  });

  it('is not for what is no address', () => {
    const directory = join(temporaryFolder(), 'locks');
    expect(() => lock(directory, '../../etc/passwd')).toThrow(locked);
    expect(existsSync(directory)).toBe(false);
  });
});
