import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

/** Like a command: with a listener for Ctrl-C, which never runs while a step does not end. */
const ENDLESS = `
  import { writeSync } from 'node:fs';
  import { interruptible } from ${JSON.stringify(`${SOURCES}/research/strategy-guards.ts`)};
  import { runInterruptibly } from ${JSON.stringify(`${SOURCES}/recording/interrupt.ts`)};
  const controller = new AbortController();
  process.on('SIGINT', () => { controller.abort(); });
  function* steps() {
    yield;
    try {
      writeSync(1, 'in it ');
      for (;;);
    } catch {
      writeSync(1, 'caught ');
    } finally {
      writeSync(1, 'left ');
    }
  }
  await runInterruptibly(interruptible(steps()), controller.signal).catch(({ code }) => { writeSync(1, code); });
  process.exitCode = 130;
`;

describe('work in which a strategy runs', () => {
  it('is interrupted by Ctrl-C even if a step never ends', async () => {
    const child = spawn(
      process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', ENDLESS],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said === 'in it ') child.kill('SIGINT');
    });
    try {
      expect(await ended).toStrictEqual([130, null]);
      // Nothing of the work goes on, neither what catches everything nor what comes after.
      expect(said).toBe('in it INTERRUPTED');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
