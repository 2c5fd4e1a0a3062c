import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

/**
 * As a command does it: with somebody who listens to Ctrl-C, and never gets to hear of it while a step does not end.
 */
const ENDLESS = `
  import { writeSync } from 'node:fs';
  import { interruptible } from ${JSON.stringify(`${SOURCES}/research/strategy-guards.ts`)};
  import { stepByStep } from ${JSON.stringify(`${SOURCES}/recording/interrupt.ts`)};
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
  await stepByStep(interruptible(steps()), controller.signal).catch(({ code }) => { writeSync(1, code); });
  process.exitCode = 130;
`;

describe('work in which a strategy runs', () => {
  it('is broken off by Ctrl-C also where a step does not end', async () => {
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
