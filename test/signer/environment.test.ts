import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dotenvFolders, merged, readDotenv, withoutKeys, type Variables } from '../../src/signer/environment.ts';
import { handOn, takeHandedOn } from '../../src/signer/command-process.ts';

const keypair = Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => index + 1));
const BASE58 = bs58.encode(keypair.secretKey);
const SEED = bs58.encode(keypair.secretKey.subarray(0, 32));

let folder: string;
beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'gannet-environment-')); });
afterEach(() => rm(folder, { recursive: true }));

async function clean(
  variables: Variables, { dotenv = {}, yaml }: { readonly dotenv?: Variables; readonly yaml?: string } = {},
): ReturnType<typeof withoutKeys> {
  if (yaml !== undefined) await writeFile(join(folder, 'here.yaml'), yaml);
  return withoutKeys({ variables, dotenv }, {
    workingDir: folder, config: yaml === undefined ? undefined : 'here.yaml',
  });
}

describe('the environment', () => {
  it('takes the process’s variables before the working directory’s .env and the configuration’s .env', async () => {
    await mkdir(join(folder, 'config'));
    await writeFile(join(folder, '.env'), 'A=folder\nB=folder # a comment\n');
    await writeFile(join(folder, 'config/.env'), 'A=config\nB=config\nC="config # not a comment"\n');
    const folders = dotenvFolders({ workingDir: folder, config: 'config/own.yaml' });
    expect(folders).toStrictEqual([folder, join(folder, 'config')]);
    const before = { ...process.env };
    expect(merged({ variables: { A: 'process', D: '', E: undefined }, dotenv: await readDotenv(folders) }))
      .toStrictEqual({
        A: 'process', B: 'folder', C: 'config # not a comment', D: '',
      });
    expect({ ...process.env }).toStrictEqual(before);
  });

  it('needs no .env, and has the one folder where both are the same', async () => {
    expect(dotenvFolders({ workingDir: folder, config: 'own.yaml' })).toStrictEqual([folder]);
    expect(await readDotenv([folder])).toStrictEqual({});
  });

  it('refuses a .env that cannot be read, or is too long to be one', async () => {
    await mkdir(join(folder, '.env'));
    await expect(readDotenv([folder])).rejects.toMatchObject({
      code: 'CONFIG_INVALID', message: expect.stringContaining(join(folder, '.env')) as string,
    });
    await mkdir(join(folder, 'long'));
    await writeFile(join(folder, 'long/.env'), `A=${'x'.repeat(70_000)}`);
    await expect(readDotenv([join(folder, 'long')]))
      .rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('at most 65536') as string });
  });
});

describe('an environment without keys', () => {
  it.each([
    ['base58', BASE58], ['base58 with blanks around', `  ${BASE58}\n`],
    ['an array', JSON.stringify([...keypair.secretKey])],
    ['hex', Buffer.from(keypair.secretKey).toString('hex')],
  ])('has no variable of whatever name that holds one as %s', async (_form, value) => {
    const { variables, dotenv, withheld } =
      await clean({ HOME: '/home', MY_OWN: value }, { dotenv: { OTHER: value, GANNET_API_KEY: 'k' } });
    expect([variables, dotenv, withheld])
      .toStrictEqual([{ HOME: '/home' }, { GANNET_API_KEY: 'k' }, ['MY_OWN', 'OTHER']]);
  });

  it('has no variable of the usual name, whatever its value', async () => {
    const { variables, dotenv } = await clean({ GANNET_WALLET_KEY: SEED }, { dotenv: { GANNET_WALLET_KEY: 'x' } });
    expect([variables, dotenv]).toStrictEqual([{}, {}]);
  });

  it.each([
    ['plainly', 'wallet: { key_from: env:SEED }', {}],
    ['in quotes', 'wallet:\n  key_from: "env:SEED" # not env:KEPT\n', {}],
    ['through an alias', 'a: &a env:SEED\nwallet: { key_from: *a }', {}],
    ['through another variable', 'wallet: { key_from: "${WHERE}" }', { WHERE: 'env:SEED' }],
  ])('has none that the configuration points at %s', async (_how, yaml, more) => {
    const { withheld } = await clean({ SEED, KEPT: 'x', ...more }, { yaml });
    expect(withheld).toStrictEqual(['SEED']);
  });

  it('loses the variables that config/gannet.yaml points at when no other file is named', async () => {
    await mkdir(join(folder, 'config'));
    await writeFile(join(folder, 'config/gannet.yaml'), 'wallet: { key_from: env:SEED }');
    expect((await clean({ SEED, OTHER: SEED })).withheld).toStrictEqual(['SEED']);
  });

  it('keeps long values that are no keys: an address, an API key, a path, 64 random bytes in hex', async () => {
    const kept = {
      A: keypair.publicKey.toBase58(), B: 'f'.repeat(64), C: `/usr/${'long/'.repeat(40)}`, D: 'x'.repeat(88),
      E: 'ab'.repeat(64),
    };
    expect((await clean(kept)).variables).toStrictEqual(kept);
  });
});

describe('what the first process hands on', () => {
  it('arrives in the next process and leaves its variables', () => {
    const next: Record<string, string | undefined> =
      handOn({ variables: { PATH: '/bin', EMPTY: '' }, dotenv: { A: '1' }, withheld: ['K'] }, { signer: true });
    expect(takeHandedOn(next)).toStrictEqual({ dotenv: { A: '1' }, withheld: ['K'], signer: true });
    expect(next).toStrictEqual({ PATH: '/bin', EMPTY: '' });
    expect(takeHandedOn(next)).toBeUndefined();
  });

  it('packs .env variables into one, so that none controls Node', () => {
    const next = handOn(
      { variables: { PATH: '/bin' }, dotenv: { NODE_OPTIONS: '--inspect', PATH: '/evil' }, withheld: [] },
      { signer: false },
    );
    expect([next['NODE_OPTIONS'], next['PATH']]).toStrictEqual([undefined, '/bin']);
  });

  it('gives the command Node’s options that the signer must not get', () => {
    const next = handOn({
      variables: { GANNET_NODE_OPTIONS: '--max-old-space-size=200', GANNET_HANDED_ON: '{"signer":true}' }, dotenv: {},
      withheld: [],
    }, { signer: false });
    expect(next['NODE_OPTIONS']).toBe('--max-old-space-size=200');
    expect(takeHandedOn(next)?.signer).toBe(false);
  });

  it('issue 13.38: drops variables that make Node reveal data', () => {
    const telling = {
      NODE_DEBUG: 'http,fs', NODE_DEBUG_NATIVE: 'http2', NODE_V8_COVERAGE: '/tmp/coverage',
      NODE_REDIRECT_WARNINGS: '/tmp/warnings', NODE_REPL_HISTORY: '/tmp/repl',
    };
    const next = handOn(
      { variables: { PATH: '/bin', NODE_EXTRA_CA_CERTS: '/ca.pem', ...telling }, dotenv: {}, withheld: [] },
      { signer: true },
    );
    expect(Object.keys(next).toSorted()).toStrictEqual(['GANNET_HANDED_ON', 'NODE_EXTRA_CA_CERTS', 'PATH']);
  });
});
