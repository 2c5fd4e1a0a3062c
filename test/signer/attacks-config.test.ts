import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { readHere } from '../../src/config/strategies/read-here.ts';
import { isGannetError } from '../../src/core/errors.ts';
import { withoutKeys } from '../../src/signer/environment.ts';
import { valueOf } from '../../src/signer/command-process.ts';
import { readSignerSettings } from '../../src/signer/settings.ts';
import { KEYPAIR, addressOfByte, USDC, WALLET } from './attack-swap.ts';

// A configuration that two processes read: whatever is odd in it, they must read the same of it or refuse.

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'attacks-config-')); mkdirSync(join(folder, 'config')); });
afterEach(() => { rmSync(folder, { recursive: true }); });

interface Reading {
  readonly embedded: boolean;
  readonly rpcUrl: string | undefined;
  readonly keyFrom: string | undefined;
  readonly address: string | undefined;
  readonly destinations: readonly string[];
  readonly caps: readonly string[];
}

async function byTheDaemon(
  file: string | undefined, environment: Record<string, string>,
): Promise<Reading | undefined> {
  const loaded = await loadConfig({
    file, workingDir: folder, environment, purpose: 'read',
    strategyReader: readHere,
    decimalsOf: async (mints) => new Map(mints.map((mint) => [mint, 6])),
  });
  if (!loaded.ok) return undefined;
  const { service, chain, wallet, signer } = loaded.config;
  const { keyFrom } = wallet;
  return {
    embedded: service.baseUrl === 'embedded' && chain.rpcUrl === 'embedded',
    rpcUrl: chain.rpcUrl === 'embedded' ? undefined : chain.rpcUrl,
    keyFrom: keyFrom === undefined ? undefined : keyFrom.kind === 'env' ? `env:${keyFrom.name}`
      : `file:${keyFrom.path}`,
    address: wallet.address, destinations: [...signer.destinations], caps: [...signer.caps.keys()].sort(),
  };
}

function byTheSigner(file: string | undefined, environment: Record<string, string>): Reading | undefined {
  try {
    const { embedded, rpcUrl, keyFrom, address, destinations, caps } =
      readSignerSettings({ args: file === undefined ? [] : ['--config', file], environment, workingDir: folder });
    return { embedded, rpcUrl, keyFrom, address, destinations, caps: caps.map(({ mint }) => mint).sort() };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return undefined;
  }
}

const FRIEND = addressOfByte(60);
const PLAIN = `mode: live
service: { base_url: "https://swap.example" }
chain: { rpc_url: "https://node.example" }
wallet: { key_from: env:MINE, address: ${WALLET}, sol_reserve: "0.05 SOL" }
tokens: { PEARL: ${addressOfByte(61)} }
signer: { destinations: [${FRIEND}], caps: { USDC: { per_trade: "2" } } }
strategies: [{ use: book-watch, params: { market: M, level: 0.6, rearm: 0.5, every: 5s } }]
`;

const ODD: Readonly<Record<string, string | Buffer>> = {
  'nothing odd': PLAIN,
  'lines of another system': PLAIN.replaceAll('\n', '\r\n'),
  'a byte order mark': `\ufeff${PLAIN}`,
  'two byte order marks': `\ufeff\ufeff${PLAIN}`,
  'another encoding': Buffer.from(PLAIN, 'utf16le'),
  'bytes that are no text': Buffer.concat([Buffer.from(PLAIN), Buffer.of(0xff, 0xfe)]),
  'a zero': PLAIN.replace('https://node.example', 'https://node.example\\0x'),
  'a raw zero': PLAIN.replace('https://node.example', 'https://node.example\0x'),
  'an anchor': PLAIN.replace(
    'chain: { rpc_url: "https://node.example" }', 'chain: { rpc_url: &node "https://node.example" }',
  ).replace('signer: {', 'signer: &s {'),
  'an alias': PLAIN.replace('caps: { USDC: { per_trade: "2" } }', 'caps: { USDC: &cap { per_trade: "2" }, SOL: *cap }'),
  'a merge': PLAIN.replace(
    'caps: { USDC: { per_trade: "2" } }', 'caps: { USDC: { <<: { per_trade: "200000" }, per_trade: "2" } }',
  ),
  'a merge of a section':
    `base: &b { caps: { USDC: { per_trade: "900" } } }\n${PLAIN.replace('signer: {', 'signer: { <<: *b, ')}`,
  'a key twice': `${PLAIN}signer: { caps: { USDC: { per_trade: "900000" } } }\n`,
  'a key twice, once in quotes': `${PLAIN}"signer": { caps: { USDC: { per_trade: "900000" } } }\n`,
  'a key twice, once in escapes': `${PLAIN}"s\\x69gner": { caps: { USDC: { per_trade: "900000" } } }\n`,
  'a key twice, once with a tag': `${PLAIN}!!str signer: { caps: { USDC: { per_trade: "900000" } } }\n`,
  'a key that is a mapping': `${PLAIN}? { signer: x }\n: y\n`,
  'a second document': `${PLAIN}---\nsigner: { caps: {} }\n`,
  'a document before': `signer: { caps: {} }\n---\n${PLAIN}`,
  'an end of the document': `${PLAIN}...\nsigner: { caps: {} }\n`,
  'a version of the language': `%YAML 1.1\n---\n${PLAIN}`,
  'a tag': PLAIN.replace('"2"', '!!float "2"'),
  'a tag of its own': PLAIN.replace('"2"', '!cap "2"'),
  'a cap as a number': PLAIN.replace('"2"', '2'),
  'a cap in another spelling': PLAIN.replace('"2"', '"2e3"'),
  'a cap below nothing': PLAIN.replace('"2"', '"-2"'),
  'a cap of infinity': PLAIN.replace('"2"', '.inf'),
  'an unknown key under signer': PLAIN.replace('destinations', 'destination'),
  'an unknown cap': PLAIN.replace('per_trade', 'per_week'),
  'a cap of an unnamed token': PLAIN.replace('USDC: {', 'usdc: {'),
  'a cap by address': PLAIN.replace('USDC: {', `${USDC}: {`),
  'a cap twice, by name and by address': PLAIN.replace('caps: {', `caps: { ${USDC}: { per_trade: "900" },`),
  'another mint called SOL': PLAIN.replace('PEARL', 'SOL'),
  'a token called constructor': PLAIN.replace('PEARL', 'constructor'),
  'an ancestor': PLAIN.replace('caps: {', 'caps: { __proto__: { per_trade: "9" },'),
  'no node': PLAIN.replace('"https://node.example"', '~'),
  'no service': PLAIN.replace('service: { base_url: "https://swap.example" }', 'service:'),
  'an embedded node of a real service': PLAIN.replace('"https://node.example"', 'embedded'),
  'an embedded service with a real node': PLAIN.replace('"https://swap.example"', 'embedded'),
  'all embedded, in capitals': PLAIN.replace('"https://swap.example"', 'Embedded')
    .replace('"https://node.example"', 'EMBEDDED'),
  'all embedded, with blanks': PLAIN.replace('"https://swap.example"', '" embedded"')
    .replace('"https://node.example"', '"embedded "'),
  'all embedded': PLAIN.replace('"https://swap.example"', 'embedded').replace('"https://node.example"', 'embedded'),
  'a node by a variable': PLAIN.replace('"https://node.example"', '"https://${HOST}/${PATH_OF_IT}"'),
  'a node by a variable that is not set': PLAIN.replace('"https://node.example"', '"https://${NOT_SET}"'),
  'a variable within a variable': PLAIN.replace('"https://node.example"', '"https://${NESTED}"'),
  'a service by a variable that says embedded': PLAIN.replace('"https://swap.example"', '"${WORD}"')
    .replace('"https://node.example"', '"${WORD}"'),
  'a place for the key by a variable': PLAIN.replace('env:MINE', '"env:${WHICH}"'),
  'a key of a variable': PLAIN.replace('USDC: {', '"${ALIAS}": {'),
  'a node with a password': PLAIN.replace('node.example', 'me:secret@node.example'),
  'a node of another kind': PLAIN.replace('https://node.example', 'ftp://node.example'),
  'text over several lines': PLAIN.replace(
    'rpc_url: "https://node.example"', 'rpc_url: "https://\\\n    node.example"',
  ),
  'a destination that is none': PLAIN.replace(FRIEND, 'no-address'),
  'a destination twice': PLAIN.replace(`[${FRIEND}]`, `[${FRIEND}, ${FRIEND}]`),
  'only a list': '[]', 'nothing at all': '', 'nothing but a comment': '# signer', 'a text': 'signer',
  'a mapping that holds itself': `${PLAIN}more: &m { again: *m }\n`,
  'a billion values': `${PLAIN}a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n`
    + 'c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n',
  'a million blanks': `${PLAIN}${' '.repeat(1_100_000)}`,
};

describe('on an odd configuration signer and daemon agree, or one of them refuses', () => {
  const environment =
    { HOST: 'node.example', PATH_OF_IT: 'x', NESTED: '${HOST}', WORD: 'embedded', WHICH: 'MINE', ALIAS: 'USDC' };
  const together = new Set<string>();

  test.each(Object.entries(ODD))('%s', async (name, text) => {
    writeFileSync(join(folder, 'config', 'gannet.yaml'), text);
    const [daemon, signer] = [await byTheDaemon(undefined, environment), byTheSigner(undefined, environment)];
    if (daemon === undefined || signer === undefined) return;
    expect(signer).toEqual(daemon);
    together.add(name);
  });

  test('and accept some of them', () => {
    expect([...together]).toEqual(expect.arrayContaining([
      'nothing odd', 'lines of another system', 'a byte order mark', 'an alias', 'all embedded', 'a node by a variable',
      'an embedded node of a real service',
    ]));
  });
});

/** What the command line's own reader makes of the options before a command. */
function values(args: readonly string[]): Record<string, string | undefined> | undefined {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
    .option('--json').option('--config <file>').option('--state-dir <dir>').option('--base-url <url>')
    .option('--rpc-url <url>').option('--api-key-env <name>').option('--log-level <level>');
  program.command('run').option('--live').action(() => undefined);
  program.command('swap <amount>').option('--slippage <bps>').action(() => undefined);
  try {
    program.parse(['node', 'gannet', ...args]);
    return program.opts();
  } catch {
    return undefined;
  }
}

describe('the file that the command line names', () => {
  test.each([
    ['--config', 'a', 'run'], ['run', '--config', 'a'], ['run', '--config=a', '--live'],
    ['--config', 'a', 'run', '--config', 'b'], ['--config=a', '--config', 'b', 'run'], ['run', '--config='],
    ['run', '--config', ''], ['run', '--config', '--live'], ['run', '--config'],
    ['run', '--live', '--', '--config', 'b'], ['--config', '--', 'run'], ['run', '--config', '--', '--config', 'b'],
    ['swap', '--slippage', '--config', '5', '--config', 'b'], ['swap', '5', '--config', 'x', '--rpc-url', '--config'],
    ['run', '--rpc-url=http://a', '--rpc-url', 'http://b'], ['run', '--state-dir', '--config', '--config', 'c'],
    ['run', '--configuration', 'a'], ['run', '--conf', 'a'], ['--json', '--config', 'x=y', 'run'],
    ['run', '--base-url', 'embedded', '--rpc-url', 'embedded'], ['--log-level', '--config', 'run', '--config', 'z'],
    ['--api-key-env', '--rpc-url', 'run', '--config', 'a'], ['run', '--state-dir=--config', '--config=--state-dir'],
  ])('is the same for both: %s %s %s %s %s', (...args) => {
    const words = args.filter((arg) => arg !== undefined);
    const daemon = values(words);
    if (daemon === undefined) return;
    for (const [option, name] of [
      ['--config', 'config'], ['--rpc-url', 'rpcUrl'], ['--base-url', 'baseUrl'], ['--state-dir', 'stateDir'],
    ] as const) expect([option, valueOf(words, option)]).toEqual([option, daemon[name]]);
  });

  test('is read by both where it is a link, and by neither where it is a folder, a pipe or none', async () => {
    writeFileSync(join(folder, 'real.yaml'), PLAIN);
    symlinkSync(join(folder, 'real.yaml'), join(folder, 'link.yaml'));
    symlinkSync(join(folder, 'loop.yaml'), join(folder, 'loop.yaml'));
    expect(byTheSigner('link.yaml', {})).toEqual(await byTheDaemon('link.yaml', {}));
    expect(byTheSigner(join(folder, 'config', '..', 'link.yaml'), {})?.keyFrom).toBe('env:MINE');
    for (const none of ['config', 'nowhere.yaml', 'loop.yaml', '', 'real.yaml/x', 'real\0.yaml'])
      expect([none, byTheSigner(none, {}), await byTheDaemon(none, {})]).toEqual([none, undefined, undefined]);
  });
});

describe('the variable with the key', () => {
  // Of 32 bytes, like any address: only its name identifies it.
  const SEED = bs58.encode(KEYPAIR.secretKey.subarray(0, 32));
  test.each([
    ['as another variable says', 'wallet: { key_from: "env:${WHICH}" }'],
    ['half of it in another variable', 'wallet: { key_from: "${KIND}MI${REST}" }'],
    ['in escapes', 'wallet: { key_from: "env:\\x4dINE" }'],
    ['over two lines', 'wallet:\n  key_from: "env:\\\n    MINE"\n'],
    ['under a key in escapes', 'wallet: { "key\\u005ffrom": "env:${WHICH}" }'],
    ['in a block', 'wallet:\n  key_from: >-\n    env:${WHICH}\n'],
    ['through an alias of a variable', 'x: &x "env:${WHICH}"\nwallet: { key_from: *x }'],
    ['through a section that is an alias', 'x: &x { key_from: "env:${WHICH}" }\nwallet: *x'],
    [
      'behind a seeming comment',
      'x: { y: "a #b", wallet: 1 }\nz: { a: "c #d", b: 1 }\nwallet: { address: "#", key_from: env:MINE }',
    ],
    ['after an explicit key', 'wallet:\n  ? key_from\n  : "env:${WHICH}"\n'],
  ])('is kept from all but the signer where the configuration points at it %s', async (_how, yaml) => {
    writeFileSync(join(folder, 'config', 'gannet.yaml'), yaml);
    const environment = { variables: { MINE: SEED, KEPT: SEED, WHICH: 'MINE', KIND: 'env:', REST: 'NE' }, dotenv: {} };
    expect((await withoutKeys(environment, { workingDir: folder, config: undefined })).withheld).toContain('MINE');
    expect((await withoutKeys(environment, { workingDir: folder, config: undefined })).withheld).not.toContain('KEPT');
  });
});
