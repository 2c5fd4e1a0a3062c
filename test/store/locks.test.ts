import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
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

async function lockingChild(
  directory: string, address: string, environment: NodeJS.ProcessEnv = process.env,
): Promise<{ child: ChildProcess; said: string }> {
  const child =
    spawn(process.execPath, [CHILD, directory, address], { stdio: ['ignore', 'pipe', 'inherit'], env: environment });
  onTestFinished(() => { child.kill('SIGKILL'); });
  const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { child, said: said.trim() };
}

async function lock(directory: string | undefined, address = ADDRESS): ReturnType<typeof lockWallet> {
  const held = await lockWallet({ address, directory, clock: new VirtualTimeScheduler() });
  onTestFinished(() => { held.release(); });
  return held;
}

describe("a wallet's lock", () => {
  it('is refused to another process, naming the holder, until the holder is killed', async () => {
    const directory = join(temporaryFolder(), 'locks');
    const { child, said } = await lockingChild(directory, ADDRESS);
    expect(said).toBe('locked');
    await expect(lock(directory)).rejects.toEqual(
      expect.objectContaining({ code: 'STATE_LOCKED', message: expect.stringContaining(`process ${child.pid};`) }),
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    await lock(directory);
    expect((await lockingChild(directory, ADDRESS)).said).toMatch(/^STATE_LOCKED /);
  });

  it('is held once within a process too, and free after its release', async () => {
    const directory = join(temporaryFolder(), 'locks');
    const held = await lock(directory);
    await expect(lock(directory)).rejects.toEqual(locked);
    // A refused attempt must not give away what the first one holds.
    await expect(lock(directory)).rejects.toEqual(locked);
    held.release();
    await lock(directory);
  });

  it('is still held against others after an attempt in the same process was refused', async () => {
    const directory = join(temporaryFolder(), 'locks');
    await lock(directory);
    await expect(lock(directory)).rejects.toEqual(locked);
    expect((await lockingChild(directory, ADDRESS)).said).toMatch(/^STATE_LOCKED /);
  });

  it('is one for each wallet', async () => {
    const directory = join(temporaryFolder(), 'locks');
    await lock(directory);
    await lock(directory, OTHER);
  });

  it('is refused in a folder that other users can write to', async () => {
    const directory = join(temporaryFolder(), 'locks');
    await lock(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const open = join(temporaryFolder(), 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    await expect(lock(open)).rejects.toEqual(locked);
  });

  it('has fresh files however long it is held', async () => {
    const directory = join(temporaryFolder(), 'locks');
    const clock = new VirtualTimeScheduler();
    const held = await lockWallet({ address: ADDRESS, directory, clock });
    const file = join(directory, `${ADDRESS}.lock`);
    utimesSync(file, 0, 0);
    clock.maxFrames = 30 * 86_400_000;
    clock.flush();
    expect(statSync(file).mtimeMs).toBeGreaterThan(29 * 86_400_000);
    held.release();
  });

  it('remains held when its files are removed', async () => {
    const directory = join(temporaryFolder(), 'locks');
    const clock = new VirtualTimeScheduler();
    await lockWallet({ address: ADDRESS, directory, clock });
    rmSync(directory, { recursive: true });
    clock.maxFrames = 2 * 3_600_000;
    expect(() => { clock.flush(); }).not.toThrow();
  });

  it('is refused for an invalid address', async () => {
    const directory = join(temporaryFolder(), 'locks');
    await expect(lock(directory, '../../etc/passwd')).rejects.toEqual(locked);
    expect(existsSync(directory)).toBe(false);
  });
});

describe.runIf(process.platform === 'linux')("a wallet's lock without a folder", () => {
  it('is one for the whole machine, independent of home and temporary folders, and ends with its holder', async () => {
    const address = `${ADDRESS}${process.pid}`.replaceAll('0', '1').slice(0, 44);
    const { child, said } =
      await lockingChild('host', address, { ...process.env, HOME: temporaryFolder(), TMPDIR: temporaryFolder() });
    expect(said).toBe('locked');
    const elsewhere = { ...process.env, HOME: temporaryFolder(), TMPDIR: temporaryFolder() };
    expect((await lockingChild('host', address, elsewhere)).said).toBe(`STATE_LOCKED ${child.pid}`);
    await expect(lock(undefined, address))
      .rejects.toEqual(expect.objectContaining({ message: expect.stringContaining(`process ${child.pid};`) }));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const held = await lock(undefined, address);
    await expect(lock(undefined, address)).rejects.toEqual(locked);
    held.release();
    await lock(undefined, address);
  });
});
