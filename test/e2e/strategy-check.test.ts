import { afterAll, describe, expect, it } from 'vitest';
import { createPlayground, document, PROJECT } from './gannet.ts';

const playground = createPlayground();
afterAll(() => playground.close());

/** A strategy that alerts at every tenth price; `text` is what it says, and `outside` stands before it. */
function strategy(name: string, text: string, outside = ''): string {
  return `
import { filter, map } from '${import.meta.resolve('rxjs')}';
import { z } from '${import.meta.resolve('zod')}';
import { amount, defineStrategy, pair, quotes } from '${PROJECT}src/strategy/index.ts';
${outside}
export default defineStrategy({
  name: '${name}', summary: 'Alerts at every tenth price.', losesMoneyWhen: 'It never swaps.',
  params: z.strictObject({ pair: pair().prefault('SOL/USDC').describe('what it watches'),
    size: amount().prefault('25 USDC').describe('the size whose price it watches') }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => price.pipe(filter((_, n) => n % 10 === 0), map((quote, n) => {
    return ctx.alert('info', ${text});
  })),
});
`;
}

interface Checked {
  readonly name: string;
  readonly checks: readonly {
    readonly check: string; readonly verdict: string;
    readonly findings: readonly { readonly code: string; readonly place: string | null; readonly remedy: string }[];
  }[];
}

describe('gannet strategy check', { timeout: 180_000 }, () => {
  it('finds what only other processes and other futures show, and names code, line and remedy', async () => {
    const files = {
      'clean': strategy('clean', '`the price is ${quote.price}`'),
      'by-hour': strategy('by-hour', "`hour ${new (Reflect.get(globalThis, ['Da', 'te'].join('')))().getUTCHours()}`"),
      // A run before shows it the prices that come.
      'future': strategy('future', '`next ${seen[n + 1]}, ${(seen[n] = quote.price) > 0}`', 'const seen = [];'),
      'chance': strategy('chance', '`${Math.random()}`'),
    };
    for (const [name, text] of Object.entries(files)) playground.write(`${name}.ts`, text);
    const config = playground.write('all.yaml', `strategies:\n${Object.keys(files).map((name) =>
      `  - { use: ./${name}.ts, budget: "100 USDC" }`).join('\n')}\n`);
    const ended = await playground.run(['--json', 'strategy', 'check', config, '--days', '0.01']);
    expect([ended.code, ended.stderr]).toEqual([1, '']);
    const { passed, strategies } = document(ended) as { readonly passed: boolean; readonly strategies: Checked[] };
    expect(passed).toBe(false);
    const codes = new Map(strategies.map(({ name, checks }) =>
      [name, checks.flatMap(({ findings }) => findings.map(({ code }) => code))]));
    expect(codes.get('clean')).toEqual([]);
    expect(codes.get('by-hour')).toContain('NOT_REPEATABLE');
    expect(codes.get('future')).toContain('NEEDS_FUTURE');
    expect(codes.get('chance')).toEqual(['USES_CHANCE', 'NOT_REPEATABLE']);
    const [found] = strategies.find(({ name }) => name === 'chance')!.checks.flatMap(({ findings }) => findings);
    expect(found).toMatchObject({ place: 'chance.ts:12:33', remedy: 'draw from ctx.random' });
    expect(strategies[0]!.checks.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 10 }, () => 'passed'));
  });

  it('takes a name, or a file with the defaults of its schema, and says which parameters are missing', async () => {
    playground.write('own.ts', strategy('own', '`the price is ${quote.price}`'));
    const environment = { COLUMNS: '80' };
    const own = await playground.run(['strategy', 'check', './own.ts', '--days', '0.01'], { environment });
    expect([own.code, own.stderr]).toEqual([0, '']);
    expect(own.stdout).toContain('own (own.ts): no check failed');
    expect(own.stdout).toMatch(/✓ cost +passed +\d/);
    expect(own.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const shipped = await playground.run(['strategy', 'check', 'limit', '--days', '0.005']);
    expect([shipped.code, shipped.stderr]).toEqual([0, '']);
    expect(shipped.stdout).toMatch(/^parameters: config\/strategies\/limit\.yaml; /);
    playground.write('bare.ts', strategy('bare', "'now'").replace("pair().prefault('SOL/USDC')", 'pair()'));
    const bare = await playground.run(['strategy', 'check', './bare.ts']);
    expect([bare.code, bare.stdout]).toEqual([2, '']);
    expect(bare.stderr).toContain('pair: the key "pair" is missing');
    expect(bare.stderr).toContain('Give its parameters in a configuration: --config my.yaml');
  });
});
