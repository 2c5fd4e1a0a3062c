import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { GENESIS, issuesOf } from './load-text.ts';
import { temporaryFolder } from './temporary-folder.ts';

const KEY = Buffer.from(Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => 7 * index + 3)).secretKey);
const FORMS: readonly (readonly [name: string, text: string])[] = [
  ['base64', KEY.toString('base64')], ['base64url of the seed', KEY.toString('base64url', 0, 32)],
  ['hex, cut off', KEY.toString('hex').slice(0, 58)], ['base58, cut off', bs58.encode(KEY).slice(0, 50)],
  ['hex with something in it', `${KEY.toString('hex', 0, 12)}~${KEY.toString('hex', 12, 32)}`],
];
const PLACES: readonly (readonly [path: string, yaml: (value: string) => string])[] = [
  ['wallet.address', (value) => `wallet: { address: ${value} }`],
  ['service.plan', (value) => `service: { plan: ${value} }`],
  ['risk.max_fee_bps', (value) => `risk: { max_fee_bps: ${value} }`],
  ['control.host', (value) => `control: { host: ${value} }`],
  ['an unknown key', (value) => `${value}: 1`], ['tokens', (value) => `tokens: { PEARL: ${value} }`],
  ['mode', (value) => `mode: ${value}`],
];

describe('of a key in a form that no wallet reads', () => {
  it.each(FORMS.flatMap(([form, text]) => PLACES.map(([path, yaml]) =>
      [form, path, text, yaml] as const)))('%s, as %s, no part is repeated', async (_form, _path, text, yaml) => {
    const issues = (await issuesOf(
      `${yaml(JSON.stringify(text))}\nstrategies: [{ use: dca, params: { buy: SOL, spend: "1 USDC", every: 10s } }]\n`,
    )).join('\n');
    expect(issues).not.toBe('');
    for (let at = 0; at + 16 <= text.length; at++) expect(issues).not.toContain(text.slice(at, at + 16));
  });
});

describe('a variable that only the signer was given', () => {
  const real = 'service: { base_url: "https://swap.example", SERVICE }\nwallet: { address: '
    + 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }\nstrategies: [{ use: dca, name: d, budget: "10 USDC", params: { '
    + 'buy: SOL, spend: "1 USDC", every: 1h } }]\n';

  it('is said to be set, and to have the form of a wallet’s key', async () => {
    const issues =
      await issuesOf(real.replace('SERVICE', 'api_key: "${FISH_KEY}"'), { withheld: ['FISH_KEY'], purpose: 'check' });
    expect(issues).toEqual([expect.stringMatching(
      new RegExp('^bot\\.yaml:1:\\d+ service\\.api_key: the environment variable FISH_KEY is set, but its value has '
        + 'the form of a wallet\'s key, which only the signer receives'),
    )]);
  });

  it('is reported missing where the API key is taken from it by default', async () => {
    const text = real.replace('SERVICE', 'requests_per_second: 5');
    expect((await issuesOf(text, { purpose: 'check' })).join('\n')).not.toContain('GANNET_API_KEY');
    const issues = await issuesOf(text, { withheld: ['GANNET_API_KEY'], purpose: 'check' });
    expect(issues).toEqual([expect.stringContaining(
      'service.api_key: the environment variable GANNET_API_KEY is set, but its value has the form of a wallet\'s key',
    )]);
    expect((
      await issuesOf(real.replace('SERVICE', 'plan: keyless'), { withheld: ['GANNET_API_KEY'], purpose: 'check' })
    ).join('\n')).not.toContain('GANNET_API_KEY');
  });
});

describe('a configuration that comes through a pipe', () => {
  it('is refused for whatever may sign, before anything waits for it', async () => {
    const folder = await temporaryFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const file of ['pipe', '-', '/dev/stdin', '/dev/fd/987654', '/proc/self/fd/987654', '/dev/null']) {
      expect(await load(file, folder, 'run')).toMatchObject({ ok: false, code: 'CONFIG_NOT_FOUND', issues: [{
        file,
        message: expect.stringContaining('expected a file: more than one process reads the configuration') as string,
      }] });
    }
    expect(await load('.', folder, 'run'))
      .toMatchObject({ ok: false, issues: [{ message: expect.stringContaining('got a folder') as string }] });
  });

  it('is reported missing where only the process before had it open', async () => {
    expect(await load('/dev/fd/987654', await temporaryFolder(), 'read'))
      .toMatchObject({ ok: false, issues: [{ message: expect.stringContaining('expected a file') as string }] });
  });
});

function load(file: string, workingDir: string, purpose: 'run' | 'read'): ReturnType<typeof loadConfig> {
  return loadConfig({ file, workingDir, purpose, environment: {}, ...GENESIS });
}
