import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { sent } from '../../compose.ts';
import { execute, orderOf, POOLS_ONLY } from '../../scenes.ts';
import type { Answer, Wallet, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { buyer, bytesOf, EXECUTE, firmOrder, onExecute, pooledOrder } from './execute-scenes.ts';

type Body = Answer['body'];

/** Posts to /execute the same thing by our client and by a plain request. */
async function posted(
  fixture: ServiceFixture, requestId: string, signedTransaction: string, more: object = {},
): Promise<{ answer: Answer; read: Body }> {
  const answer = await fixture.post(EXECUTE, { requestId, signedTransaction, ...more });
  const read = await fixture.service.swap.execute({ requestId, signedTransaction: bytesOf(signedTransaction) })
    .catch((error: unknown) => error);
  return { answer, read };
}

const TRIED: ReadonlySet<number> = new Set([-1_000, -1_005, -2_003, -2_004]);

/** One case for a code: how it comes about, with what status, and that our client tells it. */
function coded(
  code: number, says: string, played: (fixture: ServiceFixture) => Promise<{ answer: Answer; read: Body }>,
  more: readonly string[] = [],
): Case {
  return {
    covers: [`execute.code-${code}`, ...more],
    says: `${code}: ${says}`,
    async play(fixture) {
      const { answer, read } = await played(fixture);
      expect(answer.body.code, answer.text).toBe(code);
      // What could not be executed at all is a 400, what was tried and came to nothing a 200.
      expect(answer.status).toBe(TRIED.has(code) ? 200 : 400);
      expect(answer.body.status).toBe(TRIED.has(code) ? 'Failed' : undefined);
      expect(read).toMatchObject({ status: 'failed', code });
      expect(answer.body.error).toMatch(/\w+ \w+/);
    },
  };
}

async function faulted(
  fixture: ServiceFixture, fault: object, ordered: (fixture: ServiceFixture, taker: Wallet) => Promise<Body>,
): Promise<{ answer: Answer; read: Body }> {
  const taker = await buyer(fixture);
  const [first, second] = [await ordered(fixture, taker), await ordered(fixture, taker)];
  await fixture.fault(fault);
  const answer = await execute(fixture, first, taker);
  const read = await fixture.service.swap.execute({
    requestId: second.requestId, signedTransaction: bytesOf(await taker.sign(second.transaction)),
  })
    .catch((error: unknown) => error);
  return { answer, read };
}

export const executeCodeCases: readonly Case[] = [
  coded(-1, 'an unknown order, in a body without status', async (fixture) => {
    const taker = await buyer(fixture);
    const order = await pooledOrder(fixture, taker);
    const played = await posted(fixture, '019a0000-0000-7000-8000-000000000000', await taker.sign(order.transaction));
    expect(Object.keys(played.answer.body)).not.toContain('status');
    return played;
  }),
  coded(-2, 'a signature that is not the taker\'s', async (fixture) => {
    const taker = await buyer(fixture);
    const order = await pooledOrder(fixture, taker);
    const forged = Buffer.from(await taker.sign(order.transaction), 'base64');
    forged.fill(7, 1, 65);
    return posted(fixture, order.requestId, forged.toString('base64'));
  }),
  {
    covers: ['execute.code--4'],
    says: '-4: no requestId was given',
    async play(fixture) {
      const answer = await fixture.post(EXECUTE, { signedTransaction: 'AAAA' });
      expect([answer.status, answer.body.code]).toEqual([400, -4]);
    },
  },
  {
    covers: ['execute.code--5'],
    says: '-5: no transaction was given',
    async play(fixture) {
      const answer = await fixture.post(EXECUTE, { requestId: 'x' });
      expect([answer.status, answer.body.code]).toEqual([400, -5]);
    },
  },
  coded(-1_000, 'a transaction that the chain would not take, as its fee cannot be paid any more', async (fixture) => {
    const taker = await buyer(fixture);
    const order = await pooledOrder(fixture, taker);
    const { result } = await fixture.rpc('getLatestBlockhash', []);
    const all = Number(fixture.held(taker.address, SOL)) - 5_000;
    const drain = new TransactionMessage({
      payerKey: new PublicKey(taker.address), recentBlockhash: result.value.blockhash,
      instructions: [SystemProgram.transfer(
        { fromPubkey: new PublicKey(taker.address), toPubkey: new PublicKey(fixture.wallet.address), lamports: all },
      )],
    }).compileToV0Message();
    expect(await sent(fixture, Buffer.from(new VersionedTransaction(drain).serialize()).toString('base64'), taker))
      .toBeNull();
    return posted(fixture, order.requestId, await taker.sign(order.transaction));
  }),
  ...([
    [-1_001, 'Unknown error'], [-1_006, 'Timed out'], [-2_000, 'Failed to land'], [-2_001, 'Unknown error'],
    [-2_005, 'Internal error'],
  ] as const).map(([code, error]): Case => ({
    covers: [`execute.code-${code}`],
    says: `${code}: our client passes the code on as it comes`,
    async play(fixture) {
      const order = await pooledOrder(fixture, fixture.wallet);
      const body = JSON.stringify({ status: 'Failed', signature: '', slot: '0', code, error });
      await fixture.fault(onExecute({ kind: 'malformed', body }, 1));
      const read = await fixture.service.swap.execute({
        requestId: order.requestId, signedTransaction: bytesOf(await fixture.wallet.sign(order.transaction)),
      });
      expect(read).toMatchObject({ status: 'failed', code, error, signature: undefined });
    },
  })),
  coded(-1_002, 'what was given is no transaction', async (fixture) => {
    const order = await pooledOrder(fixture, fixture.wallet);
    return posted(fixture, order.requestId, Buffer.from('no transaction at all').toString('base64'));
  }),
  coded(-1_003, 'the taker has not signed', async (fixture) => {
    const order = await pooledOrder(fixture, fixture.wallet);
    return posted(fixture, order.requestId, order.transaction);
  }),
  coded(-1_005, 'it expired before it landed', (fixture) =>
    faulted(fixture, onExecute({ kind: 'expire' }, 2), pooledOrder)),
  coded(-1_007, 'a wallet that signed in the place of the fee payer', async (fixture) => {
    const taker = await fixture.newWallet({ [USDC]: '100000000' });
    const order = await orderOf(fixture, {
      inputMint: USDC, outputMint: fixture.mint('PEARL'), amount: '30000000', taker: taker.address, ...POOLS_ONLY,
    });
    const misplaced = Buffer.from(await taker.sign(order.transaction), 'base64');
    // The taker is the second signer; his signature is moved to the first place.
    misplaced.copy(misplaced, 1, 65, 129);
    misplaced.fill(0, 65, 129);
    return posted(fixture, order.requestId, misplaced.toString('base64'));
  }),
  coded(-2_002, 'what was given for a maker\'s quote is no transaction', async (fixture) => {
    const order = await firmOrder(fixture, await buyer(fixture));
    return posted(fixture, order.requestId, Buffer.from('no transaction at all').toString('base64'));
  }),
  {
    covers: ['execute.code--2003'],
    says: '-2003: a maker\'s quote that has run out is not executed, whatever the clock says of the blockhash',
    async play(fixture) {
      const taker = await buyer(fixture);
      const order = await firmOrder(fixture, taker);
      await fixture.passSlots(1);
      const { status, body } = await execute(fixture, order, taker);
      expect([status, body.status, body.code]).toEqual([200, 'Failed', -2_003]);
      expect(fixture.held(taker.address, USDC)).toBe(1_000_000_000n);
      const read = await fixture.service.swap.execute({
        requestId: order.requestId, signedTransaction: bytesOf(await taker.sign(order.transaction)),
      });
      expect(read).toMatchObject({ status: 'failed', code: -2_003 });
    },
  },
  coded(-2_004, 'the maker checked once more and refused', (fixture) =>
    faulted(fixture, onExecute({ kind: 'reject' }, 2), firmOrder)),
];
