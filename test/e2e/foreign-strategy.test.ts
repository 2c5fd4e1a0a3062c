import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playground } from './gannet.ts';
import { createPlayground, document, jsonLines } from './gannet.ts';

const MINE = `import { map } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes } from 'gannet';

export default defineStrategy({
  name: 'mine', summary: 'Buys at each price.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1s' }) }),
  run: ({ price }, p, ctx) => price.pipe(map((quote) => ctx.buy(p.pair, p.size, 'at ' + quote.price))),
});
`;
const config = (file: string): string => `control: { port: 0 }
strategies:
  - { use: ./${file}, name: foreign, budget: "100 USDC", params: { pair: SOL/USDC, size: "1 USDC" } }
`;

let playground: Playground;
let state: string;
beforeAll(() => {
  playground = createPlayground();
  state = playground.path('state');
  // What is installed beside a strategy is not what it gets: Gannet shares its own copies with it.
  for (const name of ['rxjs', 'zod', 'gannet']) {
    playground.write(`node_modules/${name}/package.json`, `{ "name": "${name}", "version": "0.0.1" }`);
    playground.write(`node_modules/${name}/index.js`, 'throw new Error("another copy");');
  }
});
afterAll(() => playground.close());

describe('a strategy that is not of the project', () => {
  it('trades in a run, in a process of its own, and is replayed to the same hash', async () => {
    const file = playground.write('mine.ts', MINE);
    const yaml = playground.write('mine.yaml', config('mine.ts'));
    const running = playground.start([
      'run', '--json', '--config', yaml, '--state-dir', state, '--max-intents', '1', '--duration', '60s',
    ]);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const lines = jsonLines(ended.stdout);
    expect(lines)
      .toContainEqual(expect.objectContaining({ type: 'decision', strategy: 'foreign', verdict: 'approved' }));
    const { run_id: runId, decision_hash: hash } = lines.at(-1)!;
    const replay = (): Promise<Parameters<typeof document>[0]> =>
      playground.ask(['replay', String(runId), '--json', '--state-dir', state]);
    expect(document(await replay())).toMatchObject({ match: true, decision_hash: hash, warnings: [] });
    playground.write('mine.ts', `${MINE}// changed\n`);
    expect(document(await replay())['warnings'])
      .toEqual(['the code of strategy foreign has changed since the run: this may cause a difference']);
    expect(JSON.parse(playground.read('state', 'runs', String(runId), 'manifest.json'))).toMatchObject({
      config: { strategies: [{ name: 'foreign', use: file }] }, strategy_code: { isolation: 'shared' },
    });
  });

  it.each([
    ['run', '--duration', '1s'], ['config', 'check'], ['record', '--duration', '1s'],
  ])('that reads a file as it is loaded is refused by %s %s, by its name', async (...command) => {
    playground.write('thief.ts', `import { readFileSync } from 'node:fs';\nreadFileSync('/etc/passwd');\n${MINE}`);
    const yaml = playground.write('thief.yaml', config('thief.ts'));
    const ended = await playground.ask([...command, '--config', yaml, '--state-dir', state]);
    expect(ended.code).toBe(2);
    expect(ended.stdout + ended.stderr).toContain('thief.yaml:3:12 strategies[0].use: strategy "./thief.ts" cannot be '
      + 'loaded: thief.ts: the module node:fs is not available to a strategy');
  });
});
