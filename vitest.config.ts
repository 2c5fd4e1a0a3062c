import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import type { TestSpecification } from 'vitest/node';
import type { Plugin } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { entryFile } from './src/core/code-files.ts';
import { isSharedPackage } from './src/core/shared-modules.ts';

/**
 * Workers, the threads and the processes that tests start in them find compiled code where the program keeps it: to compile
 * the modules is most of what starting one takes.
 */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'gannet');

/**
 * Tests that start browsers, campaigns and crashes, and change their process for it: each file has its worker to itself.
 * All others share two, which load the modules once; they leave nothing behind.
 */
const APART = ['browser', 'campaign', 'crash'].map((folder) => `test/${folder}/**/*.test.ts`);

/** What takes longest, because it starts processes: it begins first, so that no worker waits for it at the end. */
const LONG = /\/test\/(?:hostile|e2e|backtest\/parity|research\/lookahead|cli\/commands\/research)/;

const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);

/** Orders the files of each project; a clean checkout knows no durations, and sizes tell little. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

/** Strategies import the same names as in the program, and get the same modules, wherever their files are. */
const sharedModules: Plugin = {
  name: 'shared-modules', enforce: 'pre',
  resolveId(name, importer) {
    if (name === 'gannet') return entryFile('gannet');
    if (name === 'gannet/indicators') return entryFile('indicators');
    if (name === 'gannet/testing') return entryFile('testing');
    return isSharedPackage(name) && importer?.startsWith(import.meta.dirname) === false
      ? this.resolve(name, import.meta.filename) : null;
  },
};

export default defineConfig({
  plugins: [sharedModules],
  test: {
    // Tests start real processes on a machine of two cores: more workers than that only make each other late.
    maxWorkers: 2,
    // What hangs is found by these; what is slow on a busy machine is no fault.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: 'forks',
    sequence: { sequencer: LongFirst },
    // What is printed does not depend on the terminal that the tests are started in.
    env: { COLUMNS: '' },
    projects: [
      { extends: true, test: { name: 'apart', include: APART } },
      // The same engine tests with every strategy apart from the engine, as it runs in a process of its own.
      {
        extends: true,
        test: { name: 'engine-apart', include: ['test/engine/*.test.ts'], isolate: false, env: { GANNET_TEST_APART: '1' } },
      },
      { extends: true, test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...APART], isolate: false } },
    ],
  },
});
