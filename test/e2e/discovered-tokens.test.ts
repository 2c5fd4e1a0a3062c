import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, jsonLines, PROJECT } from './gannet.ts';

const [RXJS, ZOD] = [import.meta.resolve('rxjs'), import.meta.resolve('zod')];
const SDK = join(PROJECT, 'src', 'strategy', 'index.ts');
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';

/** Buys a leader that is in no configuration, tries to buy more than its budget, and sells what it holds. */
const TRADER = `import { filter, map, merge, mergeMap, of } from '${RXJS}';
import { z } from '${ZOD}';
import { amount, amountOf, defineStrategy, quotes, screen, token, tokenList } from '${SDK}';

export default defineStrategy({
  name: 'trader', summary: 'Trades a leader.',
  params: z.strictObject({ quote: token(), size: amount() }),
  inputs: () => ({ leaders: tokenList({ list: 'toporganicscore', interval: '1h', limit: 10 }, { every: '1s' }) }),
  run: ({ leaders }, p, ctx) => merge(
    leaders.pipe(
      screen(ctx, {
        max: 1, where: ({ symbol }) => symbol === 'PEARL',
        watch: (base) => quotes({ base, quote: p.quote }, { amount: p.size, every: '1s' }),
      }),
      filter(({ kind }) => kind === 'event'), filter((_event, index) => index === 0),
      mergeMap(({ token: base }) => merge(
        of(ctx.buy({ base, quote: p.quote }, p.size, 'a leader', { key: 'in', retry: { until: '1m', every: '1s' } })),
        ctx.outcomes$.pipe(filter(({ key, state }) => key === 'in' && state === 'confirmed'), mergeMap(() => [
          ctx.buy({ base, quote: p.quote }, amountOf(p.quote, 20), 'more', { key: 'more' }),
          ctx.sell({ base, quote: p.quote }, 'all', 'back', { key: 'out' }),
        ])),
      )),
    ),
    ctx.denials$.pipe(map(({ code }) => ctx.alert('info', 'denied ' + code))),
    ctx.outcomes$.pipe(filter(({ key, state }) => key === 'out' && state === 'confirmed'),
      map(() => ctx.alert('info', 'sold'))),
  ),
});
`;

const RISK = `risk:
  max_slippage_bps: 300
  max_price_impact_bps: 1000
  max_swaps: { per_minute: 60, per_hour: 600, per_day: 1000 }
  token_safety: { min_liquidity_usd: 1000 }
`;
const ALLOWED = `${RISK}  discovered_tokens: { per_token: "30 USDC", total: "30 USDC" }\n`;

let playground: Playground;

function configured(name: string, risk: string): string {
  return playground.write(name, `control: { port: 0 }
mode: live
${risk}strategies:
  - { use: ./trader.ts, budget: "100 USDC", params: { quote: USDC, size: "25 USDC" } }
`);
}

async function ran(yaml: string, duration: string): Promise<readonly JsonLine[]> {
  const ended = await playground.run(
    ['run', '--json', '--config', yaml, '--state-dir', playground.path('state'), '--duration', duration],
  );
  expect(ended.code, ended.stderr + ended.stdout).toBe(0);
  return jsonLines(ended.stdout);
}

beforeAll(() => {
  playground = createPlayground();
  playground.write('trader.ts', TRADER);
});
afterAll(() => playground.close());

describe('a token that the configuration does not name', () => {
  it('is refused where no section allows it', async () => {
    const told = JSON.stringify(await ran(configured('refused.yaml', RISK), '6s'));
    expect(told).toContain(`${PEARL} is not among the configured tokens`);
    expect(told).not.toMatch(/"confirmed"/);
  });

  it('is bought after a check within its budget, sold, replayed and backtested', async () => {
    const yaml = configured('allowed.yaml', ALLOWED);
    const lines = await ran(yaml, '30s');
    const told = JSON.stringify(lines);
    expect(told).toContain('denied DISCOVERED_TOKEN_EXCEEDS_MAX');
    expect(told).toContain('"sold"');
    const { run_id: runId, decision_hash: hash } = lines.at(-1)!;
    const place = ['--json', '--state-dir', playground.path('state')];
    expect(document(await playground.ask(['replay', String(runId), ...place])))
      .toMatchObject({ match: true, decision_hash: hash });
    const tested = document(await playground.ask(
      ['backtest', yaml, '--recording', playground.path('state', 'recordings', String(runId)), ...place],
    ));
    expect(tested['intents']).toMatchObject({ confirmed: 2 });
  });
});
