import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

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

export default defineConfig({
  test: {
    // Tests start real processes on a machine of two cores: more workers than that only make each other late.
    maxWorkers: 2,
    // What hangs is found by these; what is slow on a busy machine is no fault.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: 'forks',
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
