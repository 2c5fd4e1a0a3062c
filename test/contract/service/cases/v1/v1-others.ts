import bs58 from 'bs58';
import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { compose, sent } from '../../compose.ts';
import { ADDRESS, asked, labelsOf } from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { API_KEY, SOL, USDC } from '../../service-fixture.ts';
import { quoteOf } from './v1-scenes.ts';

type Body = Answer['body'];

const PATH = '/swap/v1/swap-instructions';
const SALE = { inputMint: SOL, outputMint: USDC, amount: '100000000' } as const;

async function load(fixture: ServiceFixture) {
  const user = await fixture.newWallet({ [SOL]: '1000000000' });
  const answer = await fixture.post(PATH, { userPublicKey: user.address, quoteResponse: await quoteOf(fixture, SALE) });
  expect(answer.status, answer.text).toBe(200);
  const quoteResponse = await fixture.service.swapV1.quote(asked(SALE));
  return {
    body: answer.body, user,
    read: await fixture.service.swapV1.swapInstructions({ userPublicKey: user.address, quoteResponse }),
  };
}

const isInstruction = (value: Body): void => {
  expect(value.programId).toMatch(ADDRESS);
  expect(Buffer.from(value.data, 'base64').toString('base64')).toBe(value.data);
  for (const account of value.accounts) {
    expect(account).toEqual({
      pubkey: expect.stringMatching(ADDRESS), isSigner: expect.any(Boolean), isWritable: expect.any(Boolean),
    });
  }
};

export const v1OtherCases: readonly Case[] = [
  ...fieldCases({ prefix: 'v1', load }, {
    'swap-instructions.tokenLedgerInstruction': ['null, as no swap here begins with a ledger', ({ body, read }) => {
      expect(body.tokenLedgerInstruction).toBeNull();
      expect(read.tokenLedgerInstruction).toBeUndefined();
    }],
    'swap-instructions.computeBudgetInstructions': ['limit and price of compute units', ({ body, read }) => {
      body.computeBudgetInstructions.forEach(isInstruction);
      expect(new Set(body.computeBudgetInstructions.map(({ programId }: Body) => programId)))
        .toEqual(new Set(['ComputeBudget111111111111111111111111111111']));
      expect(read.computeBudgetInstructions).toHaveLength(body.computeBudgetInstructions.length);
    }],
    'swap-instructions.setupInstructions': ['the accounts that the swap needs', ({ body, read }) => {
      body.setupInstructions.forEach(isInstruction);
      expect(body.setupInstructions.length).toBeGreaterThan(0);
      expect(read.setupInstructions).toHaveLength(body.setupInstructions.length);
    }],
    'swap-instructions.swapInstruction': ['the swap, which the user signs', ({ body, read, user }) => {
      isInstruction(body.swapInstruction);
      expect(body.swapInstruction.accounts.filter(({ isSigner }: Body) => isSigner).map(({ pubkey }: Body) => pubkey))
        .toEqual([user.address]);
      expect(read.swapInstruction.programId).toBe(body.swapInstruction.programId);
    }],
    'swap-instructions.cleanupInstruction': ['closes the account of wrapped SOL', ({ body, read }) => {
      isInstruction(body.cleanupInstruction);
      expect(Buffer.from(body.cleanupInstruction.data, 'base64')).toEqual(Buffer.from([9]));
      expect(read.cleanupInstruction?.data).toEqual(new Uint8Array([9]));
    }],
    'swap-instructions.otherInstructions': ['a list', ({ body, read }) => {
      body.otherInstructions.forEach(isInstruction);
      expect(read.otherInstructions).toHaveLength(body.otherInstructions.length);
    }],
    'swap-instructions.addressLookupTableAddresses': ['a list of addresses', ({ body, read }) => {
      for (const table of body.addressLookupTableAddresses) expect(table).toMatch(ADDRESS);
      expect(read.lookupTableAddresses).toEqual(body.addressLookupTableAddresses);
    }],
  }),
  {
    covers: ['v1./swap/v1/swap-instructions'],
    says: 'the instructions of a quote, put together, land with the quote\'s output',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const quote = await quoteOf(fixture, SALE);
      const { status, body } = await fixture.post(PATH, { userPublicKey: user.address, quoteResponse: quote });
      expect(status).toBe(200);
      const { result } = await fixture.rpc('getLatestBlockhash', []);
      // Without a table's contents all accounts stand in the message.
      const transaction = compose({
        ...body, addressesByLookupTableAddress: {},
        blockhashWithMetadata: { blockhash: [...bs58.decode(result.value.blockhash)] },
        computeBudgetInstructions: body.computeBudgetInstructions.filter(({ data }: Body) =>
          Buffer.from(data, 'base64')[0] === 3),
      }, user.address);
      expect(await sent(fixture, transaction, user)).toBeNull();
      expect(fixture.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
    },
  },
  {
    covers: ['v1./swap/v1/program-id-to-label'],
    says: 'each program has the label that dexes and excludeDexes take, and two programs may share one',
    async play(fixture) {
      const { status, body } = await fixture.get('/swap/v1/program-id-to-label');
      expect(status).toBe(200);
      for (const program of Object.keys(body)) expect(program).toMatch(ADDRESS);
      const labels = new Set<string>(Object.values(body));
      const [label = ''] = labelsOf(await quoteOf(fixture, SALE));
      expect(labels).toContain(label);
      expect((await quoteOf(fixture, { ...SALE, dexes: label })).routePlan.length).toBeGreaterThan(0);
      expect(await fixture.service.swapV1.programIdToLabel()).toEqual(new Map(Object.entries(body)));
    },
  },
  {
    covers: ['v1.wrong-label', 'error.body-of-a-bad-v1-request'],
    says: 'a label in another spelling leaves no route: a routing error has an errorCode, a broken rule has none',
    async play(fixture) {
      const wrong = await fixture.get('/swap/v1/quote', { ...SALE, dexes: 'tidepool' });
      expect([wrong.status, wrong.body])
        .toEqual([400, { error: expect.stringMatching(/\w/), errorCode: 'NO_ROUTES_FOUND' }]);
      await expect(fixture.service.swapV1.quote({ ...asked(SALE), dexes: ['tidepool'] })).rejects.toMatchObject({
        code: 'SERVICE_STATUS', details: { status: 400, serviceCode: 'NO_ROUTES_FOUND' },
      });
      const both = await fixture.get('/swap/v1/quote', { ...SALE, dexes: 'Lagoon', excludeDexes: 'Tidepool' });
      expect([both.status, Object.keys(both.body)]).toEqual([400, ['error']]);
      const malformed = await fixture.raw(
        'POST', fixture.dialect.toWire.path('/swap/v1/swap'),
        { 'content-type': 'application/json', 'x-api-key': API_KEY }, '{"userPublicKey": 7',
      );
      expect([400, 422]).toContain(malformed.status);
      expect(malformed.body.error).toMatch(/\w/);
    },
  },
];
