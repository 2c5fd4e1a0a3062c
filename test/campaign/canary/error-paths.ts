import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createChain } from '../../../src/chain/chain.ts';
import { reportError } from '../../../src/cli/output/terminal.ts';
import { configError } from '../../../src/config/config-issue.ts';
import { amount } from '../../../src/core/amount.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import { createRedactor } from '../../../src/daemon/reporting/log.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { createService } from '../../../src/service/service.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';
import { readSecretKey } from '../../../src/signer/key-file.ts';
import { loadText } from '../../config/load-text.ts';
import type { Choose } from '../choose.ts';
import { garbledJson, mutateText } from '../mutation.ts';
import type { Canaries } from './secrets.ts';

/** Walks one way on which something fails; what it throws is told as a command and a log would tell it. */
type ErrorPath = (canaries: Canaries, choose: Choose) => Promise<unknown>;

/**
 * Returns all that people and files would get to see of `count` errors, one text each; undefined where nothing went
 * wrong.
 */
export async function* walkErrorPaths(
  canaries: Canaries, { count, chooseFor }: { readonly count: number; readonly chooseFor: (number: number) => Choose },
): AsyncGenerator<{ readonly path: string; readonly told: string | undefined }> {
  const echo = await openEcho(canaries);
  const ways: readonly (readonly [name: string, path: ErrorPath])[] = [
    ['key file', wrongKeyFile], ['key variable', wrongKeyVariable], ['configuration', wrongConfiguration],
    ['service', (secrets, choose) => askService(secrets, choose, echo)],
    ['rpc', (secrets, choose) => askNode(secrets, choose, echo)],
  ];
  try {
    for (let number = 0; number < count; number++) {
      const [path, walk] = ways[number % ways.length]!;
      yield { path: `${path} ${number}`, told: await toldOf(walk(canaries, chooseFor(number)), canaries) };
    }
  } finally {
    echo.close();
  }
}

async function toldOf(walked: Promise<unknown>, { apiKey }: Canaries): Promise<string | undefined> {
  let told = '';
  const write = (text: string): void => { told += `${text}\n`; };
  try {
    const answer = await walked;
    if (answer !== undefined)
      write(JSON.stringify(answer, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)));
  } catch (error) {
    for (const json of [true, false])
      reportError({ json, colour: false, result: () => undefined, out: write, err: write }, error);
    // As the daemon's log has it: the process that trades knows the key of the service, never that of the wallet.
    write(JSON.stringify(createRedactor([apiKey])({ error })));
  }
  return told === '' ? undefined : told;
}

/** The key's text with something wrong: cut, garbled, in another form, with more around it. */
function garbledKey({ wallet }: Canaries, choose: Choose): string {
  const text = choose.pick([wallet.base58, wallet.json, wallet.hex, wallet.base64, wallet.seed.toString('base64url')]);
  switch (choose.integer(0, 5)) {
    case 0: return text.slice(0, choose.integer(20, text.length - 1));
    case 1: return mutateText(choose, text);
    case 2: return `${text}${choose.pick(['x', '0', text, '\nmore'])}`;
    case 3: return choose.pick([`"${text}"`, `key=${text}`, `{"secret":"${text}"}`, `0x${text}`, `[${text}]`]);
    case 4: return text.split('').join(choose.pick([' ', '\u200b', '\n']));
    default: return text;
  }
}

async function wrongKeyFile(canaries: Canaries, choose: Choose): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-canary-'));
  try {
    const path = join(folder, 'wallet.json');
    writeFileSync(path, garbledKey(canaries, choose));
    chmodSync(path, choose.pick([0o600, 0o600, 0o644, 0o660, 0o400]));
    const key = await readSecretKey({ source: choose.pick([
      `file:${path}`, `file:${path}`, `file:${folder}`, `file:${path}.${canaries.wallet.base58}`,
      canaries.wallet.base58,
    ]), environment: {} });
    return { key, text: inspect(key), address: key.address };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function wrongKeyVariable(canaries: Canaries, choose: Choose): Promise<unknown> {
  const text = garbledKey(canaries, choose);
  const key = await readSecretKey({ source: choose.pick([
    'env:GANNET_WALLET_KEY', 'env:GANNET_WALLET_KEY', `env:${text}`, `env:${canaries.wallet.base58}`,
  ]), environment: { GANNET_WALLET_KEY: text } });
  return { key, text: inspect(key) };
}

function soundConfiguration(address: string): string {
  return `mode: paper
service: { base_url: "https://swap.example", api_key: "\${GANNET_API_KEY}", plan: free }
chain: { rpc_url: "https://rpc.example/v2" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${address}, sol_reserve: "0.05 SOL" }
tokens: { PEARL: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij }
risk: { max_trade: "200 USDC", max_fee_bps: 30 }
control: { port: 7070, host: 127.0.0.1 }
strategies:
  - { use: dca, name: dca-sol, budget: "100 USDC", max_age: 60s, params: { buy: SOL, spend: "1 USDC", every: 10s } }
`;
}

/** A configuration in which a secret stands where it must not, or beside something that is wrong. */
async function wrongConfiguration(canaries: Canaries, choose: Choose): Promise<unknown> {
  const { wallet, apiKey } = canaries;
  const sound = soundConfiguration(wallet.address);
  // What a file says itself is quoted back, a wallet's key excepted: no other secret has a form to know it by.
  const secret = choose.pick([
    wallet.base58, wallet.json, wallet.hex, garbledKey(canaries, choose), '${GANNET_API_KEY}', '${GANNET_WALLET_KEY}',
  ]);
  const values = [...sound.matchAll(/: ("[^"]*"|[\w:.-]+)/g)];
  const value = choose.pick(values);
  const put = `: ${choose.pick([JSON.stringify(secret), secret.replaceAll('\n', ' ')])}`;
  const placed = `${sound.slice(0, value.index)}${put}${sound.slice(value.index + value[0].length)}`;
  const text = choose.pick([
    placed, placed, `${placed}\n${secret}: 1\n`, mutateText(choose, placed),
    `# ${secret}\n${mutateText(choose, sound)}`,
  ]);
  const loaded = await loadText(text, {
    environment: { GANNET_API_KEY: apiKey, GANNET_WALLET_KEY: wallet.base58 },
    purpose: choose.pick(['run', 'check', 'read']),
  });
  if (!loaded.ok) throw configError(loaded);
  return undefined;
}

/** A host that says what it was asked, and with which key, in everything it answers. */
interface Echo {
  readonly url: string;
  /** Sets the next answer. */
  answer(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer): void;
  close(): void;
}

async function openEcho({ apiKey, rpcKey }: Canaries): Promise<Echo> {
  let next: readonly [number, Readonly<Record<string, string>>, string | Buffer] = [500, {}, ''];
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      const [status, headers, body] = next;
      response.writeHead(status, { 'x-request-id': apiKey, 'x-rpc': rpcKey, ...headers }).end(body);
    });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (...given) => { next = given; },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const STATUSES = [200, 200, 200, 301, 302, 400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 504];

/** The key as it was sent, in other spellings, in halves. */
function spelled(key: string, choose: Choose): string {
  return choose.pick([
    key, key, `Bearer ${key}`, `"${key}"`, encodeURIComponent(key),
    Array.from(key, (char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(''),
    Array.from(key, (char) => `%${char.charCodeAt(0).toString(16)}`).join(''), `https://x/?key=${key}&y=1`,
  ]);
}

function hostileBody(key: string, choose: Choose): string | Buffer {
  const word = spelled(key, choose);
  const body = choose.pick<unknown>([
    { error: `invalid key ${word}` }, { code: 1, message: word },
    { status: 'Failed', code: -2_003, error: word, signature: word, slot: word },
    { error: { message: word, details: [word] } }, [word],
    { transaction: word, requestId: word, router: word, inAmount: word, outAmount: word }, { [word]: word }, word,
  ]);
  return choose.pick<string | Buffer>([
    JSON.stringify(body), JSON.stringify(body), `<html>${word}</html>`, word, garbledJson(choose, body),
  ]);
}

async function askService({ apiKey }: Canaries, choose: Choose, echo: Echo): Promise<unknown> {
  const word = spelled(apiKey, choose).replaceAll(/[^\x20-\x7e]/g, '');
  echo.answer(choose.pick(STATUSES), choose.pick<Record<string, string>>([
    {}, { location: `https://x/?key=${apiKey}` }, { 'content-type': word }, { 'content-encoding': word },
    { 'retry-after': word }, { 'x-ratelimit-reset': word }, { date: word },
  ]), hostileBody(apiKey, choose));
  const service = createService({
    baseUrl: echo.url, apiKey, clock: systemClock, plan: { requestsPerSecond: 100_000 },
    dialect: loadDialect('neutral'), timeouts: { totalMs: 1_000 },
  });
  const swap = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount(1_000_000n) };
  try {
    return await choose.pick<() => Promise<unknown>>([
      () => service.swap.order(swap), () => service.swap.order({ ...swap, taker: SOL_MINT }),
      () => service.swap.build({ ...swap, taker: SOL_MINT }),
      () => service.swap.execute({ signedTransaction: new Uint8Array(100), requestId: 'r' }),
      () => service.tokens.search([SOL_MINT]),
      () => service.prediction.orderBook('TIDE'),
    ])();
  } finally {
    await service.close();
  }
}

async function askNode({ rpcKey }: Canaries, choose: Choose, echo: Echo): Promise<unknown> {
  const word = spelled(rpcKey, choose);
  const answer = choose.pick<unknown>([
    { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: `unknown key ${word}`, data: { key: word } } },
    { jsonrpc: '2.0', id: 1, result: word },
    { jsonrpc: '2.0', id: 1, result: { value: word, context: { slot: word } } }, { error: word }, word, null,
  ]);
  echo.answer(choose.pick(STATUSES), {}, choose.pick<string | Buffer>([
    JSON.stringify(answer), garbledJson(choose, answer), `<html>${word}</html>`,
  ]));
  const rpcUrl = choose.pick([
    `${echo.url}/v2/${rpcKey}`, `${echo.url}/?api-key=${rpcKey}`, `http://127.0.0.1:1/${rpcKey}`, `ftp://x/${rpcKey}`,
    `http://u:${rpcKey}@127.0.0.1:1/`,
  ]);
  const chain = createChain({ rpcUrl, clock: systemClock, timeoutMs: 1_000 });
  try {
    return await choose.pick<() => Promise<unknown>>([
      () => chain.balances(SOL_MINT), () => chain.version(), () => chain.send(new Uint8Array(100)),
      () => chain.mintDecimals(SOL_MINT), () => chain.isBlockhashValid(SOL_MINT),
      () => chain.signatureStatus('5'.repeat(87), { searchHistory: true }), () => chain.finalizedBlockHeight(),
    ])();
  } finally {
    await chain.close();
  }
}
