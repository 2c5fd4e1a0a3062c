import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { codeResult, schemaResult } from '../../../src/cli/commands/strategy/static-checks.ts';
import type { CheckCode, CheckResult } from '../../../src/research/strategy-check/check-codes.ts';
import { CHECK_CODES } from '../../../src/research/strategy-check/check-codes.ts';
import { examine } from '../../../src/research/strategy-check/examine.ts';
import type { CheckedMarket } from '../../../src/research/strategy-check/trace.ts';
import type { Strategy } from '../../../src/strategy/index.ts';
import { amount, defineStrategy, pair } from '../../../src/strategy/index.ts';
import meanReversion from '../../../strategies/mean-reversion.ts';
import smaCrossover from '../../../strategies/sma-crossover.ts';
import dca from '../../../strategies/dca.ts';
import { cursorOver } from '../../backtest/recordings.ts';
import { configured } from '../../strategies/instances.ts';
import { BUDGET } from '../../trading/states.ts';
import { SWINGS, trialSetup } from '../trials/trial-setup.ts';
import { UNBOUNDED } from './planted/bounds.ts';
import { LEAKS } from './planted/leaks.ts';
import { RUN_MISTAKES } from './planted/runs.ts';
import { FORBIDDEN } from './planted/texts.ts';

/** Enough for every planted mistake, and short enough for forty of them. */
const EVENTS = SWINGS.slice(0, 900);
const ROWS = EVENTS.map((input) => ({ at: input.receivedAt, input }));
const MARKET: CheckedMarket = {
  setup: { ...trialSetup('', []), lastAt: ROWS.at(-1)!.at },
  recording: { cursor: () => cursorOver(ROWS) as never },
  checks: { mints: new Set(), before: () => [] },
};
const SIZED = { pair: 'SOL/USDC', size: '25 USDC' };

function examined(strategy: Strategy, params: object = SIZED): Promise<CheckResult[]> {
  return examine(() => Promise.resolve({ ...configured(strategy, params, 'own'), budget: BUDGET, limits: {} }), MARKET);
}

function codesIn(results: readonly CheckResult[]): CheckCode[] {
  return results.flatMap(({ findings }) => findings.map(({ code }) => code));
}

describe('a planted mistake in a run', () => {
  it.each(Object.entries({ ...RUN_MISTAKES, ...LEAKS, ...UNBOUNDED }))('%s', async (_, [code, strategy]) => {
    const results = await examined(strategy);
    expect(codesIn(results)).toContain(code);
  });
});

// Each strategy of the catalogue passes them in test/strategies/catalogue/contract.test.ts.
describe('a strategy without a mistake', () => {
  it.each<[Strategy, object]>([
    [meanReversion, { ...SIZED, every: '5s', window: 20, k: 1.2 }],
    [smaCrossover, { ...SIZED, every: '5s', fast: 3, slow: 8 }],
    // Its purchases at a start are compared here.
    [dca, { buy: 'SOL', spend: '25 USDC', every: '10m' }],
  ])('passes: $name', async (strategy, params) => {
    const results = await examined(strategy, params);
    expect(codesIn(results).filter((code) => CHECK_CODES[code].level === 'failure')).toEqual([]);
    expect(results.filter(({ leftOut }) => leftOut !== undefined)).toEqual([]);
  });
});

describe('the codes', () => {
  it('stand in the document, each with its check, its level and what it found', () => {
    const text = readFileSync(new URL('../../../docs/strategies.md', import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([a-z-]+) \| (failure|warning) \| (.+) \|$/gm)]
      .map(([, code, check, level, what]) => [code, { check, level, what }]);
    expect(rows).toEqual(Object.entries(CHECK_CODES).map(([code, { check, level, what }]) =>
      [code, { check, level, what }]));
  });
});

describe('the text and the schema of a strategy', () => {
  let folder = '';
  beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'gannet-check-')); });
  afterAll(() => { rmSync(folder, { recursive: true }); });

  it.each(FORBIDDEN)('%s: %s', async (code, line) => {
    const file = join(folder, 'own.ts');
    writeFileSync(file, `const a = 1;\n  ${line}\n`);
    const { findings } = await codeResult(file);
    expect(findings[0]).toMatchObject({ code, place: expect.stringMatching(/^own\.ts:2:\d+$/) as string });
  });

  const told = { name: 'own', summary: 'Buys now and then.', losesMoneyWhen: 'Prices fall for long.' };
  it.each<[CheckCode, Parameters<typeof define>[0], string]>([
    ['PARAM_UNDESCRIBED', { ...told, params: z.strictObject({ pair: pair(), window: z.int() }) }, 'own.ts:3:7'],
    ['PARAM_UNDESCRIBED', {
      ...told, params: z.strictObject({ pair: z.strictObject({ window: z.int() }).describe('two members') }),
    }, 'own.ts:3:7'],
    ['SUMMARY_SHORT', { ...told, summary: 'Buys.' }, 'own.ts:2:16'],
    ['NAME_OTHER', { ...told, name: 'other' }, 'own.ts:2:3'],
    ['LOSSES_UNSAID', { name: 'own', summary: told.summary }, 'own.ts:1:16'],
  ])('%s', async (code, definition, place) => {
    const file = join(folder, 'own.ts');
    writeFileSync(file, "export default defineStrategy({\n  name: 'own', summary: 'Buys.',\n"
      + '      window: z.int(),\n});\n');
    const { findings } = await schemaResult(file, define(definition));
    expect(findings.map((finding) => [finding.code, finding.place])).toEqual([[code, place]]);
  });

  it('passes what says everything', async () => {
    const file = join(folder, 'own.ts');
    writeFileSync(file, 'export default defineStrategy({});\n');
    expect((await schemaResult(file, define(told))).findings).toEqual([]);
    expect((await codeResult(file)).findings).toEqual([]);
  });
});

function define({ params = z.strictObject({ size: amount() }), ...told }: {
  readonly name: string; readonly summary: string; readonly losesMoneyWhen?: string; readonly params?: z.ZodType;
}): Strategy {
  return defineStrategy({ ...told, params, inputs: () => ({}), run: () => NEVER });
}
