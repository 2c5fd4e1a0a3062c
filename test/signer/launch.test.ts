import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import { randomTransaction } from './random-transaction.ts';

// The signer as a process, and beside it a process that is not the daemon.

const keypair = Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => 90 - index));
const KEY = bs58.encode(keypair.secretKey);
const SOL = 'So11111111111111111111111111111111111111112';
const TRANSACTION = Buffer.from(randomTransaction(seededRandom(8), [keypair.publicKey]).serialize()).toString('base64');
const TERMS = {
  intentId: 'a-1', attempt: 1, route: 'order', inputMint: SOL, outputMint: keypair.publicKey.toBase58(), amountIn: '1',
  minimumOut: '1', maxFeeBps: 30,
};

let folder: string;
beforeAll(async () => { folder = await mkdtemp(join(tmpdir(), 'gannet-launch-')); });
afterAll(() => rm(folder, { recursive: true }));

interface Told {
  readonly code: number | null;
  readonly how: string;
  /** What came back over the channel. */
  readonly answers: string;
  readonly stderr: string;
}

/**
 * Starts a signer for an embedded service, or for the configuration given, with a stranger beside it that writes these
 * bytes.
 */
async function besideSigner(
  bytes: Buffer, yaml = 'service: { base_url: embedded }\nchain: { rpc_url: embedded }\n',
): Promise<Told> {
  const name = Math.floor(bytes.length).toString() + bytes.subarray(0, 16).toString('hex');
  const [payload, config] = [join(folder, `${name}.bin`), join(folder, `${name}.yaml`)];
  await Promise.all([writeFile(payload, bytes), writeFile(config, yaml)]);
  const child = spawn(process.execPath, [
    join(import.meta.dirname, 'beside.ts'), join(import.meta.dirname, 'stranger.ts'), payload, 'run', '--config',
    config, '--state-dir', join(folder, 'state'),
  ], {
    cwd: folder, env: { PATH: process.env['PATH'] ?? '', MINE: KEY }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => { texts[stream] += text; });
  const [code] = await once(child, 'close') as [number | null];
  const [how = '', answers = ''] = texts.stdout.trim().split(' ');
  return { code, how, answers: Buffer.from(answers, 'base64').toString('utf8'), stderr: texts.stderr };
}

describe('a stranger on the channel of a signer process', () => {
  const tooLong = Buffer.alloc(36);
  tooLong.writeUInt32BE(1 << 20);
  const unsealed = Buffer.from(`${'\0'.repeat(36)}{}`);
  unsealed.writeUInt32BE(2);

  test.each([
    ['announces a megabyte', tooLong, 'the most is 65536'],
    ['sends noise', Buffer.from(`GET / HTTP/1.1\r\nHost: signer\r\n${'x'.repeat(30)}\r\n\r\n`), 'the most is 65536'],
    ['sends a message without the key of the session', unsealed, 'forged, repeated, or out of order'],
  ])('is cut off with the reason when it %s, and its end is the signer’s', async (_what, bytes, words) => {
    const { code, how, answers, stderr } = await besideSigner(bytes);
    expect([code, how, answers]).toStrictEqual([7, 'closed', '']);
    expect(stderr).toContain('the signer signs nothing more: ');
    expect(stderr).toContain(words);
  });

  test('gets neither a signature nor the key, and cannot set another key', async () => {
    const requests: readonly object[] = [
      { id: 1, kind: 'sign', transaction: TRANSACTION, terms: TERMS }, { id: 2, kind: 'export' },
      { id: 3, kind: 'describe' }, { id: 4, kind: 'open', key: KEY },
      { id: 5, kind: 'sign', transaction: TRANSACTION, terms: TERMS, force: true },
    ];
    const { code, how, answers } = await besideSigner(
      Buffer.from(JSON.stringify(requests)),
      'service: { base_url: "http://127.0.0.1:9" }\nchain: { rpc_url: "http://127.0.0.1:9" }\n'
        + 'wallet: { key_from: env:OTHER }\n',
    );
    expect([code, how]).toStrictEqual([7, 'open']);
    for (const id of [1, 2, 3, 4, 5]) expect(answers).toContain(`{"id":${id},"refused":`);
    expect(answers).not.toContain('"done"');
    expect(answers).not.toContain(KEY.slice(0, 12));
  });
});
