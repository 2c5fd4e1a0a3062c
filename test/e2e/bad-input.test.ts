import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playground } from './gannet.ts';
import { configText, createPlayground, document, filesIn } from './gannet.ts';

const WALLET = '2qCyb5d8tCHRDifULDpznuKU1LGmuifVvoawZwVAX9C8';
const DCA = 'strategies: [{ use: dca, params: { buy: SOL, spend: "1 USDC", every: 10s } }]\n';
const PEARL = 'tokens: { PEARL: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij }\n';

let playground: Playground;
let closedPort: number;

beforeAll(async () => {
  playground = createPlayground();
  closedPort = await freePort();
});
afterAll(() => playground.close());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}

/** Base58 of a key that has never been anybody's. */
function freshKey(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  return bs58.encode(Buffer.concat([seed, publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)]));
}

interface Surroundings {
  readonly words?: boolean;
  /** With the first process before it, which reads the keys. */
  readonly whole?: boolean;
  readonly environment?: Record<string, string>;
}

/** Runs a configuration that cannot work and checks that nothing was started; `words` instead of JSON where asked. */
async function refused(
  name: string, text: string | undefined, options: Surroundings = {},
): Promise<{ readonly message: string; readonly code: string }> {
  const file = text === undefined ? playground.path(`${name}.yaml`) : playground.write(`${name}.yaml`, text);
  const { words = false, whole = false, environment = {} } = options;
  const state = playground.path(`${name}-state`);
  const ended = await playground[whole ? 'run' : 'ask'](
    ['run', ...(words ? [] : ['--json']), '--config', file, '--state-dir', state, '--duration', '1m'], { environment },
  );
  expect(ended.code, ended.stdout + ended.stderr).toBe(2);
  expect(filesIn(state).filter((path) => /^(?:runs|recordings)\//.test(path))).toStrictEqual([]);
  if (!words) return document(ended)['error'] as { message: string; code: string };
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(ended.stdout.trim()).toBe('gannet is starting …');
  return { message: ended.stderr, code: '' };
}

describe('an impossible run prints one message, exits with 2 and starts nothing', () => {
  it.each([
    ['no-file', undefined, /^\S*no-file\.yaml/],
    ['malformed', `${DCA}risk: { max_fee_bps: 3\n`, /malformed\.yaml:\d+:\d+ /],
    [
      'unknown-key', `${DCA}risk:\n  max_slipage_bps: 50\n`,
      /unknown-key\.yaml:3:3 risk\.max_slipage_bps: unknown key .*did you mean "max_slippage_bps"/,
    ],
    ['bad-mint', `tokens:\n  FISH: fish\n${DCA}`, /bad-mint\.yaml:2:9 tokens\.FISH: expected a base58 address/],
    [
      'no-such-mint', `tokens:\n  FISH: Barna97njkphfBK7ZbPjATySs3FHRJsMtw8WpfJd2Fa\n${DCA}`,
      /no-such-mint\.yaml:2:9 tokens\.FISH: .*knows no such mint/,
    ],
    [
      'too-many-decimals', 'strategies:\n  - use: dca\n    params: { buy: SOL, spend: "0.1234567 USDC", every: 10s }\n',
      /decimals\.yaml:3:32 .*at most 6 decimal places/,
    ],
    [
      'live-on-a-real-service',
      `mode: live\nservice: { base_url: "https://service.example" }\n`
        + `chain: { rpc_url: "https://rpc.example" }\nwallet: { key_from: "env:GANNET_WALLET_KEY" }\n${DCA}`,
      /live-on-a-real-service\.yaml:1:7 mode: on a real service and chain this swaps real money/,
    ],
    [
      'live-half-embedded',
      `mode: live\nservice: { base_url: "https://service.example" }\nchain: { rpc_url: embedded }\n`
        + `wallet: { address: ${WALLET} }\n${DCA}`,
      /live-half-embedded\.yaml:2:\d+ service\.base_url: .*belong together/,
    ],
  ] as const)('%s', async (name, text, message) => {
    expect((await refused(name, text)).message).toMatch(message);
  });

  it('every fault at once, one line each, as text', async () => {
    const { message } = await refused(
      'three-faults', `mode: life\nrisk: { max_fee_bps: 1.5 }\nchian: {}\n${DCA}`, { words: true, whole: true },
    );
    expect(message.trim().split('\n').map((line) => /three-faults\.yaml:(\d+:\d+) /.exec(line)?.[1]))
      .toStrictEqual(['1:7', '2:22', '3:1']);
  });

  it('a wallet’s key missing in the environment, by the variable’s name', async () => {
    const { message, code } = await refused(
      'no-key',
      `mode: live\ncontrol: { port: 0 }\nservice: { base_url: embedded }\nchain: { rpc_url: embedded }\n`
        + `wallet: { key_from: "env:GANNET_WALLET_KEY" }\n${DCA}`,
      { whole: true },
    );
    expect(code).toBe('KEY_INVALID');
    expect(message).toContain('GANNET_WALLET_KEY');
  });

  it('an API key missing in the environment, by the variable’s name', async () => {
    const { message } = await refused(
      'no-api-key',
      `service: { base_url: "https://service.example", api_key: "\${GANNET_API_KEY}" }\n`
        + `wallet: { address: ${WALLET} }\n${DCA}`,
    );
    expect(message).toMatch(/no-api-key\.yaml:1:\d+ .*GANNET_API_KEY/);
  });

  it('an unreachable service, by its address', async () => {
    const { message, code } = await refused(
      'no-service',
      `control: { port: 0 }\nservice: { base_url: "http://127.0.0.1:${closedPort}", plan: keyless }\n`
        + `wallet: { address: ${WALLET} }\n${DCA}`,
    );
    expect(code).toBe('SERVICE_UNREACHABLE');
    expect(message).toContain(`127.0.0.1:${closedPort}`);
  });

  it('an unreachable RPC, by its address', async () => {
    const { message, code } = await refused(
      'no-rpc',
      `control: { port: 0 }\nservice: { base_url: embedded }\n`
        + `chain: { rpc_url: "http://127.0.0.1:${closedPort}" }\n${PEARL}${DCA}`,
    );
    expect(code).toBe('CHAIN_UNREACHABLE');
    expect(message).toContain(`127.0.0.1:${closedPort}`);
  });

  it('a control port in use, by its number', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const { port } = server.address() as AddressInfo;
    try {
      const { message } = await refused('taken-port', configText('paper.yaml')
        .replace('control: { port: 0 }', `control: { port: ${port} }`));
      expect(message).toContain(`127.0.0.1:${port}`);
    } finally {
      server.close();
    }
  });

  it.each([
    ['a duration that is none', ['--duration', 'soon']],
    ['a count that is none', ['--max-intents', 'zero']],
    ['an option that is none', ['--dry']],
  ])('%s', async (_name, args) => {
    const ended = await playground.ask(['run', '--json', '--state-dir', playground.path('usage-state'), ...args]);
    expect(ended.code).toBe(2);
    expect(document(ended)['error']).toMatchObject({ code: 'USAGE', message: expect.stringContaining(args[0]!) });
    expect(filesIn(playground.path('usage-state'))).toStrictEqual([]);
  });

  it('a replay of an unknown run, and an unknown command', async () => {
    const replay = await playground.ask(['replay', 'no-such-run', '--json', '--state-dir', playground.path('nothing')]);
    expect(replay.code).toBe(2);
    expect(document(replay)['error'])
      .toMatchObject({ code: 'RUN_NOT_FOUND', message: expect.stringContaining('no-such-run') });
    const command = await playground.run(['rnu', '--json']);
    expect(command.code).toBe(2);
    expect(document(command)['error']).toMatchObject({ code: 'USAGE' });
  });
});

describe('secrets', () => {
  it('appear in no output and no file, with and without errors', async () => {
    const walletKey = freshKey();
    const apiKey = 'canary-4f1a9d02-api-key';
    const token = 'canary77b1Zk3vQ8wXp1Lm9Rt5Yb7Nc2';
    const environment = { GANNET_WALLET_KEY: walletKey, GANNET_API_KEY: apiKey, GANNET_CONTROL_TOKEN: token };
    const service = `service: { base_url: "http://127.0.0.1:${closedPort}", api_key: "\${GANNET_API_KEY}" }\n`;
    const spoiled = walletKey.slice(0, -1);
    const attempts: readonly (readonly [name: string, text: string, environment: Record<string, string>])[] = [
      ['unreachable', `${service}wallet: { key_from: "env:GANNET_WALLET_KEY" }\n${DCA}`, environment],
      ['key-in-yaml', `wallet: { key_from: "${walletKey}" }\n${DCA}`, environment],
      ['key-through-yaml', `wallet: { key_from: "\${GANNET_WALLET_KEY}" }\n${DCA}`, environment],
      ['key-as-api-key', `service: { base_url: "http://127.0.0.1:${closedPort}", api_key: "${walletKey}" }\n`
        + `wallet: { address: ${WALLET} }\n${DCA}`, environment],
      ['key-in-the-wrong-place', `mode: ${walletKey}\n${DCA}`, environment],
      [
        'spoiled-key',
        `mode: live\ncontrol: { port: 0 }\nchain: { rpc_url: embedded }\n`
          + `wallet: { key_from: "env:GANNET_WALLET_KEY" }\n${DCA}`,
        { ...environment, GANNET_WALLET_KEY: spoiled },
      ],
      ['poor-wallet', `mode: live\ncontrol: { port: 0 }\nchain: { rpc_url: embedded }\n`
        + `wallet: { key_from: "env:GANNET_WALLET_KEY" }\n${DCA}`, environment],
      ['paper', `control: { port: 0 }\n${DCA}`, environment],
    ];
    const secrets = [walletKey, spoiled, apiKey, token];
    const ends = await Promise.all(attempts.map(async ([name, text, variables]) => {
      // Outside the folders that are searched: a configuration that holds a key is its author's doing.
      const file = playground.write(`canary-${name}.yaml`, text);
      const state = playground.path('canary-states', name);
      const ended = await playground.run(
        ['run', '--config', file, '--state-dir', state, '--duration', '2s', '--log-level', 'debug'],
        { environment: variables },
      );
      for (const secret of secrets) expect(ended.stdout + ended.stderr, name).not.toContain(secret);
      return { name, code: ended.code };
    }));
    expect(ends.filter(({ code }) => code === 2).length).toBeGreaterThanOrEqual(5);
    expect(ends).toContainEqual({ name: 'paper', code: 0 });
    const written = filesIn(playground.path('canary-states'));
    expect(written.length).toBeGreaterThan(5);
    for (const path of written) {
      const text = readFileSync(playground.path('canary-states', path), 'latin1');
      for (const secret of secrets) expect(text.includes(secret), path).toBe(false);
    }
  });
});
