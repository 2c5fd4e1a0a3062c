import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { shippedConfig } from '../../../../src/config/strategy-file.ts';
import { PROJECT_DIR } from '../../../../src/core/code-files.ts';
import { strategyCommand } from '../../../../src/cli/commands/strategy/strategy.ts';
import { linesWrapped, widthOf } from '../../../../src/cli/output/terminal.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { catalogueNames, yamlOf } from '../../../strategies/catalogue/catalogue.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';

const home = process.cwd();
afterEach(() => { process.chdir(home); });

const run = (...args: readonly string[]): Promise<Answer> =>
  runCommand(strategyCommand, ['strategy', ...args], { stateDir: '/nowhere' });

const OWN = `import { amount, defineStrategy, duration, pair, quotes } from 'gannet';
import { EMPTY } from 'rxjs';
import { z } from 'zod';
export default defineStrategy({
  name: 'own', summary: 'Does nothing at all.', losesMoneyWhen: 'never',
  params: z.strictObject({
    pair: pair().describe('what to watch'), size: amount(), every: duration().default('4s'),
    level: z.number().min(0.5).max(2), side: z.enum(['buy', 'sell']), count: z.int().min(2).optional(),
    targets: z.array(z.strictObject({ weight: z.number().describe('its share') })).default([]),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: () => EMPTY,
});
`;

describe('gannet strategy list and describe', () => {
  it('list what comes with Gannet and what is in strategies/, and what is wrong with one', async () => {
    const folder = temporaryFolder();
    process.chdir(folder);
    mkdirSync('strategies');
    writeFileSync('strategies/own.ts', OWN);
    writeFileSync('strategies/broken.ts', 'export default defineStrategy({');
    const { code, document, text } = await run('list');
    const rows = document['strategies'] as { use: string; summary?: string; fault?: string }[];
    expect(rows.find(({ use }) => use === 'dca')!.summary).toBe('Buys a token for a fixed amount at a fixed interval.');
    expect(rows.find(({ use }) => use === './strategies/own.ts')!.summary).toBe('Does nothing at all.');
    expect(rows.find(({ use }) => use === './strategies/broken.ts')!.fault).toMatch(/cannot be loaded/);
    expect(text).toContain('./strategies/own.ts');
    expect(code).toBe(1);
  });

  it('describe a strategy with its parameters, its inputs, their cost and an example', async () => {
    const folder = temporaryFolder();
    process.chdir(folder);
    writeFileSync('own.ts', OWN);
    const before = process.env['COLUMNS'];
    process.env['COLUMNS'] = '80';
    const { code, document, text } = await run('describe', './own.ts').finally(() => {
      if (before === undefined) delete process.env['COLUMNS'];
      else process.env['COLUMNS'] = before;
    });
    expect(code).toBe(0);
    expect(document).toMatchObject({
      name: 'own', summary: 'Does nothing at all.', loses_money_when: 'never', requests_per_second: 0.25,
      inputs: [{ name: 'price' }],
      params: [
        { name: 'pair', type: 'pair', needed: true, default: null, description: 'what to watch' },
        { name: 'size', type: 'amount', needed: true },
        { name: 'every', type: 'duration', needed: false, default: '4s' },
        { name: 'level', type: 'number, at least 0.5, at most 2', needed: true },
        { name: 'side', type: '"buy" or "sell"', needed: true },
        { name: 'count', type: 'integer, at least 2', needed: false, default: null },
        { name: 'targets', type: 'list of object', needed: false, default: [] },
        { name: 'targets[].weight', type: 'number', needed: true, description: 'its share' },
      ],
    });
    expect(document['example']).toBe(`strategies:
  - use: ./own.ts
    budget: "1000 USDC"
    params:
      pair: SOL/USDC
      size: "25 USDC"
      # every: "4s"
      level: 0.5
      side: "buy"
      # count: 2
      # targets: []
`);
    expect(text).toContain('0.25 a second');
    expect(linesWrapped(text, 80).split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
  });

  it('describe a strategy whose rules refuse the defaults by the examples of its schema', async () => {
    const folder = temporaryFolder();
    process.chdir(folder);
    const ruled = OWN.replace('size: amount(),', "size: amount().meta({ examples: ['3 SOL'] }),")
      .replace('z.int().min(2).optional()', 'z.int().min(2).optional().meta({ examples: [4] })')
      .replace(').default([]),\n  }),', ').default([]),\n'
        + "  }).refine((p) => p.size.token.symbol === 'SOL' && p.count === 4, { message: 'expected 4 times SOL' }),");
    writeFileSync('own.ts', ruled);
    const { document } = await run('describe', './own.ts');
    expect(document).toMatchObject({ inputs: [{ name: 'price' }], requests_per_second: 0.25 });
    expect(document['example']).toContain('      size: "3 SOL"\n      # every: "4s"\n');
    expect(document['example']).toContain('      count: 4\n');
    writeFileSync('own.ts', ruled.replace('examples: [4]', 'examples: [5]'));
    const refused = await run('describe', './own.ts');
    expect(refused.document['inputs']).toBeNull();
    expect(refused.text).toMatch(/refused: expected 4 times SOL\. State values in the schema with \.meta/);
  });

  it('describe a strategy of the project with its own configuration', async () => {
    const { document, text } = await run('describe', 'dca');
    expect(document).toMatchObject({ name: 'dca', inputs: [{ name: 'price' }], requests_per_second: 0.0333 });
    expect(text).toContain('config/dca.yaml:');
  });

  it('describe a strategy of the catalogue by its configuration, which each of them has', async () => {
    for (const name of catalogueNames()) {
      const found = { file: join(PROJECT_DIR, 'strategies', `${name}.ts`), origin: 'project' } as const;
      expect(shippedConfig(found)).toBe(join(PROJECT_DIR, yamlOf(name)));
    }
    const { document, text } = await run('describe', 'grid');
    expect(document).toMatchObject({ inputs: [{ name: 'both' }, { name: 'both' }], requests_per_second: 0.4 });
    expect(text).toContain('config/strategies/grid.yaml:');
  });

  it('name what is wrong with a name, a file, and a file without a strategy', async () => {
    const folder = temporaryFolder();
    process.chdir(folder);
    writeFileSync('none.ts', 'export const a = 1;');
    await expect(run('describe', 'mean-revesion')).rejects.toThrow(/did you mean "mean-reversion"/);
    await expect(run('describe', './missing.ts')).rejects.toThrow(/there is no file/);
    await expect(run('describe', './none.ts')).rejects.toThrow(/expected the default export of \.\/none\.ts/);
  });
});
