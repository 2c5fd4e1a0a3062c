import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { duplexPair } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import bs58 from 'bs58';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { SigningRequestTerms } from '../../src/signer/authorise.ts';
import { createSignerClient, type SignerClient } from '../../src/signer/channel/client.ts';
import { COUNTERS_FILE } from '../../src/signer/counters/spend-counters.ts';
import { createFrameWriter } from '../../src/signer/channel/channel-frames.ts';
import { serve, serveSigner } from '../../src/signer/channel/server.ts';
import { createWallet } from '../../src/signer/wallet.ts';
import { listen } from '../service/loopback.ts';
import {
  AMOUNT, honestSwap, KEYPAIR, NATIVE_MINT, addressOfByte, TOKEN_PROGRAM, transactionOf, USDC, WALLET, type Swap,
} from './attack-swap.ts';
import { openAssociated, system, u64 } from './policy/raw-instructions.ts';
import { SESSION_KEY } from './session.ts';
import { quoteOf, startQuoteServer, type QuoteServer } from './quote-server.ts';

// What a captured daemon may ask of the signer, through the very channel and configuration of a
// run.

const SECRET = bs58.encode(KEYPAIR.secretKey);
const SEED = bs58.encode(KEYPAIR.secretKey.subarray(0, 32));
const REAL = 'service: { base_url: "https://swap.example" }\n';
const CAPS = 'signer: { caps: { USDC: { per_trade: "2", per_day: "5" }, SOL: { per_trade: "0.5", per_day: "1" } } }\n';

let folder: string;
let quotes: QuoteServer;
beforeAll(async () => { quotes = await startQuoteServer(); });
afterAll(() => quotes.close());
afterEach(() => { quotes.respondWith(undefined); });
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'attacks-daemon-')); });
afterEach(() => { rmSync(folder, { recursive: true }); });

interface Opened {
  readonly client: SignerClient;
}

function start(yaml: string, environment: Record<string, string> = { MINE: SECRET }): Opened {
  mkdirSync(join(folder, 'config'), { recursive: true });
  writeFileSync(join(folder, 'config', 'gannet.yaml'), yaml.replace('https://swap.example', quotes.baseUrl));
  const [signer, channel] = duplexPair();
  // Nothing tells these signers what their wallet spent before.
  const { close } = serve({
    channel: signer, sessionKey: SESSION_KEY, args: ['--accept-new-counters'], environment, workingDir: folder,
  });
  onTestFinished(() => { close(); });
  const end = Object.assign(channel, { ref: () => undefined, unref: () => undefined });
  return { client: createSignerClient(end, SESSION_KEY) };
}

let intents = 0;

function termsOf({ inputMint, outputMint, amountIn = AMOUNT, minimumOut = 1n }: Swap): SigningRequestTerms {
  intents += 1;
  return {
    intentId: `i ${intents}`, attempt: 1, route: 'order', inputMint, outputMint, amountIn, minimumOut, maxFeeBps: 300,
  };
}

/** The worst that the terms allow: anything for next to nothing. */
const BAD = { inputMint: USDC, outputMint: NATIVE_MINT, minimumOut: 1n };

async function signs({ client }: Opened, swap: Swap, change: Partial<SigningRequestTerms> = {}, bytes = transactionOf(
  honestSwap(swap),
).bytes): Promise<string> {
  return client.sign(bytes, { ...termsOf(swap), ...change })
    .then(() => 'signed', (error: { details: { code?: string }; code: string }) => error.details.code ?? error.code);
}

const real =
  `${REAL}chain: { rpc_url: "http://127.0.0.1:9" }\nwallet: { key_from: env:MINE, address: ${WALLET} }\n${CAPS}`;

describe('a captured daemon', () => {
  test('loses at most the caps with swaps that return nothing, however many at once', async () => {
    const opened = start(real);
    await opened.client.describe();
    const words = await Promise.all(Array.from({ length: 40 }, () => signs(opened, BAD)));
    expect([
      words.filter((word) => word === 'signed').length, words.filter((word) => word === 'CAP_EXCEEDED_DAY').length,
    ]).toEqual([5, 35]);
    expect(await signs(opened, { ...BAD, amountIn: 2_000_001n })).toBe('CAP_EXCEEDED_TRADE');
    expect(await signs(opened, { inputMint: addressOfByte(40), outputMint: USDC })).toBe('CAP_MISSING');
  });

  test('cannot swap at a poor price within its caps, whatever it states or announces', async () => {
    quotes.respondWith((asked, response) => {
      const output = asked.query.get('inputMint') === USDC ? BigInt(asked.query.get('amount')!) * 5n : 1n;
      response.end(JSON.stringify(quoteOf(asked, String(output))));
    });
    const opened = start(real);
    const elsewhere = await listen((_request, response) => { response.end('{}'); });
    await opened.client.describe({ serviceUrl: elsewhere.baseUrl });
    for (const amountIn of [1n, AMOUNT]) {
      opened.client.expectSwap({ inputMint: USDC, outputMint: NATIVE_MINT, amountIn });
      opened.client.expectSwap({ inputMint: NATIVE_MINT, outputMint: USDC, amountIn });
    }
    const least = (AMOUNT * 5n * 9_850n) / 10_000n;
    const fine = { ...BAD, minimumOut: least };
    const poor = { ...BAD, minimumOut: least - 1n };
    expect([await signs(opened, BAD), await signs(opened, poor), await signs(opened, fine)])
      .toEqual(['PRICE_BELOW_GUARD', 'PRICE_BELOW_GUARD', 'signed']);
    // Neither more in the terms than in the bytes, nor a larger minimum than they guarantee.
    expect([await signs(opened, BAD, { minimumOut: least }), await signs(opened, poor, { amountIn: 2n * AMOUNT })])
      .toEqual(['SWAP_MINIMUM_BELOW', 'PRICE_BELOW_GUARD']);
    expect(elsewhere.received).toEqual([]);
    // Refused swaps used up no cap.
    expect([await signs(opened, fine), await signs(opened, fine), await signs(opened, fine), await signs(opened, fine)])
      .toEqual(['signed', 'signed', 'signed', 'signed']);
  });

  test('signs nothing while the service does not quote, and goes on when it does', async () => {
    quotes.respondWith((_asked, response) => { response.writeHead(503).end(); });
    const opened = start(real);
    await opened.client.describe();
    await expect(opened.client.sign(transactionOf(honestSwap(BAD)).bytes, termsOf(BAD))).rejects.toMatchObject({
      code: 'SIGN_REFUSED', details: { code: 'PRICE_GUARD_UNAVAILABLE' },
      message: expect.stringContaining('the signer got no price of its own') as string,
    });
    quotes.respondWith(undefined);
    expect(await signs(opened, BAD)).toBe('signed');
  });

  test('is refused a token whose cap limits single swaps only', async () => {
    const opened = start(real.replace('per_trade: "2", per_day: "5"', 'per_trade: "2"'));
    await opened.client.describe();
    expect(await signs(opened, BAD)).toBe('CAP_MISSING');
  });

  test('has the same bytes counted once, and refused under larger terms', async () => {
    const opened = start(real);
    await opened.client.describe();
    const { bytes } = transactionOf(honestSwap(BAD));
    const words = await Promise.all([AMOUNT, 2n * AMOUNT, AMOUNT].map((amountIn) =>
      signs(opened, BAD, { amountIn }, bytes)));
    expect(words).toEqual(['signed', 'TERMS_INVALID', 'signed']);
    // What stands in the place of a signature is no part of what is signed.
    const scribbled = Uint8Array.from(bytes);
    scribbled.fill(7, 1, 65);
    expect(await signs(opened, BAD, {}, scribbled)).toBe('signed');
    const database = new DatabaseSync(join(folder, 'state', 'signer', COUNTERS_FILE));
    expect(
      database.prepare(`SELECT count(*) AS lines, sum(amount_low) AS amount FROM spends WHERE kind = 'input'`).get(),
    ).toEqual({ lines: 1, amount: Number(AMOUNT) });
    database.close();
  });

  test('cannot lock up the wallet’s SOL as rent of accounts for its own mints', async () => {
    const opened = start(real.replace('"0.5", per_day: "1"', '"0.5", per_day: "0.007"'));
    await opened.client.describe();
    const words: string[] = [];
    for (let mint = 50; mint < 56; mint++)
      words.push(
        await signs(opened, { inputMint: USDC, outputMint: addressOfByte(mint), amountIn: 1n, minimumOut: 1n }),
      );
    expect(words).toEqual(['signed', 'signed', 'signed', ...Array.from({ length: 3 }, () => 'CAP_EXCEEDED_DAY')]);
    // Accounts of tokens that the configuration names come back.
    expect(await signs(opened, { inputMint: USDC, outputMint: NATIVE_MINT, amountIn: 1n, minimumOut: 1n }))
      .toBe('signed');
  });

  test('cannot claim rent repeatedly as if a sponsor had lent it', async () => {
    const opened = start(real.replace('"0.5", per_day: "1"', '"0.5", per_day: "0.005"'));
    await opened.client.describe();
    const sponsor = addressOfByte(41);
    const account = honestSwap(BAD)[0]!.accounts[1]!.pubkey;
    const [, ...rest] = honestSwap(BAD);
    const lent =
      openAssociated({ payer: sponsor, account, owner: WALLET, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM });
    const back = system(2, [u64(2_039_280n)], [[WALLET, 'sw'], [sponsor, 'sw']]);
    const words: string[] = [];
    for (let times = 0; times < 4; times++) words.push(
      await signs(opened, BAD, { feePayer: sponsor }, transactionOf([lent, ...rest, back], { payer: sponsor }).bytes),
    );
    expect(words).toEqual(['signed', 'signed', 'CAP_EXCEEDED_DAY', 'CAP_EXCEEDED_DAY']);
  });

  test('cannot raise the caps by changing the configuration before its first request', async () => {
    const opened = start(real);
    await setTimeout(300);
    writeFileSync(join(folder, 'config', 'gannet.yaml'), real.replaceAll(/"\d[\d.]*"/g, '"9000"'));
    expect((await opened.client.describe()).caps.join()).not.toContain('9000');
  });

  test('cannot give the signer of a real wallet a key or a node', async () => {
    const node = await listen((_request, response) => { response.end('{}'); });
    const opened = start(real);
    await expect(opened.client.openEmbedded({ key: SECRET, rpcUrl: node.baseUrl })).rejects.toMatchObject({
      code: 'KEY_INVALID', message: expect.stringContaining('the embedded service alone') as string,
    });
    const again = start(real);
    expect(await again.client.describe({ rpcUrl: node.baseUrl })).toMatchObject({ address: WALLET });
    await expect(again.client.openEmbedded({ key: bs58.encode(new Uint8Array(64).fill(1)) }))
      .rejects.toMatchObject({ message: expect.stringContaining('holds a key already') as string });
    expect(await signs(again, BAD, {}, transactionOf(honestSwap(BAD), { form: 'shared' }).bytes)).toBe('CHAIN_UNREAD');
    expect(node.received).toEqual([]);
  });

  test('that never reads its answers loses the channel', async () => {
    const [signer, daemon] = duplexPair();
    const faults: string[] = [];
    const wallet = createWallet({
      environment: {}, pid: 1, warn: () => undefined, load: () => Promise.reject(new Error('never asked')),
    });
    serveSigner({ channel: signer, sessionKey: SESSION_KEY, wallet, onFault: (message) => { faults.push(message); } });
    const frame = createFrameWriter(SESSION_KEY, 'daemon');
    for (let sent = 0; !signer.destroyed && sent < 100_000;) {
      for (let i = 0; i < 50; i++) daemon.write(frame({ id: ++sent, kind: 'x'.repeat(100) }));
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    expect(faults).toEqual(['too many unread answers']);
  });
});

describe('a key of your own on the embedded chain', () => {
  const yaml = `wallet: { key_from: env:MINE }\nsigner: { programs: [${addressOfByte(42)}] }\n`;

  test('spends nothing without a cap, and its spending is counted on disk', async () => {
    const opened = start(yaml);
    expect(await opened.client.describe()).toMatchObject({ address: WALLET, programs: 1 });
    expect(await signs(opened, BAD)).toBe('CAP_MISSING');
    const capped = `${yaml.split('\n')[0]!}\n${CAPS}`;
    const first = start(capped);
    await first.client.describe({ serviceUrl: quotes.baseUrl });
    expect(await signs(first, { ...BAD, amountIn: 2_000_000n })).toBe('signed');
    const second = start(capped);
    await second.client.describe({ serviceUrl: quotes.baseUrl });
    expect([
      await signs(second, { ...BAD, amountIn: 2_000_000n }), await signs(second, { ...BAD, amountIn: 2_000_000n }),
    ]).toEqual(['signed', 'CAP_EXCEEDED_DAY']);
  });

  test('calls no program that needs a simulation at the daemon’s own node', async () => {
    const opened = start(yaml.replace('signer: {', 'signer: { caps: { USDC: { per_trade: "2", per_hour: "9" } },'));
    await opened.client.describe({ rpcUrl: 'http://127.0.0.1:9' });
    const [open, swap, close] =
      honestSwap(BAD) as readonly [never, { programId: string; accounts: never; data: never }, never];
    expect(await signs(opened, BAD, {}, transactionOf([open, { ...swap, programId: addressOfByte(42) }, close]).bytes))
      .toBe('PROGRAM_UNKNOWN');
  });

  test('cannot be replaced by the key of the embedded service', async () => {
    await expect(start(yaml).client.openEmbedded({ key: SECRET })).rejects.toMatchObject({ code: 'KEY_INVALID' });
    const plain = start('mode: live\n');
    expect(await plain.client.openEmbedded({ key: SECRET, serviceUrl: quotes.baseUrl }))
      .toMatchObject({ address: WALLET });
    expect(await signs(plain, { ...BAD, amountIn: 10n ** 12n })).toBe('signed');
  });
});

describe('a configuration from another person', () => {
  test.each([
    ['by its usual name', 'GANNET_WALLET_KEY', 'env:GANNET_WALLET_KEY', {}],
    ['by a name of one’s own, as a seed', 'MINE', 'env:MINE', {}],
    ['by a name that another variable gives', 'MINE', 'env:${WHICH}', { WHICH: 'MINE' }],
    ['by a name in escapes', 'MINE', 'env:\\x4dINE', {}],
  ])('cannot have the key sent to its node as a part of the address (%s)', async (_how, name, keyFrom, more) => {
    const node = await listen((_request, response) => { response.end('{}'); });
    const yaml =
      `${REAL}chain: { rpc_url: "${node.baseUrl}/\${${name}}" }\nwallet: { key_from: "${keyFrom}" }\n${CAPS}`;
    const { client } = start(yaml, { [name]: SEED, ...more });
    await expect(client.describe()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(client.describe()).rejects.not.toMatchObject({ message: expect.stringContaining(SEED) as string });
    expect(node.received).toEqual([]);
  });
});
