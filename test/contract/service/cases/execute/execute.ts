import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { BUY_SOL, execute, landed, orderOf, POOLS_ONLY, refusedByOurs } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { buyer, bytesOf, EXECUTE, firmOrder, onExecute, pooledOrder, SIGNATURE } from './execute-scenes.ts';

export const executeCases: readonly Case[] = [
  {
    covers: [
      'execute./swap/v2/execute', 'execute.with-request-id', 'execute.code-0', 'purpose.execute-lands',
      'open.execute.signedTransaction', 'open.execute.requestId', 'version.order-and-execute-keep',
    ],
    says: 'a signed order with its requestId lands, from pools and from makers; our client refuses to send one without',
    async play(fixture) {
      const taker = await buyer(fixture);
      const pooled = await landed(fixture, await pooledOrder(fixture, taker), taker);
      const firm = await firmOrder(fixture, taker);
      const filled = await landed(fixture, firm, taker);
      expect([pooled.code, filled.code]).toEqual([0, 0]);
      expect(filled.totalOutputAmount).toBe(firm.outAmount);
      const order = await pooledOrder(fixture, taker);
      const signedTransaction = bytesOf(await taker.sign(order.transaction));
      expect(await fixture.service.swap.execute({ requestId: order.requestId, signedTransaction }))
        .toMatchObject({ status: 'success' });
      await refusedByOurs(fixture, ({ swap }) => swap.execute({ requestId: '', signedTransaction }), /requestId/);
      await refusedByOurs(
        fixture, ({ swap }) => swap.execute({ requestId: order.requestId, signedTransaction: new Uint8Array() }),
        /signedTransaction/,
      );
    },
  },
  {
    covers: ['open.execute.lastValidBlockHeight', 'execute.code--1004'],
    says: '-1004: the order\'s own height is taken, another refused',
    async play(fixture) {
      const taker = await buyer(fixture);
      const order = await pooledOrder(fixture, taker);
      const signedTransaction = await taker.sign(order.transaction);
      const wrong =
        await fixture.post(EXECUTE, { requestId: order.requestId, signedTransaction, lastValidBlockHeight: '1' });
      expect([wrong.status, wrong.body.code]).toEqual([400, -1_004]);
      const read = await fixture.service.swap.execute({
        requestId: order.requestId, signedTransaction: bytesOf(signedTransaction), lastValidBlockHeight: 1n,
      });
      expect(read).toMatchObject({ status: 'failed', code: -1_004 });
      const right = {
        requestId: order.requestId, signedTransaction: bytesOf(signedTransaction),
        lastValidBlockHeight: BigInt(order.lastValidBlockHeight),
      };
      expect(await fixture.service.swap.execute(right)).toMatchObject({ status: 'success' });
    },
  },
  {
    covers: ['execute.status-200-when-failed', 'execute.code-6001', 'v1-quote.threshold-fails-the-swap'],
    says: '6001: a swap that fails on the chain is a 200 whose status is Failed, with its signature, and moves nothing',
    async play(fixture) {
      const taker = await buyer(fixture);
      const pearl = { inputMint: USDC, outputMint: fixture.mint('CONCH'), amount: '20000000' };
      const order = await orderOf(fixture, { ...pearl, taker: taker.address, slippageBps: 1, ...POOLS_ONLY });
      const other = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '20000000000' });
      await landed(fixture, await orderOf(fixture, {
        ...pearl, amount: '20000000000', taker: other.address, slippageBps: 9_000, ...POOLS_ONLY,
      }), other);
      const before = fixture.held(taker.address, USDC);
      const { status, body } = await execute(fixture, order, taker);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        status: 'Failed', code: 6_001, signature: expect.stringMatching(SIGNATURE),
        error: expect.stringMatching(/slippage/i),
      });
      expect(fixture.held(taker.address, USDC)).toBe(before);
      const read = await fixture.service.swap.execute({
        requestId: order.requestId, signedTransaction: bytesOf(await taker.sign(order.transaction)),
      });
      expect(read).toMatchObject({ status: 'failed', code: 6_001, signature: body.signature });
    },
  },
  {
    covers: ['execute.same-bytes-again'],
    says: 'the same bytes are told the same for two minutes and swap once; later the order is not known any more',
    async play(fixture) {
      const taker = await buyer(fixture);
      const order = await pooledOrder(fixture, taker);
      const signedTransaction = await taker.sign(order.transaction);
      const post = (): Promise<Answer> => fixture.post(EXECUTE, { requestId: order.requestId, signedTransaction });
      const first = await post();
      expect(first.body.status).toBe('Success');
      const held = fixture.held(taker.address, USDC);
      expect((await post()).body).toEqual(first.body);
      await fixture.passSlots(1);
      expect((await post()).body).toEqual(first.body);
      expect(fixture.held(taker.address, USDC)).toBe(held);
      await fixture.passSlots(3);
      expect((await post()).body.code).toBe(-1);
    },
  },
  {
    covers: ['execute.changed-bytes', 'execute.code--3', 'execute.refusals-are-400'],
    says: '-3: a changed message under an order\'s requestId is refused with a 400, even after the order was executed',
    async play(fixture) {
      const taker = await buyer(fixture);
      const [order, other] = [
        await pooledOrder(fixture, taker),
        await orderOf(fixture, { ...BUY_SOL, amount: '26000000', taker: taker.address, ...POOLS_ONLY }),
      ];
      const wrong = await taker.sign(other.transaction);
      for (const round of [1, 2]) {
        const answer = await fixture.post(EXECUTE, { requestId: order.requestId, signedTransaction: wrong });
        expect([round, answer.status, answer.body.code]).toEqual([round, 400, -3]);
        expect(answer.body).toEqual({ error: expect.stringMatching(/\w/), code: -3 });
        if (round === 1) await landed(fixture, order, taker);
      }
      expect(await fixture.service.swap.execute({ requestId: order.requestId, signedTransaction: bytesOf(wrong) }))
        .toMatchObject({ status: 'failed', code: -3 });
    },
  },
  {
    covers: ['execute.fee-from-amounts'],
    says: 'the route\'s output less the wallet\'s is the fee that the order announced',
    async play(fixture) {
      const taker = await buyer(fixture);
      const order = await orderOf(fixture, {
        inputMint: USDC, outputMint: fixture.mint('KELP'), amount: '20000000', taker: taker.address, ...POOLS_ONLY,
      });
      const { totalInputAmount, inputAmountResult, totalOutputAmount, outputAmountResult } =
        await landed(fixture, order, taker);
      const fee = BigInt(totalInputAmount) - BigInt(inputAmountResult) + BigInt(outputAmountResult)
        - BigInt(totalOutputAmount);
      expect(fee).toBe(BigInt(order.platformFee.amount));
      expect(fee).toBeGreaterThan(0n);
    },
  },
  {
    covers: ['execute.unknown-is-500'],
    says: 'a 500 with a signature leaves the outcome open, and our client does not call it failed; the same bytes tell '
      + 'more',
    async play(fixture) {
      for (const ordered of [pooledOrder, firmOrder]) {
        const taker = await buyer(fixture);
        const order = await ordered(fixture, taker);
        const signedTransaction = await taker.sign(order.transaction);
        await fixture.fault(onExecute({ kind: 'unknown', landed: true }, 1));
        const answer = await fixture.post(EXECUTE, { requestId: order.requestId, signedTransaction });
        expect([answer.status, answer.body])
          .toEqual([500, { signature: expect.stringMatching(SIGNATURE), error: expect.stringMatching(/\w/) }]);
        expect(await fixture.service.swap.execute(
          { requestId: order.requestId, signedTransaction: bytesOf(signedTransaction) },
        ))
          .toMatchObject({ status: 'success', signature: answer.body.signature });
        const next = await ordered(fixture, taker);
        await fixture.fault(onExecute({ kind: 'unknown', landed: false }, 1));
        const thrown = fixture.service.swap.execute({
          requestId: next.requestId, signedTransaction: bytesOf(await taker.sign(next.transaction)),
        });
        await expect(thrown).rejects.toMatchObject({
          code: 'SERVICE_STATUS', details: { status: 500, signature: expect.stringMatching(SIGNATURE) },
        });
      }
    },
  },
];
