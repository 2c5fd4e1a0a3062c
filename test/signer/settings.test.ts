import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSignerSettings, type SignerSettings } from '../../src/signer/settings.ts';
import { CONSTANT_PRODUCT_PROGRAM } from '../../src/signer/policy/swap-programs.ts';
import { NATIVE_MINT } from '../../src/solana/constants.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const PROGRAM = 'SysvarC1ock11111111111111111111111111111111';
const OTHER = 'SysvarRent111111111111111111111111111111111';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'signer-settings-')); });
afterEach(() => { rmSync(folder, { recursive: true }); });

function write(path: string, text: string): string {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return path;
}

function read(yaml: string | undefined, { args = [], environment = {}, projectDir }: {
  args?: readonly string[]; environment?: Record<string, string>; projectDir?: string;
} = {}): SignerSettings {
  if (yaml !== undefined) write('config/gannet.yaml', yaml);
  return readSignerSettings({ args, environment, workingDir: folder, projectDir });
}

function fault(yaml: string, options?: Parameters<typeof read>[1]): string {
  try {
    read(yaml, options);
  } catch (error) {
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    return (error as Error).message;
  }
  throw new Error('expected a fault, found none');
}

function withDialect(text: string): SignerSettings {
  write('config/dialects/host.yaml', `dialect: host\nrouters: { iris: any }\n${text}`);
  return read('service: { base_url: "https://swap.example", dialect: host }', { projectDir: folder });
}

describe('the signer’s own reading of the configuration', () => {
  test('uses the built-in configuration without a file: all embedded, no key, no caps', () => {
    const settings = read(undefined);
    expect(settings).toMatchObject({
      keyFrom: undefined, address: undefined, embedded: true, rpcUrl: undefined, destinations: [], sellsUnnamed: false,
      stateDir: join(folder, 'state'),
      programs: [{ program: CONSTANT_PRODUCT_PROGRAM }],
    });
    expect(settings.tokens.get('SOL')).toBe(NATIVE_MINT);
    for (const { mint } of settings.caps) expect([...settings.tokens.values()]).toContain(mint);
  });

  test('reads the signer’s settings, and nothing else', () => {
    const settings = read(`
mode: live
service: { base_url: 'https://swap.example', api_key: \${NOT_SET_HERE} }
chain: { rpc_url: '\${NODE}', further_rpc_urls: ['https://b.example/\${NODE_KEY}'] }
wallet: { key_from: env:MY_KEY, address: ${USDC} }
tokens: { PEARL: ${PEARL} }
signer:
  programs: [${PROGRAM}]
  destinations: [${OTHER}]
  caps:
    PEARL: { per_trade: "1.5", per_day: "20" }
    ${USDC}: { per_hour: "100" }
strategies: [{ use: dca, params: { nonsense: [1, 2] } }]
`, {
      environment: { NODE: 'https://node.example/?key=secret', NODE_KEY: 'other' },
      args: ['--state-dir', 'elsewhere', 'run'],
    });
    expect(settings).toMatchObject({
      keyFrom: 'env:MY_KEY', address: USDC, embedded: false, rpcUrl: 'https://node.example/?key=secret',
      furtherRpcUrls: ['https://b.example/other'],
      destinations: [OTHER],
      stateDir: join(folder, 'elsewhere'),
      caps: [
        { name: 'PEARL', mint: PEARL, perTrade: '1.5', perHour: undefined, perDay: '20' },
        { name: USDC, mint: USDC, perTrade: undefined, perHour: '100', perDay: undefined },
      ],
    });
    expect(settings.programs.map(({ program, decode }) => [program, decode !== undefined]))
      .toEqual([
        [PROGRAM, false], ['GannetRoute11111111111111111111111111111111', true],
        ['GannetUnknown111111111111111111111111111111', false], [CONSTANT_PRODUCT_PROGRAM, true],
      ]);
  });

  test('reads what a swap may pay besides its input, and what it is without that', () => {
    expect(read('mode: live').allowances).toEqual({
      maxTipLamports: 100_000n, maxPriorityFeeLamports: 1_000_000n, feeAccounts: new Map(), maxFeeBps: 30,
    });
    expect(read(`
signer: { max_tip: "0.0003 SOL", max_priority_fee: "0.002 SOL", fee_accounts: { ${OTHER}: 60 } }
risk: { max_fee_bps: 45 }
swap: { tip: "1000 SOL", unheard: of }
`).allowances).toEqual({
      maxTipLamports: 300_000n, maxPriorityFeeLamports: 2_000_000n, feeAccounts: new Map([[OTHER, 60]]), maxFeeBps: 45,
    });
    expect(read('signer: { max_tip: "0 SOL" }').allowances.maxTipLamports).toBe(0n);
    for (const [text, message] of [
      ['signer: { max_tip: "0.006 SOL" }', /signer\.max_tip: expected an amount of SOL of at most "0\.005 SOL"/],
      ['signer: { max_priority_fee: "0 SOL" }', /signer\.max_priority_fee: expected an amount of SOL/],
      ['signer: { max_priority_fee: 0.001 }', /signer\.max_priority_fee: expected text/],
      ['signer: { max_priority_fee: "1 USDC" }', /signer\.max_priority_fee: expected an amount of SOL/],
      ['signer: { fee_accounts: { friend: 60 } }', /fee_accounts\.friend: expected an address as key/],
      [`signer: { fee_accounts: { ${OTHER}: 0 } }`, /expected a whole number of 1 to 10000/],
      ['risk: { max_fee_bps: many }', /risk\.max_fee_bps: expected a whole number of 0 to 10000/],
    ] as const) expect(() => read(text), text).toThrow(message);
  });

  test('reads the price guard, its service, the key for it and the words of its dialect', () => {
    const real = `service: { base_url: 'https://swap.example/api', dialect: other, api_key: \${KEY} }\n`;
    write('config/dialects/neutral.yaml', 'dialect: neutral\n');
    write('config/dialects/other.yaml', `paths: { /swap: /a, /swap/v2: /b, /swap/v22: /c }
query: { amount: size }
fields: { outAmount: out }
`);
    expect(priceGuardOf(`${real}risk: { max_slippage_bps: 20, max_price_impact_bps: 30 }`)).toEqual({
      serviceUrl: 'https://swap.example/api', apiKey: 'secret', maxDeviationBps: 50, quoteTtlMs: 5_000,
      maxQuotesPerMinute: 60,
      words: { path: '/b/order', query: new Map([['amount', 'size']]), fields: new Map([['outAmount', 'out']]) },
    });
    expect(
      priceGuardOf(`${real}signer: { price_guard: { max_deviation_bps: 7, quote_ttl: 2s, max_quotes_per_minute: 3 } }`),
    )
      .toMatchObject({ maxDeviationBps: 7, quoteTtlMs: 2_000, maxQuotesPerMinute: 3 });
    const plain = `service: { base_url: 'https://swap.example' }\n`;
    const environment = { GANNET_API_KEY: 'usual', OWN: 'own' };
    expect(priceGuardOf(plain, { environment }).apiKey).toBe('usual');
    expect(priceGuardOf(plain.replace(' }', ', plan: keyless }'), { environment }).apiKey).toBeUndefined();
    expect(priceGuardOf(plain, { environment, args: ['run', '--api-key-env', 'OWN'] }).apiKey).toBe('own');
    expect(priceGuardOf('mode: live')).toMatchObject({ serviceUrl: undefined, maxQuotesPerMinute: 60_000 });
  });

  test.each([
    ['signer: { price_guard: { max_deviation_bps: 0 } }', 'signer.price_guard.max_deviation_bps'],
    ['signer: { price_guard: { max_deviation_bps: "9" } }', 'signer.price_guard.max_deviation_bps'],
    ['signer: { price_guard: { quote_ttl: 2h } }', 'signer.price_guard.quote_ttl'],
    ['signer: { price_guard: { off: true } }', 'signer.price_guard'],
    ['service: { base_url: "http://swap.example" }', 'service.base_url'],
    ['service: { base_url: "https://me:secret@swap.example" }', 'service.base_url'],
    ['service: { base_url: "https://swap.example/?key=secret" }', 'service.base_url'],
  ])('signs nothing where %s is unclear, and shows no secret', (yaml, path) => {
    expect(fault(yaml)).toContain(path);
    expect(fault(yaml)).not.toContain('secret');
  });

  test('follows the command line as the commands do: the last option counts, in either spelling', () => {
    write('a.yaml', 'strategies: []');
    write('b.yaml', 'wallet: { key_from: "file:key" }');
    expect(read(undefined, { args: ['run', '--config', 'a.yaml', '--config=b.yaml'] }).keyFrom).toBe('file:key');
    expect(read(undefined, { args: ['--config=b.yaml', '--config', 'a.yaml', 'run'] }).keyFrom).toBeUndefined();
    const real =
      read(undefined, { args: ['--base-url', 'https://swap.example', '--rpc-url=http://127.0.0.1:9', 'run'] });
    expect([real.embedded, real.rpcUrl]).toEqual([false, 'http://127.0.0.1:9']);
    // One of the two is enough to be worth something.
    expect(read(undefined, { args: ['--base-url', 'https://swap.example', 'run'] }).embedded).toBe(false);
  });

  test('refuses unclear values with their position, without secrets', () => {
    const key = bs58.encode(Buffer.alloc(64, 201));
    const cases: readonly (readonly [yaml: string, message: RegExp])[] = [
      ['signer: { program: [] }', /gannet\.yaml:1:11 signer: unknown key "program"; did you mean "programs"/],
      ['signer: { programs: [here] }', /:1:22 signer\.programs\[0\]: expected an address/],
      ['signer: { destinations: nowhere }', /signer\.destinations: expected a list/],
      ['signer: { caps: { FOO: { per_day: "1" } } }', /signer\.caps\.FOO: expected a token that "tokens" names/],
      ['signer: { caps: { SOL: {} } }', /signer\.caps\.SOL: expected at least one of/],
      ['signer: { caps: { SOL: { per_week: "1" } } }', /unknown key "per_week"/],
      ['signer: { caps: { SOL: { per_day: 200 } } }', /signer\.caps\.SOL\.per_day: expected text/],
      ['signer: { caps: { SOL: { per_day: "1e3" } } }', /expected a decimal number/],
      ['signer: { caps: { SOL: { per_day: "-1" } } }', /expected a decimal number/],
      [`signer: { caps: { SOL: { per_day: "1" }, ${NATIVE_MINT}: { per_day: "9" } } }`, /has a cap above already/],
      ['signer: []', /signer: expected keys and values/],
      [`tokens: { SOL: ${USDC} }`, /tokens\.SOL: expected SOL to be So1111/],
      ['tokens: { X: 12 }', /tokens\.X: expected text/],
      ['wallet: { key_from: "somewhere" }', /wallet\.key_from: expected "env:NAME" or "file:PATH"/],
      [`wallet: { key_from: "file:${key}" }`, /wallet\.key_from/],
      ['wallet: { address: me }', /wallet\.address: expected an address/],
      ['chain: { rpc_url: "ftp://node" }', /chain\.rpc_url: expected "embedded" or/],
      ['chain: { rpc_url: "https://me:secret@node.example" }', /without user name and password/],
      ['chain: { rpc_url: "https://a.example", further_rpc_urls: [embedded] }', /urls\[0\]: expected the http/],
      ['chain: { rpc_url: "https://a.example", further_rpc_urls: ["https://me:secret@b"] }', /without user name/],
      ['chain: { rpc_url: ${NODE_URL} }', /the environment variable NODE_URL is not set/],
      ['service: { dialect: "../x" }', /service\.dialect: expected the name/],
      ['service: embedded', /service: expected keys and values/],
      ['signer: { caps: { SOL: { per_day: "1" } }\nwallet: 1', /gannet\.yaml:\d+:\d+ this is not valid YAML/],
      ['signer: 1\nsigner: 2', /the key "signer" already stands in line 1/],
      ['- 1', /expected keys and values/],
    ];
    for (const [yaml, expected] of cases) {
      const message = fault(yaml);
      expect(message).toMatch(expected);
      expect(message).not.toContain(key);
      expect(message).not.toContain('secret');
    }
    expect(() => read(undefined, { args: ['--config', 'missing.yaml', 'run'] }))
      .toThrowError(expect.objectContaining({ code: 'CONFIG_NOT_FOUND' }));
    expect(fault('strategies: []', { args: ['--rpc-url', 'nonsense'] }))
      .toMatch(/^--rpc-url chain\.rpc_url: expected "embedded" or/);
  });
});

describe('the swap programs of a dialect', () => {
  const layout = '{ discriminator: "0102", accounts: { user: 0, source: 1, destination: 2, output_mint: 3 }, '
    + 'data: { amount_in: 2, quoted_out: 10 } }';
  const sliding = layout.replace('quoted_out: 10', 'quoted_out: 10, slippage_bps: 18');
  const narrow = layout.replace('quoted_out: 10', 'quoted_out: { at: 10, bytes: 4 }');
  test('are on the allow-list, with a decoder where a layout is given', () => {
    const { programs } =
      withDialect(`swap_programs:\n  - program: ${PROGRAM}\n    instructions: [${layout}]\n  - program: ${OTHER}\n`);
    expect(programs.map(({ program, decode }) => [program, decode !== undefined]))
      .toEqual([[PROGRAM, true], [OTHER, false], [CONSTANT_PRODUCT_PROGRAM, true]]);
    const data = Buffer.alloc(18);
    data.set([1, 2]);
    data.writeBigUInt64LE(7n, 2);
    data.writeBigUInt64LE(9n, 10);
    expect(programs[0]!.decode!({ index: 0, program: PROGRAM, accounts: ['a', 'b', 'c', 'd'], data }))
      .toMatchObject({ user: 'a', source: 'b', amountIn: 7n, minimumOut: 9n });
  });

  test('are not on the allow-list where all is embedded', () => {
    withDialect(`swap_programs:\n  - program: ${PROGRAM}\n`);
    const embedded = read(`service: { dialect: host }\nsigner: { programs: [${OTHER}] }`, { projectDir: folder });
    expect([embedded.embedded, embedded.programs.map(({ program }) => program)])
      .toEqual([true, [CONSTANT_PRODUCT_PROGRAM]]);
  });

  test('are refused where one of them is unclear', () => {
    const cases: readonly (readonly [text: string, message: RegExp])[] = [
      [
        `swap_programs: [{ program: x }]`,
        /config\/dialects\/host\.yaml:3:28 swap_programs\[0\]\.program: expected the address/,
      ],
      [
        `swap_programs: [{ program: ${PROGRAM}, instruction: [] }]`,
        /unknown key "instruction"; did you mean "instructions"/,
      ],
      [`swap_programs: [{ program: ${PROGRAM} }, { program: ${PROGRAM} }]`, /is listed above already/],
      [
        `swap_programs: [{ program: ${PROGRAM}, instructions: [${layout.replace('"0102"', '"01 02"')}] }]`,
        /hexadecimal/,
      ],
      [
        `swap_programs: [{ program: ${PROGRAM}, instructions: [${layout.replace('source: 1, ', '')}] }]`,
        /accounts: expected the key "source"/,
      ],
      [
        `swap_programs: [{ program: ${PROGRAM}, instructions: [${layout.replace('source: 1', 'source: 999')}] }]`,
        /whole number of 0 to 255/,
      ],
      [`swap_programs: [{ program: ${PROGRAM}, instructions: [${narrow}] }]`, /length of 8 bytes/],
      [
        `swap_programs: [{ program: ${PROGRAM}, instructions: [${layout.replace('user: 0', 'taker: 0')}] }]`,
        /unknown key "taker"/,
      ],
      [`swap_programs: [{ program: ${PROGRAM}, instructions: [${sliding}] }]`, /expected the key "minimum"/],
      [
        `swap_programs: [{ program: ${PROGRAM}, instructions: [${sliding.replace('{ d', '{ minimum: up, d')}] }]`,
        /minimum: expected "ceil" or "floor"/,
      ],
      [
        `swap_programs: [{ program: ${PROGRAM}, instructions: [${layout.replace('{ d', '{ minimum: ceil, d')}] }]`,
        /minimum: expected the key "minimum" only beside data\.slippage_bps/,
      ],
    ];
    for (const [text, expected] of cases) expect(() => withDialect(text)).toThrowError(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(expected) as string }),
    );
    expect(() => read('service: { dialect: nowhere }', { projectDir: folder }))
      .toThrowError(expect.objectContaining({ code: 'CONFIG_NOT_FOUND' }));
  });
});

function priceGuardOf(
  yaml: string, more: { readonly environment?: Record<string, string>; readonly args?: string[] } = {},
): SignerSettings['priceGuard'] {
  return read(yaml, { environment: { KEY: 'secret' }, projectDir: folder, ...more }).priceGuard;
}
