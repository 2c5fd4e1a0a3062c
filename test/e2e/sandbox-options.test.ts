import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectNames, loadDialect } from '../../src/service/wire/dialect.ts';
import type { Playground, Running } from './gannet.ts';
import { createPlayground, document } from './gannet.ts';

const SOL = 'So11111111111111111111111111111111111111112';
const { name, toWire } = loadDialect(dialectNames().find((dialect) => dialect !== 'neutral')!);

let playground: Playground;
let sandbox: Running;
let baseUrl: string;
beforeAll(async () => {
  playground = createPlayground();
  sandbox =
    playground.start(['sandbox', '--json', '--speed', '0', '--dialect', name, '--profile', 'live', '--plan', 'free']);
  await sandbox.until((stdout) => stdout.includes('\n'));
  baseUrl = String(sandbox.lines()[0]!['base_url']);
});
afterAll(async () => {
  sandbox.signal('SIGTERM');
  await sandbox.ended;
  await playground.close();
});

async function search(key?: string): Promise<{ status: number; remaining: unknown }> {
  const { statusCode, headers, body } = await request(`${baseUrl}${toWire.path('/ultra/v1/search')}?query=${SOL}`, {
    headers: key === undefined ? {} : { 'x-api-key': key },
  });
  await body.dump();
  return { status: statusCode, remaining: headers['x-ratelimit-remaining'] };
}

describe('gannet sandbox', () => {
  it('uses the dialect, the live service’s behaviour and the plan’s rate limit on request', async () => {
    const keyed: unknown[] = [];
    for (let i = 0; i < 11; i++) keyed.push((await search('mine')).status);
    expect(keyed).toEqual([...Array<number>(10).fill(200), 429]);
    expect(await search()).toEqual({ status: 200, remaining: '4' });
  });

  it('refuses unknown names before it starts', async () => {
    const ended = await Promise.all([['--dialect', 'klingon'], ['--profile', 'ideal'], ['--plan', 'golden']]
      .map((flags) => playground.ask(['sandbox', '--json', ...flags])));
    expect(ended.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(document(ended[0]!)['error'])
      .toMatchObject({ code: 'CONFIG_NOT_FOUND', message: expect.stringContaining('klingon') });
    expect(document(ended[1]!)['error']).toMatchObject({ message: expect.stringContaining('reference, live') });
    expect(document(ended[2]!)['error'])
      .toMatchObject({ message: expect.stringContaining('keyless, free, developer, launch, pro') });
  });
});
