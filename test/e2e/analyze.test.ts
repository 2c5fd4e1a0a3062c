import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Playground } from './gannet.ts';
import { createPlayground, document } from './gannet.ts';

let playground: Playground;

beforeAll(() => { playground = createPlayground(); });
afterAll(() => playground.close());

it('analyses a series without configuration, service or state, and exits with 2 for an invalid file', async () => {
  const good = playground.write('good.csv', 'time,equity\n2025-01-01,100\n2025-01-02,110\n2025-01-03,99\n');
  const bad = playground.write('bad.csv', 'time,equity\n2025-01-01,100\n2025-01-01,101\n');
  const [json, words, fault, told] = await Promise.all([
    playground.ask(['analyze', good, '--json']), playground.ask(['analyze', good]),
    playground.ask(['analyze', bad, '--json']), playground.ask(['analyze', bad]),
  ]);
  expect([json.code, words.code, fault.code, told.code]).toStrictEqual([0, 0, 2, 2]);
  expect(document(json)).toMatchObject({
    total_return: expect.closeTo(-0.01, 12), max_drawdown: expect.closeTo(0.1, 12),
    drawdown_trough: '2025-01-03T00:00:00.000Z', win_rate: null,
  });
  expect(words.stdout).toMatch(/total return +-1\.00 %/);
  expect(document(fault)['error']).toMatchObject({ code: 'CSV_INVALID', details: { row: 3, column: 'time' } });
  expect(told)
    .toMatchObject({ stdout: '', stderr: expect.stringContaining('bad.csv:3: the time 2025-01-01 appears twice') });
});
