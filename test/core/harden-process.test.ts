import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../src/core/harden-process.ts', import.meta.url).href;

/** Runs code in a process after the hardening; returns what it prints. */
async function afterHardening(code: string): Promise<unknown> {
  const text = `
    import { hardenProcess } from '${MODULE}';
    const hardened = hardenProcess();
    ${code}
    hardened.exit(0);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning', '--permission', '--allow-fs-read=/', '--input-type=module', '--eval', text,
  ], { env: { GANNET_WALLET_KEY: 'canary' } });
  return JSON.parse(stdout);
}

describe('a hardened process', () => {
  it('has no call that ends or signals a process, loads native code or changes permissions', async () => {
    const left = await afterHardening(`
      const named = await import('node:process');
      const names = ['kill', '_kill', 'abort', 'reallyExit', 'execve', 'dlopen', 'binding', '_linkedBinding',
        '_debugProcess', 'getBuiltinModule', 'setuid', 'chdir', '_getActiveHandles'];
      console.log(JSON.stringify([...names.filter((name) =>
        process[name] !== undefined || named[name] !== undefined || named.default[name] !== undefined),
      ...Object.keys(process.permission), ...Object.keys(process.env)]));
    `);
    expect(left).toStrictEqual([]);
  });

  it('throws where code calls process.exit, and keeps the removed calls removed', async () => {
    const said = await afterHardening(`
      const said = [];
      const works = [() => process.exit(3), () => { process.kill = () => true; }, () => { delete process.exit; }];
      for (const work of works) {
        try { work(); said.push('done'); } catch (error) { said.push(error.message); }
      }
      console.log(JSON.stringify(said));
    `);
    expect(said).toStrictEqual([
      'process.exit() was called: a strategy cannot end the process that it runs in',
      expect.stringContaining('read only'), expect.stringContaining('Cannot delete'),
    ]);
  });

  it('ends at its own call, whatever code has done to the functions that call others', async () => {
    // Without its own end, a timer would keep the process.
    const said = await afterHardening(`
      setTimeout(() => undefined, 600_000);
      console.log('[]');
      const nothing = { value: () => undefined };
      for (const name of ['apply', 'get']) Object.defineProperty(Reflect, name, nothing);
      for (const name of ['apply', 'bind', 'call']) Object.defineProperty(Function.prototype, name, nothing);
    `);
    expect(said).toStrictEqual([]);
  });
});
