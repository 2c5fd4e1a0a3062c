import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const KEPT = new URL('../../../src/cli/output/terminal.ts', import.meta.url).href;

describe('a process that ends before its command is done', () => {
  it.each(['process.exit(0)', 'setTimeout(() => { throw new Error("a bug"); }); await new Promise(() => undefined)'])(
    'fails, and says that the next run recovers an open swap: %s', (end) => {
      const script = `import { keepProcess } from ${JSON.stringify(KEPT)}; keepProcess(true); ${end};`;
      const { status, stdout, stderr } =
        spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
      expect([status, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(
        /PROCESS_ENDED.*there is no result, and the next run recovers a swap that was in progress/s,
      )]);
    });
});
