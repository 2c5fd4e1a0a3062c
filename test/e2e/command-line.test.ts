import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playground } from './gannet.ts';
import { createPlayground, PROJECT } from './gannet.ts';

let playground: Playground;
beforeAll(() => { playground = createPlayground(); });
afterAll(() => playground.close());

/** So long a part is as good as the whole. */
function holdsPart(text: string, key: string): boolean {
  return Array.from({ length: key.length - 15 }, (_, at) => key.slice(at, at + 16)).some((part) => text.includes(part));
}

describe('issue 13.38: a key given as an argument by mistake', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const bytes = Buffer.concat([
    privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32),
    publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
  ]);
  const forms = { base58: bs58.encode(bytes), hex: bytes.toString('hex'), numbers: JSON.stringify([...bytes]) };

  it.each(Object.entries(forms))('is not repeated by any error, in words or in JSON: %s', async (_form, key) => {
    const given = [
      [key], ['help', key], ['quote', key, 'USDC', '1'], ['quote', 'SOL', 'USDC', key], ['run', `--config=${key}`],
      ['run', `--wallet=${key}`], ['journal', 'show', key], ['run', '--duration', key],
      ['resolve', key, '--as', key, '--reason', key], ['config', 'check', key],
    ];
    for (const args of given) {
      for (const json of [[], ['--json']]) {
        const { code, stdout, stderr } = await playground.ask([...args, ...json]);
        expect(
          [code === 0 && args[0] !== 'help', holdsPart(stdout + stderr, key)], `${args.join(' ')}\n${stdout}${stderr}`,
        ).toEqual([false, false]);
      }
    }
  });
});

describe('issue 13.38: a process that may open too few files', () => {
  it.each([
    [[], /^gannet needs at least 128 open files, and the limit here is 64: raise it/],
    [['--json'], /^\{"error":\{"code":"FILES_LIMITED","message":"gannet needs/],
  ])(
    'says so before it starts anything (%j)', (args, words) => {
      const script = `ulimit -n 64 && exec ${join(PROJECT, 'bin', 'gannet')} run ${args.join(' ')}`;
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], {
        encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' }, cwd: playground.dir,
      });
      expect([status, stdout + stderr]).toEqual([2, expect.stringMatching(words)]);
      if (args.length > 0) expect(JSON.parse(stdout)).toMatchObject({ error: { details: { limit: 64 } } });
    });
});
