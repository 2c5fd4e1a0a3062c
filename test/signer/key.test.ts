import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isGannetError, type GannetError } from '../../src/core/errors.ts';
import { parseSecretKey, type SecretKey } from '../../src/signer/key.ts';
import { readSecretKey } from '../../src/signer/key-file.ts';

const keypair = Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => 200 - index));
const base58 = bs58.encode(keypair.secretKey);
const jsonArray = JSON.stringify([...keypair.secretKey]);
const address = keypair.publicKey.toBase58();

/** The error of an attempt, with everything that logging could show of it. */
async function failure(attempt: () => unknown): Promise<{ readonly error: GannetError; readonly everything: string }> {
  try {
    await attempt();
  } catch (error) {
    if (isGannetError(error))
      return { error, everything: `${inspect(error, { depth: 10, showHidden: true })}${error.stack ?? ''}` };
    throw error;
  }
  throw new Error('expected a failure');
}

function readFile(path: string): Promise<SecretKey> {
  return readSecretKey({ source: `file:${path}`, environment: {} });
}

describe('parseSecretKey', () => {
  test.each([
    ['base58 of 64 bytes', base58],
    ['base58 of a 32-byte seed', bs58.encode(keypair.secretKey.subarray(0, 32))],
    ['a JSON array of 64 numbers', jsonArray],
    ['any of these with white space around', `\n ${jsonArray} \n`],
  ])('reads %s', (_form, text) => {
    expect(parseSecretKey(text).address).toBe(address);
  });

  test('derives the public key of any seed as the reference library does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        expect(parseSecretKey(bs58.encode(seed)).address).toBe(Keypair.fromSeed(seed).publicKey.toBase58());
      }),
      { numRuns: 50 },
    );
  });

  test('returns an object that shows nothing of the secret', () => {
    const shown = inspect(parseSecretKey(base58), { depth: 10, showHidden: true })
      + JSON.stringify(parseSecretKey(base58));
    expect(shown).not.toContain(base58.slice(0, 20));
    expect(shown).not.toContain([...keypair.secretKey.subarray(0, 4)].join(','));
    expect(shown).not.toContain(Buffer.from(keypair.secretKey.subarray(0, 8)).toString('hex'));
  });

  const halves = [...keypair.secretKey];
  halves[40] = (halves[40]! + 1) % 256;
  test.each([
    ['nothing', '  ', 'got nothing'],
    ['a text that is not base58', `${base58}0`, 'characters that base58 does not have'],
    ['a key with a character missing', base58.slice(0, -2), 'got 6'],
    ['a public half that is not of this key', JSON.stringify(halves), 'not the public key'],
    ['an array that is cut', jsonArray.slice(0, -1), 'not JSON'],
    ['an array of 63', JSON.stringify([...keypair.secretKey].slice(1)), 'got 63'],
    ['numbers that are no bytes', JSON.stringify([256, ...[...keypair.secretKey].slice(1)]), 'position 0'],
    ['strings', JSON.stringify([...keypair.secretKey].map(String)), 'position 0'],
    ['a very long text', base58.repeat(20), 'far longer'],
  ])('refuses %s', async (_what, text, message) => {
    const { error } = await failure(() => parseSecretKey(text));
    expect(error.code).toBe('KEY_INVALID');
    expect(error.message).toContain(message);
  });

  test('never shows a part of a damaged key in message, details or cause', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(base58, jsonArray), fc.nat(), fc.constantFrom('', '0', ',', 'é', '[', '"'),
        async (text, place, insert) => {
          const at = 1 + (place % (text.length - 1));
          const damaged = text.slice(0, at) + insert + text.slice(at + 1);
          fc.pre(damaged !== text);
          const { everything } = await failure(() => parseSecretKey(damaged));
          for (let start = 0; start + 12 <= damaged.length; start += 4) {
            expect(everything).not.toContain(damaged.slice(start, start + 12));
          }
        }),
      { numRuns: 100 },
    );
  });
});

describe('readSecretKey', () => {
  let folder: string;
  const write = async (name: string, content: string, mode = 0o600): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gannet-key-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('reads the given environment', async () => {
    expect((await readSecretKey({ source: 'env:WALLET_KEY', environment: { WALLET_KEY: base58 } })).address)
      .toBe(address);
  });

  test.each([0o600, 0o400])('reads a file of mode %o', async (mode) => {
    expect((await readFile(await write(`key-${mode}`, `${jsonArray}\n`, mode))).address).toBe(address);
  });

  test.each([
    0o644, 0o640, 0o604, 0o660, 0o700, 0o4600,
  ])('refuses a file of mode %o and says what to do', async (mode) => {
    const path = await write(`open-${mode}`, base58, mode);
    const { error } = await failure(() => readFile(path));
    expect(error.code).toBe('KEY_INVALID');
    expect(error.message).toContain(`chmod 600 "${path}"`);
  });

  test('follows a link within the folder, and none out of it', async () => {
    await mkdir(join(folder, 'mounted', 'data'), { recursive: true });
    await write('mounted/data/key', base58);
    await symlink('data/key', join(folder, 'mounted', 'key'));
    expect((await readFile(join(folder, 'mounted', 'key'))).address).toBe(address);
    await write('outside', base58);
    await symlink('../outside', join(folder, 'mounted', 'other'));
    const { error } = await failure(() => readFile(join(folder, 'mounted', 'other')));
    expect(error).toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining('link to a place outside') });
  });

  test('refuses a folder, a missing file and a file that is too large', async () => {
    await expect(readFile(folder))
      .rejects.toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining('not a regular file') });
    await expect(readFile(join(folder, 'none')))
      .rejects.toMatchObject({ message: expect.stringContaining('no such file') });
    await expect(readFile(await write('large', ' '.repeat(5_000))))
      .rejects.toMatchObject({ message: expect.stringContaining('larger than 4096') });
  });

  test('names the place of a damaged key', async () => {
    const path = await write('damaged', base58.slice(1));
    await expect(readFile(path)).rejects.toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining(path) });
    const environment = { WALLET_KEY: 'x' };
    await expect(readSecretKey({ source: 'env:WALLET_KEY', environment }))
      .rejects.toMatchObject({ message: expect.stringContaining('"WALLET_KEY"') });
  });

  test.each([
    ['instead of a source', base58],
    ['instead of the name of a variable', `env:${base58}`],
    ['instead of a path', `file:${base58}`],
    ['as an array instead of a path', `file:${jsonArray}`],
    ['as an array instead of a source', jsonArray],
    ['in base64 instead of a name', `env:${Buffer.from(keypair.secretKey).toString('base64')}`],
    [
      'as the base64url of its seed instead of a name',
      `env:${Buffer.from(keypair.secretKey.subarray(0, 32)).toString('base64url')}`,
    ],
    [
      'as the hex of its seed instead of a name',
      `env:a${Buffer.from(keypair.secretKey.subarray(0, 32)).toString('hex')}`,
    ],
    ['cut off instead of a name', `env:${base58.slice(0, 24)}`],
    ['garbled instead of a path', `file:/keys/${base58.slice(0, 30)}~${base58.slice(30)}`],
  ])('never shows a key that was pasted %s', async (_where, source) => {
    const { error, everything } = await failure(() => readSecretKey({ source, environment: {} }));
    expect(error.code).toBe('KEY_INVALID');
    expect(everything).not.toContain(base58.slice(10, 20));
    expect(everything).not.toContain(jsonArray.slice(10, 20));
    const pasted = source.replace(/^(?:env|file):/, '');
    expect(everything).not.toContain(pasted.slice(8, 24));
  });

  test('names a missing variable', async () => {
    await expect(readSecretKey({ source: 'env:WALLET_KEY', environment: { WALLET_KEY: '' } })).rejects.toMatchObject({
      code: 'KEY_INVALID',
      message: 'the environment variable "WALLET_KEY" is not set',
    });
  });
});
