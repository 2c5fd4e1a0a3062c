import { configDefaults, defineConfig } from 'vitest/config';

/** Folders whose tests start nothing and change nothing outside themselves: they share a worker, which halves their time. */
const PURE = ['cli', 'config', 'core', 'engine', 'market', 'service/wire', 'strategies', 'strategy', 'trading'].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    // Tests start real processes on a machine of two cores: more workers than that only make each other late.
    maxWorkers: 2,
    // What hangs is found by these; what is slow on a busy machine is no fault.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...PURE] } },
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
    ],
  },
});
