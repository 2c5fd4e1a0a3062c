import { createServer, connect, type Server, type Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import type { Authorisation, Authoriser, SigningRequestTerms } from '../../src/signer/authorise.ts';
import { createSignerClient, type SignerClient } from '../../src/signer/channel/client.ts';
import { createFrameWriter } from '../../src/signer/channel/channel-frames.ts';
import { readRequest, termsAsJson } from '../../src/signer/channel/channel-protocol.ts';
import { checkTransaction } from '../../src/signer/policy/lookup-tables.ts';
import { serveSigner } from '../../src/signer/channel/server.ts';
import { createWallet, type Rules, type Wallet } from '../../src/signer/wallet.ts';
import { randomTransaction } from './random-transaction.ts';
import { daemonFrames, SESSION_KEY, signerAnswers } from './session.ts';

const keypair = Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => index + 40));
const KEY = bs58.encode(keypair.secretKey);
const ADDRESS = keypair.publicKey.toBase58();
const MINT = 'So11111111111111111111111111111111111111112';
const TERMS: SigningRequestTerms = {
  intentId: 'a-1', attempt: 1, route: 'order', inputMint: MINT, outputMint: ADDRESS,
  amountIn: 18_446_744_073_709_551_615n, minimumOut: 1n, maxFeeBps: 30,
};
const TRANSACTION = randomTransaction(seededRandom(3), [keypair.publicKey]).serialize();
const SIGNER = (message: unknown): Buffer => createFrameWriter(SESSION_KEY, 'signer')(message);
const POLL = { interval: 2 };
type WalletSettings = Rules['settings'];

const EMBEDDED: WalletSettings = { keyFrom: undefined, address: undefined, embedded: true };

let folder: string;
let server: Server;
let accepted: (socket: Socket) => void;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gannet-signer-'));
  server = createServer((socket) => { accepted(socket); });
  await new Promise<void>((resolve) => { server.listen(join(folder, 'socket'), resolve); });
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const opened: Socket[] = [];
afterEach(() => { for (const socket of opened.splice(0)) socket.destroy(); });

/** Two ends of one socket. */
async function socketPair(): Promise<readonly [signer: Socket, daemon: Socket]> {
  const far = new Promise<Socket>((resolve) => { accepted = resolve; });
  const near = connect(join(folder, 'socket'));
  const pair = [await far, near] as const;
  for (const socket of pair) socket.on('error', () => undefined);
  opened.push(...pair);
  return pair;
}

type RefusedRequest = Extract<Authorisation, { readonly allowed: false }>;

interface Served {
  readonly asked: SigningRequestTerms[];
  readonly expected: unknown[];
  readonly faults: string[];
}

/** A signer on one end whose rules answer as told, and the other end. */
async function serve({ settings = EMBEDDED, environment = {}, rules = async () => ({ allowed: true }) }: {
  readonly settings?: WalletSettings; readonly environment?: Readonly<Record<string, string>>;
  readonly rules?: (terms: SigningRequestTerms) => Promise<{ readonly allowed: true } | RefusedRequest>;
} = {}): Promise<Served & { readonly daemon: Socket; readonly signer: Socket }> {
  const [signer, daemon] = await socketPair();
  const asked: SigningRequestTerms[] = [];
  const expected: unknown[] = [];
  const faults: string[] = [];
  const authoriser: Authoriser = {
    description: { programs: 2, caps: ['200 USDC a trade'], destinations: [], rpc: true, priceGuard: 'within 150 bps' },
    authorise: async (bytes, terms) => {
      asked.push(terms);
      const word = await rules(terms);
      if (!word.allowed) return word;
      const checked = checkTransaction(new Uint8Array(bytes));
      if ('finding' in checked) throw new Error(checked.finding.message);
      return { allowed: true, transaction: checked };
    },
    judge: async (_bytes, terms) => {
      asked.push(terms);
      const word = await rules(terms);
      return { refusal: word.allowed ? undefined : word, messageHash: 'aa', summary: undefined };
    },
    expect: (swap) => { expected.push(swap); },
    authoriseClosing: async () => ({ allowed: false, code: 'CLOSING_ONLY', message: 'closes nothing', findings: [] }),
    close: () => undefined,
  };
  const wallet: Wallet = createWallet({
    environment, pid: 77, warn: () => undefined,
    load: async () => ({ settings, authoriserFor: async () => authoriser }),
  });
  serveSigner({ channel: signer, sessionKey: SESSION_KEY, wallet, onFault: (fault) => { faults.push(fault); } });
  return { asked, expected, faults, daemon, signer };
}

async function openClient(
  options: Parameters<typeof serve>[0] = {},
): Promise<Served & { readonly client: SignerClient; readonly signer: Socket }> {
  const served = await serve(options);
  return { ...served, client: createSignerClient(served.daemon, SESSION_KEY) };
}

/** A client of a signer with these settings. */
async function open(
  settings: WalletSettings, environment: Readonly<Record<string, string>> = {},
): Promise<SignerClient> {
  return (await openClient({ settings, environment })).client;
}

/** A header that says so many bytes, and what follows it. */
function framed(length: number, body = ''): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(36), Buffer.from(body)]);
  bytes.writeUInt32BE(length);
  return bytes;
}

/** Sends one message to an open signer and returns its answer; undefined where the channel was closed instead. */
async function answerTo(message: unknown): Promise<{
  readonly answer: unknown; readonly asked: readonly SigningRequestTerms[]; readonly faults: readonly string[];
}> {
  const { daemon, asked, faults } = await serve();
  const answers: unknown[] = [];
  daemon.on('data', signerAnswers((got) => { answers.push(got); }));
  const frame = createFrameWriter(SESSION_KEY, 'daemon');
  daemon.write(frame({ id: 900, kind: 'open', key: KEY }));
  await expect.poll(() => answers.length, POLL).toBe(1);
  daemon.write(Buffer.isBuffer(message) ? message : frame(message));
  await expect.poll(() => answers.length > 1 || daemon.destroyed || daemon.readableEnded, POLL).toBe(true);
  return { answer: answers[1], asked, faults };
}

describe('a signer and the client of the daemon', () => {
  test('describe key and rules, and sign allowed requests with exact terms', async () => {
    const { client, asked } = await openClient();
    expect(await client.openEmbedded({ key: KEY })).toStrictEqual({
      pid: 77, address: ADDRESS, programs: 2, caps: ['200 USDC a trade'], destinations: [], rpc: true,
      priceGuard: 'within 150 bps',
    });
    const signed = await client.sign(TRANSACTION, { ...TERMS, maker: MINT });
    expect(asked).toStrictEqual([{ ...TERMS, maker: MINT, feePayer: undefined }]);
    const expected = randomTransaction(seededRandom(3), [keypair.publicKey]);
    expected.sign([keypair]);
    expect(Buffer.compare(signed.transaction, expected.serialize())).toBe(0);
    expect([signed.signature, signed.messageHash])
      .toStrictEqual([expect.stringMatching(/^[1-9A-Za-z]{64,88}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  test('judge for a rehearsal what they would sign, with nothing signed in the answer', async () => {
    const { client, asked, expected } = await openClient({ rules: async ({ intentId }) => (intentId === TERMS.intentId
      ? { allowed: true } : { allowed: false, code: 'TIP_EXCEEDS', message: 'too much', findings: [] }) });
    await expect(client.judge(TRANSACTION, TERMS)).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
    expect((await client.rehearse({ key: KEY })).address).toBe(ADDRESS);
    // Announced as in a run, so that the judge has its own price when it is asked.
    client.expectSwap(TERMS);
    expect(await client.judge(TRANSACTION, TERMS)).toStrictEqual({ messageHash: 'aa' });
    expect(await client.judge(TRANSACTION, { ...TERMS, intentId: 'other' })).toMatchObject({
      refusal: { code: 'TIP_EXCEEDS', message: 'too much' },
    });
    expect(asked.length).toBe(2);
    expect(expected.length).toBe(1);
    // What was opened for a rehearsal has no key to sign with.
    await expect(client.sign(TRANSACTION, TERMS)).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
    await expect(client.closeAccounts(TRANSACTION)).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
  });

  test('sign several requests at once, each answer for its request', async () => {
    const turns = new Map<string, () => void>();
    const { client } = await openClient({ rules: (terms) => new Promise((resolve) => { turns.set(
      terms.intentId, () => { resolve({ allowed: false, code: 'CODE', message: terms.intentId, findings: [] }); },
    ); }) });
    await client.openEmbedded({ key: KEY });
    const names = ['a', 'b', 'c'];
    const answers = names.map((intentId) =>
      client.sign(TRANSACTION, { ...TERMS, intentId }).catch((error: unknown) => error));
    await expect.poll(() => turns.size, POLL).toBe(3);
    for (const name of names.toReversed()) turns.get(name)!();
    expect(await Promise.all(answers)).toMatchObject(names.map((name) =>
      ({ code: 'SIGN_REFUSED', message: expect.stringContaining(`CODE, ${name}`) as string })));
  });

  test('pass on a refusal with the policy’s code', async () => {
    const { client } = await openClient({ rules: async () =>
      ({ allowed: false, code: 'TOKEN_APPROVE', message: 'approves a stranger', findings: [
        { code: 'TOKEN_APPROVE', instruction: 2, message: '' },
        { code: 'SIGNER_EXTRA', instruction: undefined, message: '' },
      ] }) });
    await client.openEmbedded({ key: KEY });
    await expect(client.sign(TRANSACTION, TERMS)).rejects.toMatchObject({
      code: 'SIGN_REFUSED', details: { code: 'TOKEN_APPROVE', findings: 'TOKEN_APPROVE@2 SIGNER_EXTRA' },
      message: expect.stringContaining('approves a stranger') as string,
    });
  });

  test('issue 13.14: pass on the room that a cap leaves', async () => {
    const room = { span: 'hour', left: 18_446_744_073_709_551_615n, freeAt: 1_700_000_000_000 } as const;
    const { client } = await openClient({ rules: async () =>
      ({ allowed: false, code: 'CAP_EXCEEDED_HOUR', message: 'too much', findings: [], room }) });
    await client.openEmbedded({ key: KEY });
    const details = { cap_span: 'hour', cap_left: '18446744073709551615', cap_free_at: 1_700_000_000_000 };
    await expect(client.sign(TRANSACTION, TERMS)).rejects.toMatchObject({ code: 'SIGN_REFUSED', details });
  });

  test('sign nothing where the rules themselves fail, without details of the fault', async () => {
    const { client } = await openClient({ rules: () => Promise.reject(new TypeError(`a bug that knows ${KEY}`)) });
    await client.openEmbedded({ key: KEY });
    const error = await client.sign(TRANSACTION, TERMS).catch((thrown: unknown) => thrown) as Error;
    expect(error).toMatchObject({ code: 'SIGN_REFUSED', message: expect.stringContaining('TypeError') as string });
    expect(error.message).not.toContain(KEY.slice(0, 12));
  });

  test('sign nothing before the wallet is open', async () => {
    const { client, asked } = await openClient();
    await expect(client.sign(TRANSACTION, TERMS))
      .rejects.toMatchObject({ code: 'SIGN_REFUSED', message: expect.stringContaining('not open yet') as string });
    expect(asked).toStrictEqual([]);
  });

  test('keep the checks of the signature itself after the rules', async () => {
    const { client } = await openClient();
    await client.openEmbedded({ key: KEY });
    const foreign = randomTransaction(seededRandom(4), [Keypair.generate().publicKey]).serialize();
    await expect(client.sign(foreign, TERMS)).rejects.toMatchObject({
      code: 'SIGN_REFUSED', message: expect.stringContaining('does not ask for a signature') as string,
    });
  });

  test('reject every request after the signer has ended', async () => {
    const { client, signer } = await openClient({ rules: () => new Promise(() => undefined) });
    await client.openEmbedded({ key: KEY });
    const underWay = client.sign(TRANSACTION, TERMS);
    signer.destroy();
    await expect(underWay).rejects.toMatchObject({
      code: 'SIGN_REFUSED', message: expect.stringContaining('signer process is gone') as string,
    });
    expect(await client.closed).toContain('ended');
    await expect(client.sign(TRANSACTION, TERMS)).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
    await expect(client.describe()).rejects.toMatchObject({ code: 'SIGNER_LOST' });
  });

  test.each([
    ['a forged answer', framed(1, '{')], ['an answer to no question', SIGNER({ id: 9, done: {} })],
    ['an answer without a number', SIGNER({ done: {} })],
  ])(
    'part when the daemon is told nonsense: %s', async (_what, bytes) => {
      const [signer, daemon] = await socketPair();
      const client = createSignerClient(daemon, SESSION_KEY);
      const asked = client.sign(TRANSACTION, TERMS);
      signer.write(bytes);
      await expect(asked)
        .rejects.toMatchObject({ code: 'SIGN_REFUSED', message: expect.stringContaining('is gone') as string });
      await client.closed;
    });
});

describe('the key', () => {
  test('is read from its configured place', async () => {
    const client = await open({ keyFrom: 'env:MINE', address: ADDRESS, embedded: false }, { MINE: KEY });
    expect(await client.describe()).toMatchObject({ address: ADDRESS });
    expect(await client.describe()).toMatchObject({ address: ADDRESS });
  });

  test('is refused with a reason where it is wrong, damaged or missing, and never shown', async () => {
    const cases: readonly (readonly [WalletSettings, Readonly<Record<string, string>>, string])[] = [
      [{ keyFrom: 'env:MINE', address: MINT, embedded: false }, { MINE: KEY }, `the key belongs to ${ADDRESS}`],
      [{ keyFrom: 'env:MINE', address: undefined, embedded: false }, { MINE: KEY.slice(1) }, '"MINE"'],
      [{ keyFrom: 'env:MINE', address: undefined, embedded: false }, {}, 'is not set'],
      [{ keyFrom: 'file:/nowhere/key', address: undefined, embedded: false }, {}, 'no such file'],
      [{ keyFrom: undefined, address: undefined, embedded: false }, {}, 'wallet.key_from is missing'],
    ];
    for (const [settings, environment, words] of cases) {
      const error = await (await open(settings, environment)).describe().catch((thrown: unknown) => thrown) as Error;
      expect(error).toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining(words) as string });
      expect(error.message).not.toContain(KEY.slice(1, 13));
    }
  });

  test('issue 13.23: gives its address without opening the wallet, with the same refusals', async () => {
    const client = await open({ keyFrom: 'env:MINE', address: undefined, embedded: false }, { MINE: KEY });
    expect(await client.address()).toBe(ADDRESS);
    await expect(client.sign(TRANSACTION, TERMS))
      .rejects.toMatchObject({ message: expect.stringContaining('not open yet') as string });
    const others = await open({ keyFrom: 'env:MINE', address: MINT, embedded: false }, { MINE: KEY });
    await expect(others.address()).rejects.toMatchObject({ code: 'KEY_INVALID' });
    await expect((await open(EMBEDDED)).address()).rejects.toMatchObject({ code: 'KEY_INVALID' });
  });

  test.each([
    ['on a real service', { keyFrom: undefined, address: undefined, embedded: false }],
    ['where the configuration points at one', { keyFrom: 'env:MINE', address: undefined, embedded: true }],
    ['where the configuration names another wallet', { keyFrom: undefined, address: MINT, embedded: true }],
  ])('is not taken from the daemon %s', async (_where, settings: WalletSettings) => {
    const client = await open(settings, { MINE: KEY });
    await expect(client.openEmbedded({ key: KEY })).rejects.toMatchObject({ code: 'KEY_INVALID' });
    await expect(client.sign(TRANSACTION, TERMS)).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
  });

  test('cannot be replaced by a second key', async () => {
    const client = await open(EMBEDDED);
    await client.openEmbedded({ key: KEY });
    const other = bs58.encode(Keypair.generate().secretKey);
    await expect(client.openEmbedded({ key: other }))
      .rejects.toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining('takes no other') as string });
    expect(await client.describe()).toMatchObject({ address: ADDRESS });
  });
});

describe('a request with an unknown or faulty member', () => {
  const sign =
    { id: 1, kind: 'sign', transaction: Buffer.from(TRANSACTION).toString('base64'), terms: termsAsJson(TERMS) };
  const withTerms = (changes: object): object => ({ ...sign, terms: { ...sign.terms, ...changes } });

  test('is refused under its id', async () => {
    const unclear: readonly object[] = [
      { id: 1 }, { id: 1, kind: 'export' }, { id: 1, kind: 'describe', caps: [] }, { id: 1, kind: 'open' },
      { id: 1, kind: 'open', key: KEY, address: ADDRESS },
      { id: 1, kind: 'open', key: 5 }, { id: 1, kind: 'describe', rpcUrl: 'http://evil.example/' },
      { id: 1, kind: 'describe', rpcUrl: 'http://127.0.0.1:80@evil.example' },
      { ...sign, force: true }, { ...sign, transaction: 5 }, { ...sign, transaction: '' },
      { ...sign, transaction: 'AAA' }, { ...sign, transaction: `${sign.transaction} ` },
      { ...sign, transaction: 'A'.repeat(5_468) }, { ...sign, terms: [] },
      { id: 1, kind: 'sign', transaction: sign.transaction }, withTerms({ caps: {} }), withTerms({ amountIn: 5 }),
      withTerms({ amountIn: '-1' }), withTerms({ amountIn: '18446744073709551616' }), withTerms({ amountIn: '1e3' }),
      withTerms({ minimumOut: '' }), withTerms({ maxFeeBps: 10_001 }), withTerms({ maxFeeBps: 0.5 }),
      withTerms({ attempt: 0 }), withTerms({ route: 'any' }), { id: 1, kind: 'close-accounts' },
      { id: 1, kind: 'close-accounts', transaction: '' }, { ...sign, kind: 'close-accounts' },
      { id: 1, kind: 'close-accounts', transaction: sign.transaction, owner: ADDRESS },
      withTerms({ inputMint: 'USDC' }), withTerms({ maker: '' }), withTerms({ intentId: '' }),
      withTerms({ intentId: 'x'.repeat(300) }), withTerms({ maker: null }),
    ];
    for (const message of unclear) {
      const { answer, asked } = await answerTo(message);
      expect(answer, JSON.stringify(message))
        .toMatchObject({ id: 1, refused: { code: expect.stringMatching(/^(?:SIGN_REFUSED|KEY_INVALID)$/) as string } });
      expect(asked).toStrictEqual([]);
    }
    expect((await answerTo(sign)).answer).toMatchObject({ id: 1, done: { messageHash: expect.any(String) as string } });
  });

  test('may hold the largest transaction of version 1', () => {
    const largest = new Uint8Array(4_096).fill(7);
    expect(readRequest({ ...sign, transaction: Buffer.from(largest).toString('base64') }))
      .toMatchObject({ kind: 'sign', transaction: Buffer.from(largest) });
  });

  test('closes the channel with the reason where it is no request at all', async () => {
    const hostile: readonly (readonly [unknown, string])[] = [
      [framed(0xffffffff), '4294967295 bytes'], [framed(65_537), '65537 bytes'],
      [framed(0), 'forged'],
      [framed(3, '{{{'), 'forged'], [null, '"id"'], [[], '"id"'], ['sign', '"id"'],
      [{ kind: 'sign' }, '"id"'], [{ ...sign, id: 0 }, '"id"'], [{ ...sign, id: '1' }, '"id"'],
      [{ ...sign, id: 1.5 }, '"id"'],
    ];
    for (const [message, words] of hostile) {
      const { answer, asked, faults } = await answerTo(message);
      expect([answer, asked], JSON.stringify(message)).toStrictEqual([undefined, []]);
      expect(faults).toStrictEqual([expect.stringContaining(words)]);
    }
  });

  test('closes the channel for a repeated id, or too many requests at once', async () => {
    for (const [count, idOf, words] of [
      [2, () => 5, 'the id 5'], [70, (index: number) => index + 1, 'more than 64'],
    ] as const) {
      const { daemon, faults } = await serve({ rules: () => new Promise(() => undefined) });
      const answers: unknown[] = [];
      daemon.on('data', signerAnswers((got) => { answers.push(got); }));
      const frame = createFrameWriter(SESSION_KEY, 'daemon');
      daemon.write(frame({ id: 900, kind: 'open', key: KEY }));
      await expect.poll(() => answers.length, POLL).toBe(1);
      for (let index = 0; index < count; index++) daemon.write(frame({ ...sign, id: idOf(index) }));
      await expect.poll(() => faults, POLL).toStrictEqual([expect.stringContaining(words)]);
    }
  });

  test('never signs random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.record({
          id: fc.integer({ min: -1, max: 3 }), kind: fc.constantFrom('sign', 'open', 'describe', 'close'),
          transaction: fc.base64String(), terms: fc.object({ maxDepth: 1 }),
        }, { requiredKeys: [] }).map((message) => daemonFrames(message)),
      ), { minLength: 1, maxLength: 8 }), async (pieces) => {
        const { daemon, asked, signer } = await serve();
        let received = '';
        daemon.on('data', (bytes: Buffer) => { received += bytes.toString('latin1'); });
        for (const piece of pieces) daemon.write(piece);
        daemon.end();
        await new Promise((resolve) => { signer.once('close', resolve); if (signer.destroyed) resolve(undefined); });
        expect(asked).toStrictEqual([]);
        expect(received).not.toContain('messageHash');
      }),
      { numRuns: 60 },
    );
  });
});
