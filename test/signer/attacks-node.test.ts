import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Authoriser, SigningRequestTerms } from '../../src/signer/authorise.ts';
import { createAuthoriser } from '../../src/signer/authorise.ts';
import { CONSTANT_PRODUCT_PROGRAM, swapPrograms } from '../../src/signer/policy/swap-programs.ts';
import type { LookupTables } from '../../src/signer/policy/lookup-tables.ts';
import { listen } from '../service/loopback.ts';
import {
  accountOf, AMOUNT, honestSwap, NATIVE_MINT, SYSTEM_PROGRAM, THIEF, TOKEN_PROGRAM, transactionOf, USDC, WALLET,
} from './attack-swap.ts';
import { system, token, u64 } from './policy/raw-instructions.ts';
import { COUNTERS_KEY } from './session.ts';
import { guardedBy, startQuoteServer, type QuoteServer } from './quote-server.ts';

// What the signer's own node may try: it can lie about everything, and the chain does something else.

const TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
const BUY = { inputMint: NATIVE_MINT, outputMint: USDC };
const SELL = { inputMint: USDC, outputMint: NATIVE_MINT };

let stateDir: string;
beforeEach(() => { stateDir = mkdtempSync(join(tmpdir(), 'attacks-node-')); });
afterEach(() => { rmSync(stateDir, { recursive: true }); });

type Settings = Parameters<typeof createAuthoriser>[0]['settings'];

let quotes: QuoteServer;
beforeAll(async () => { quotes = await startQuoteServer(); });
afterAll(() => quotes.close());

async function open(rpcUrl: string, more: Partial<Settings> = {}): Promise<Authoriser> {
  const caps = [
    { mint: USDC, name: 'USDC', perTrade: '25', perDay: '100' },
    { mint: NATIVE_MINT, name: 'SOL', perTrade: '1', perDay: '5' },
  ];
  const authoriser = await createAuthoriser({
    wallet: WALLET, countersKey: COUNTERS_KEY, clock: { now: () => 1_700_000_000_000 },
    settings: {
      keyFrom: 'env:K', embedded: false, rpcUrl, countersDir: stateDir, acceptNewCounters: true,
      programs: swapPrograms(), destinations: [], caps,
      tokens: new Map([['USDC', USDC]]), priceGuard: guardedBy(quotes.baseUrl), ...more,
    },
  });
  onTestFinished(() => authoriser.close());
  return authoriser;
}

function termsOf(
  { inputMint, outputMint, amountIn = AMOUNT }: { inputMint: string; outputMint: string; amountIn?: bigint },
): SigningRequestTerms {
  return {
    intentId: 'i', attempt: 1, route: 'order', inputMint, outputMint, amountIn, minimumOut: AMOUNT, maxFeeBps: 30,
  };
}

async function word(authoriser: Authoriser, bytes: Uint8Array, terms: SigningRequestTerms): Promise<string> {
  const answer = await authoriser.authorise(bytes, terms);
  return answer.allowed ? 'allowed' : answer.code;
}

function tableData(places: readonly string[]): string {
  const data = Buffer.alloc(56);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE(2n ** 64n - 1n, 4);
  return Buffer.concat([data, ...places.map((place) => bs58.decode(place))]).toString('base64');
}

function accountJson(owner: string, data: string): unknown {
  return { lamports: 1, owner, data: [data, 'base64'], executable: false, rentEpoch: 0 };
}

/** A node for which tables hold what it likes, and mints have the decimals that it likes. */
function lyingNode(tables: LookupTables, decimals = 6): Promise<{ readonly baseUrl: string }> {
  const mint = Buffer.alloc(82);
  mint.set([decimals, 1], 44);
  return listen((request, response) => {
    const { id, params: [addresses] } = JSON.parse(request.body) as { id: number; params: [string[]] };
    const value = addresses.map((address) =>
      (tables.has(address) ? accountJson(TABLE_PROGRAM, tableData(tables.get(address)!))
        : accountJson(TOKEN_PROGRAM, mint.toString('base64'))));
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { context: { slot: 1 }, value } }));
  });
}

describe('a node that lies about lookup tables', () => {
  test('is believed about accounts of no participant', async () => {
    for (const swap of [BUY, SELL]) {
      const { bytes, tables } = transactionOf(honestSwap(swap), { form: 'shared' });
      expect(await word(await open((await lyingNode(tables)).baseUrl), bytes, termsOf(swap))).toBe('allowed');
    }
  });

  // On the chain the same places hold the thief's accounts, and the bytes are the same.
  test.each([
    ['where the output goes', BUY, accountOf(WALLET, USDC)],
    ['where SOL is wrapped', BUY, accountOf(WALLET, NATIVE_MINT)],
    ['what is sold', SELL, accountOf(WALLET, USDC)],
    ['what is closed', SELL, accountOf(WALLET, NATIVE_MINT)],
  ])('is not believed about %s', async (_what, swap, hidden) => {
    const held = [hidden];
    const { bytes, tables } = transactionOf(honestSwap(swap), { held });
    expect([...tables.values()]).toEqual([held]);
    expect(await word(await open((await lyingNode(tables)).baseUrl), bytes, termsOf(swap))).toBe('ACCOUNT_IN_TABLE');
  });

  test('cannot map an index to the wallet or to another account of the message', async () => {
    const instructions = [...honestSwap(BUY), token(TOKEN_PROGRAM, 17, [], [[THIEF, 'w']])];
    const { bytes, tables } = transactionOf(instructions, { held: [THIEF] });
    for (const claimed of [WALLET, accountOf(WALLET, USDC), CONSTANT_PRODUCT_PROGRAM]) {
      const lies = new Map([...tables.keys()].map((table) => [table, [claimed]] as const));
      expect(await word(await open((await lyingNode(lies)).baseUrl), bytes, termsOf(BUY))).toBe('ACCOUNT_DUPLICATE');
    }
  });

  test('cannot make a transfer to a stranger count as one into the wrapped account', async () => {
    const instructions = [
      ...honestSwap(BUY).filter(({ programId }) => programId !== SYSTEM_PROGRAM),
      system(2, [u64(AMOUNT)], [[WALLET, 'sw'], [THIEF, 'w']]),
    ];
    const { bytes, tables } = transactionOf(instructions, { held: [THIEF] });
    expect(await word(await open((await lyingNode(tables)).baseUrl), bytes, termsOf(BUY))).toBe('TIP_EXCEEDS');
  });
});

describe('a node that lies about decimals', () => {
  test('cannot raise the cap of a usual token', async () => {
    const big = { ...SELL, amountIn: 26_000_000n };
    const { bytes, tables } = transactionOf(honestSwap(big));
    expect(await word(await open((await lyingNode(tables, 18)).baseUrl), bytes, termsOf(big)))
      .toBe('CAP_EXCEEDED_TRADE');
  });
});

const result = (text: string) => (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
const atSlot = (value: string): ((id: number) => string) => result(`{"context":{"slot":1},"value":${value}}`);
const account = (data: string, more = '"lamports":1'): string =>
  `[{${more},"owner":"${TABLE_PROGRAM}","data":["${data}","base64"]}]`;

describe('a node that answers nonsense', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const nested = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const nonsense: Readonly<Record<string, (id: number) => string>> = {
    'nesting without end': result(deep), 'members without end': atSlot(nested),
    'a number of three million digits': atSlot('9'.repeat(3_000_000)), 'an infinite number': atSlot('1e999'),
    'the answer to another call': (id) => result('null')(id + 1), 'no result': (id) => `{"id":${id}}`,
    'an error that is none': (id) => `{"id":${id},"error":${nested}}`,
    'text': () => 'x', 'nothing': () => '', 'two documents': (id) => `${atSlot('[]')(id)}${atSlot('[]')(id)}`,
    'no slot': result('{"value":[]}'),
    'a slot beyond all': result('{"context":{"slot":18446744073709551616},"value":[null]}'),
    'too few accounts': atSlot('[]'),
    'too many': atSlot('[null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]'),
    'an account that is a list': atSlot('[[]]'), 'data that is not base64': atSlot(account('@@@')),
    'data in another spelling': atSlot(account('AQAB=')), 'a table cut off': atSlot(account('AQA=')),
    'a negative balance': atSlot(account('', '"lamports":-1')),
    'a table beyond its size': atSlot(account(tableData(Array.from({ length: 257 }, () => THIEF)))),
    'a member twice': (id) => `{"id":7,"id":${id},"result":{"context":{"slot":1},"value":[null]},"result":[]}`,
    'an ancestor': (id) =>
      `{"id":${id},"__proto__":{"result":1},"result":{"__proto__":{"context":{"slot":1}},"value":[null]}}`,
  };

  test.each(
    Object.entries(nonsense),
  )('(%s) gets nothing signed, and neither fells nor holds up the signer', async (_name, respond) => {
    const node = await listen((request, response: ServerResponse) => {
      response.end(respond((JSON.parse(request.body) as { id: number }).id));
    });
    const blind = await open(node.baseUrl, { programs: [{ program: CONSTANT_PRODUCT_PROGRAM }] });
    const [withTable, written] = [transactionOf(honestSwap(SELL), { form: 'shared' }), transactionOf(honestSwap(SELL))];
    const before = process.cpuUsage();
    for (const { bytes } of [withTable, written]) expect(await word(blind, bytes, termsOf(SELL)))
      .toMatch(/^(?:CHAIN_UNREAD|TABLE_UNREAD|SIMULATION_\w+|CAP_DECIMALS_UNREAD)$/);
    expect(process.cpuUsage(before).user).toBeLessThan(4_000_000);
  });

  test('yields a refusal of limited length for any error of its simulation', async () => {
    for (const err of [nested, `"${'x'.repeat(100_000)}"`, '1e999', `{"InstructionError":[2,{"Custom":6001}]}`]) {
      const node = await listen((request, response) => {
        const { id, method, params: [addresses] } =
          JSON.parse(request.body) as { id: number; method: string; params: [string[]] };
        response.end(method === 'simulateTransaction' ? atSlot(`{"err":${err},"accounts":null}`)(id)
          : atSlot(JSON.stringify(addresses.map(() => null)))(id));
      });
      const blind = await open(node.baseUrl, { programs: [{ program: CONSTANT_PRODUCT_PROGRAM }] });
      const answer = await blind.authorise(transactionOf(honestSwap(SELL)).bytes, termsOf(SELL));
      expect(answer).toMatchObject({ allowed: false, code: 'SIMULATION_FAILED' });
      expect(answer.allowed ? '' : answer.message.length).toBeLessThan(600);
    }
  });
});
