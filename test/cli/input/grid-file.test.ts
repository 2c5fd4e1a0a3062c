import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseGrid, readGridFile } from '../../../src/cli/input/grid-file.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import { isGannetError } from '../../../src/core/errors.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { feedKey } from '../../../src/market/feed.ts';
import type { Grid } from '../../../src/research/sweep/grid.ts';
import { planTrials } from '../../../src/research/trials/plan-trials.ts';
import meanReversion from '../../../strategies/mean-reversion.ts';
import smaCrossover from '../../../strategies/sma-crossover.ts';
import { GENESIS } from '../../config/load-text.ts';

const TARGET = {
  seed: 7,
  strategies: [
    {
      name: 'dip', use: 'mean-reversion', origin: 'project' as const, strategy: meanReversion, params: {},
      rawParams: {}, budget: undefined, maxAgeMs: undefined, maxExposure: undefined, warmupMs: undefined,
    },
    {
      name: 'sol-trend', use: 'sma-crossover', origin: 'project' as const, strategy: smaCrossover, params: {},
      rawParams: {}, budget: undefined, maxAgeMs: undefined, maxExposure: undefined, warmupMs: undefined,
    },
  ],
};

function grid(text: string): Grid {
  return parseGrid(text, { file: 'grid.yaml', target: TARGET });
}

function faultOf(text: string): string {
  try {
    grid(text);
  } catch (error) {
    if (isGannetError(error) && error.code === 'CONFIG_INVALID') return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe('the grid files of config/', () => {
  const files = readdirSync(`${PROJECT_DIR}config`).filter((name) => name.endsWith('.grid.yaml'));

  it('are there', () => {
    expect(files.sort()).toStrictEqual(['mean-reversion.grid.yaml', 'sma-crossover.grid.yaml']);
  });

  it.each(files)('%s fits its configuration, and most combinations are valid', async (name) => {
    const loaded = await loadConfig({
      file: `config/${basename(name, '.grid.yaml')}.yaml`, purpose: 'read', workingDir: PROJECT_DIR, environment: {},
      ...GENESIS,
    });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.issues));
    const { config } = loaded;
    const shipped = await readGridFile(`${PROJECT_DIR}config/${name}`, config);
    const { trials, refused } = await planTrials(shipped, {
      config, setup: { tokens: config.tokens.all },
      recording: { feeds: Engine.feedsOf(config.strategies).map(feedKey) },
    });
    expect(trials.length).toBeGreaterThan(refused.length);
  });
});

describe('a grid file', () => {
  it('holds lists and ranges, each value once', () => {
    expect(grid(
      'params:\n  sol-trend.fast: { from: 5, to: 15, step: 5 }\n  sol-trend.slow: [50, 100, 50]\n  dip.k: [1.5]\n',
    )).toStrictEqual({
      axes: [
        { strategy: 'sol-trend', param: 'fast', values: [5, 10, 15] },
        { strategy: 'sol-trend', param: 'slow', values: [50, 100] }, { strategy: 'dip', param: 'k', values: [1.5] },
      ],
      search: { kind: 'grid' },
    });
  });

  it('can be sampled, with its own seed or the configuration’s', () => {
    expect(grid('params: { dip.k: [1, 2] }\nsearch: random\nsamples: 5\nseed: 3\n').search)
      .toStrictEqual({ kind: 'random', samples: 5, seed: 3 });
    expect(grid('params: { dip.k: [1, 2] }\nsearch: random\nsamples: 5\n').search)
      .toStrictEqual({ kind: 'random', samples: 5, seed: 7 });
  });

  it.each([
    ['', 'grid.yaml:1:1 the file is empty: expected at least "params"'],
    ['# nothing\n', 'the file is empty: expected at least "params"'],
    ['- a\n', 'grid.yaml:1:1 expected keys and values'],
    ['search: grid\n', 'the key "params" is missing'],
    ['params: {}\n', 'grid.yaml:1:9 params: expected at least one parameter'],
    ['parms: { dip.k: [1] }\n', 'grid.yaml:1:1 parms: unknown key "parms" (did you mean "params"?)'],
    ['parameters: { dip.k: [1] }\n', 'did you mean "params"?'],
    ['params: { dip.k: [1] }\nsearch: randm\n', 'grid.yaml:2:9 search: expected'],
    [
      'params: { dip.k: [1] }\nsearch: random\n',
      'grid.yaml:2:9 search: a random search needs the number of combinations',
    ],
    ['params: { dip.k: [1] }\nsearch: random\nsamples: 0\n', 'grid.yaml:3:10 samples: expected'],
    ['params: { dip.k: [1] }\nsamples: 10\n', 'grid.yaml:2:1 samples: only "search: random"'],
    ['params: { dip.k: [1] }\nseed: 10\n', 'grid.yaml:2:1 seed: only "search: random"'],
    [
      'params:\n  dipp.k: [1]\n',
      'grid.yaml:2:3 params["dipp.k"]: the configuration has no strategy "dipp" (did you mean "dip.k"?)',
    ],
    ['params:\n  zebra.k: [1]\n', 'it has dip, sol-trend'],
    [
      'params:\n  dip.windw: [1]\n',
      'grid.yaml:2:3 params["dip.windw"]: unknown key "windw" (did you mean "window"?), parameters of dip',
    ],
    [
      'params:\n  window: [1]\n',
      'grid.yaml:2:3 params.window: expected "<strategy>.<parameter>" such as "dip.window", got "window"',
    ],
    ['params:\n  dip: { window: [1] }\n', 'expected "<strategy>.<parameter>"'],
    ['params:\n  dip.k: 2\n', 'grid.yaml:2:10 params["dip.k"]: expected a list of values such as [10, 20], or a range'],
    ['params:\n  dip.k: []\n', 'grid.yaml:2:10 params["dip.k"]: expected at least one value'],
    ['params:\n  dip.k: { from: 1, to: 2 }\n', 'the key "step" is missing'],
    ['params:\n  dip.k: { from: 1, to: 2, stp: 1, step: 1 }\n', 'unknown key "stp" (did you mean "step"?)'],
    [
      'params:\n  dip.k: { from: 2, to: 1, step: 1 }\n',
      'grid.yaml:2:10 params["dip.k"]: expected from to be at most to, got 2 and 1',
    ],
    ['params:\n  dip.k: { from: 0, to: 1, step: 0.000001 }\n', 'expected at most 100,000 values, got 1,000,001'],
    [
      'params:\n  dip.k: { from: 1, to: 1e308, step: 1 }\n',
      'expected at most 100,000 values, got about 1e308: take a larger step, or write a nearer "to"',
    ],
    [
      'params:\n  dip.k: [1]\n  dip.k: [2]\n',
      'grid.yaml:3:3 params["dip.k"]: the key "dip.k" already stands in line 2',
    ],
    ['params:\n\tdip.k: [1]\n', 'a tab cannot indent YAML'],
    [
      'params: { dip.k: { from: 0, to: 999, step: 1 }, dip.window: { from: 2, to: 201, step: 1 } }\n',
      'these are 200,000 combinations, more than 100,000: use larger steps, or "search: random"',
    ],
  ])('%j is refused at its place', (text, message) => {
    expect(faultOf(text)).toContain(message);
  });

  it('reports every fault at once, in the order of the file', () => {
    expect(faultOf('params:\n  dip.windw: []\n  x: 3\nsamples: 2\n').split('\n').map((line) => line.split(' ')[0]))
      .toStrictEqual(['grid.yaml:2:3', 'grid.yaml:2:14', 'grid.yaml:3:3', 'grid.yaml:3:6', 'grid.yaml:4:1']);
  });

  it('can be sampled with any number of combinations', () => {
    expect(grid('params: { dip.k: { from: 0, to: 999, step: 1 }, dip.window: { from: 2, to: 1001, step: 1 } }\nsearch: '
      + 'random\nsamples: 10\n').axes.map(({ values }) => values.length)).toStrictEqual([1_000, 1_000]);
  });

  it('that is missing or a folder is named in the error', async () => {
    await expect(readGridFile('/nowhere/grid.yaml', TARGET)).rejects.toMatchObject({
      code: 'CONFIG_NOT_FOUND',
      message: expect.stringContaining('/nowhere/grid.yaml:1:1 there is no such file') as string,
    });
    await expect(readGridFile('/tmp', TARGET))
      .rejects.toMatchObject({ code: 'CONFIG_NOT_FOUND', message: expect.stringContaining('got a folder') as string });
  });
});
