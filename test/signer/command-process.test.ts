import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { frugalStart } from '../../src/signer/command-process.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const GIVEN = { options: [
  '--disable-sigusr1', '--max-semi-space-size=1', '--initial-old-space-size=8', '--heap-growing-percent=20',
  '--no-allocation-site-pretenuring', '--enable-source-maps',
], variables: { PATH: '/bin' } };

/** Returns what a command's process was started with of options of the heap. */
function heapOptionsOf(command: string): string[] {
  const tell = 'console.error("started with", JSON.stringify(process.execArgv));';
  const { stderr } = spawnSync(join(PROJECT, 'bin', 'gannet'), [command, '--help'], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}` },
  });
  const told = /^started with (.+)$/m.exec(stderr)?.[1];
  expect(told).toBeDefined();
  return (JSON.parse(told!) as string[]).filter((option) => /size|percent|pretenuring/.test(option));
}

describe('the start of a command’s process', () => {
  test.each([
    undefined, 'backtest', 'sweep', 'bench', 'swap', 'status',
  ])('leaves the heap of %s as it is by default, and keeps what else it was given', (command) => {
    expect(frugalStart({ command, config: undefined }, GIVEN))
      .toStrictEqual({ options: ['--disable-sigusr1', '--enable-source-maps'], variables: { PATH: '/bin' } });
  });

  test.each(['run', 'record'])('is frugal for a lasting command: %s', (command) => {
    const { options, variables } = frugalStart({ command, config: undefined }, GIVEN);
    expect(options.slice(0, 2)).toStrictEqual(['--disable-sigusr1', '--enable-source-maps']);
    expect(options.slice(2).map((option) => option.replace(/=.*/, '')).sort()).toStrictEqual(
      [
        '--heap-growing-percent', '--initial-old-space-size', '--max-semi-space-size',
        '--no-allocation-site-pretenuring',
      ]);
    expect(options).not.toContain('--max-semi-space-size=1');
    expect(variables).toStrictEqual({ PATH: '/bin', MALLOC_ARENA_MAX: '2' });
  });

  test('keeps an operator’s own setting of the allocator', () => {
    const variables = { MALLOC_ARENA_MAX: '8' };
    expect(frugalStart({ command: 'run', config: undefined }, { ...GIVEN, variables }).variables)
      .toStrictEqual(variables);
  });
});

describe('bin/gannet', () => {
  // Inherited, it would make a sweep collect its young generation a hundred times as often.
  test('does not hand the small heap of the first process on', () => {
    expect(heapOptionsOf('sweep')).toStrictEqual([]);
    expect(heapOptionsOf('run').filter((option) => option.startsWith('--max-semi-space-size')))
      .toStrictEqual(['--max-semi-space-size=2']);
  });
});
