import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('../../src/research/strategy-guards.ts', import.meta.url));

/** Makes objects in steps, in a process with a small heap that is checked after each of them. Returns what it says. */
function growing(keep: string, steps: number): string {
  const { stdout } = spawnSync(process.execPath, ['--max-old-space-size=64', '--max-semi-space-size=1',
      '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', `
    const { refuseFullHeap } = await import(${JSON.stringify(MODULE)});
    let kept = [];
    try {
      for (let step = 0; step < ${steps}; step++) {
        const more = Array.from({ length: 2_000 }, (_, index) => ({ index, step }));
        ${keep}
        refuseFullHeap();
      }
      console.log('done');
    } catch ({ code, message }) { console.log(code, message); }
  `], { encoding: 'utf8' });
  return stdout.trim();
}

describe('a process whose heap fills up', () => {
  it('fails with a message before it runs out of memory', () => {
    const said = growing('kept.push(more);', 3_000);
    expect(said).toMatch(/^STRATEGY_MEMORY the run needs more memory than this process has \(\d+ MB\): most likely /);
    expect(said).toMatch(/a strategy keeps more and more of its input\. .*NODE_OPTIONS=--max-old-space-size=\d+$/);
  });

  it('continues when the memory is no longer in use', () => {
    expect(growing('kept = more;', 3_000)).toBe('done');
  });
});
