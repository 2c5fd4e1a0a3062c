import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { dropPreparedSandbox, prepareSandbox, spawnSandbox } from '../../../src/sandbox/spawn.ts';
import { Pool } from 'undici';

const SPAWN = fileURLToPath(new URL('../../../src/sandbox/spawn.ts', import.meta.url));

async function stateOf(baseUrl: string): Promise<number> {
  const pool = new Pool(baseUrl);
  try {
    const response = await pool.request({ method: 'GET', path: '/sandbox/state' });
    await response.body.dump();
    return response.statusCode;
  } finally {
    await pool.close();
  }
}

/** Resolves when nothing listens there any more. */
async function gone(baseUrl: string): Promise<void> {
  for (;;) {
    try {
      await stateOf(baseUrl);
    } catch {
      return;
    }
  }
}

describe('a sandbox in a process of its own', () => {
  it('starts, serves, and ends when told', async () => {
    const sandbox = await spawnSandbox({ seed: 11, speed: 0 });
    expect(await stateOf(sandbox.addresses.base_url)).toBe(200);
    await sandbox.stop();
    await sandbox.exited;
    await gone(sandbox.addresses.base_url);
  });

  it('starts in the process that was prepared for it', async () => {
    prepareSandbox();
    const [first, second] = await Promise.all([spawnSandbox({ speed: 0 }), spawnSandbox({ speed: 0 })]);
    expect(first.pid).not.toBe(second.pid);
    expect([await stateOf(first.addresses.base_url), await stateOf(second.addresses.base_url)]).toEqual([200, 200]);
    prepareSandbox();
    dropPreparedSandbox();
    const third = await spawnSandbox({ speed: 0 });
    expect(await stateOf(third.addresses.base_url)).toBe(200);
    await Promise.all([first, second, third].map((sandbox) => sandbox.stop()));
  });

  it('says why it did not start', async () => {
    await expect(spawnSandbox({ speed: -1 }))
      .rejects.toMatchObject({ code: 'SANDBOX_FAILED', message: expect.stringMatching(/speed: expected a number/) });
  });

  it('outlives Ctrl-C, and ends when its parent is killed', async () => {
    const source = `
      process.on('SIGINT', () => undefined);
      import { spawnSandbox } from ${JSON.stringify(SPAWN)};
      const { addresses } = await spawnSandbox({ speed: 0 });
      console.log(addresses.base_url);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['ignore', 'pipe', 'inherit'], detached: true,
    });
    const [baseUrl] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    expect(await stateOf(baseUrl)).toBe(200);
    // What Ctrl-C does to a whole group must not take the chain from under a parent that still drains.
    process.kill(-parent.pid!, 'SIGINT');
    expect(await stateOf(baseUrl)).toBe(200);
    parent.kill('SIGKILL');
    await gone(baseUrl);
  });
});
