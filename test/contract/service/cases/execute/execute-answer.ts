import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import type { ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { buyer, bytesOf, EXECUTE, pooledOrder, SIGNATURE } from './execute-scenes.ts';

async function load(fixture: ServiceFixture) {
  const taker = await buyer(fixture);
  const order = await pooledOrder(fixture, taker);
  const signedTransaction = await taker.sign(order.transaction);
  const before = { usdc: fixture.held(taker.address, USDC), sol: fixture.held(taker.address, SOL) };
  const { body } = await fixture.post(EXECUTE, {
    requestId: order.requestId, signedTransaction, lastValidBlockHeight: order.lastValidBlockHeight,
  });
  const after = { usdc: fixture.held(taker.address, USDC), sol: fixture.held(taker.address, SOL) };
  const read =
    await fixture.service.swap.execute({ requestId: order.requestId, signedTransaction: bytesOf(signedTransaction) });
  const { result } = await fixture.rpc('getTransaction', [
    body.signature, { maxSupportedTransactionVersion: 1, encoding: 'base64', commitment: 'confirmed' },
  ]);
  const failed = (await fixture.post(EXECUTE, { requestId: 'unknown', signedTransaction })).body;
  return { order, body, read, onChain: result, before, after, failed };
}

export const executeAnswerCases: readonly Case[] = fieldCases({ prefix: 'open.execute.answer', load }, {
  status: ['Success, which our client calls success', ({ body, read }) =>
    expect([body.status, read.status]).toEqual(['Success', 'success'])],
  signature: ['of the transaction that the chain has', ({ body, read, onChain }) => {
    expect(body.signature).toMatch(SIGNATURE);
    expect(onChain.meta.err).toBeNull();
    expect(read.signature).toBe(body.signature);
  }],
  slot: ['the slot it landed in, as digits', ({ body, read, onChain }) => {
    expect(body.slot).toBe(String(onChain.slot));
    expect(read.amounts?.slot).toBe(BigInt(onChain.slot));
  }],
  code: ['0 on success, a number below it for a refusal', ({ body, failed }) =>
    expect([body.code, failed.code]).toEqual([0, -1])],
  error: ['there where it failed, and only there', ({ body, failed }) => {
    expect(body.error).toBeUndefined();
    expect(failed.error).toMatch(/\w+ \w+/);
  }],
  totalInputAmount: ['what left the wallet', ({ body, read, before, after }) => {
    expect(BigInt(body.totalInputAmount)).toBe(before.usdc - after.usdc);
    expect(read.amounts?.totalInputAmount).toBe(BigInt(body.totalInputAmount));
  }],
  totalOutputAmount: ['what came into the wallet, and what the order promised',
    ({ body, order, read, before, after }) => {
      const costs = BigInt(order.signatureFeeLamports + order.prioritizationFeeLamports + order.rentFeeLamports);
      expect(BigInt(body.totalOutputAmount)).toBe(after.sol - before.sol + costs);
      expect(body.totalOutputAmount).toBe(order.outAmount);
      expect(read.amounts?.totalOutputAmount).toBe(BigInt(order.outAmount));
    }],
  inputAmountResult: ['what went into the route, a fee in the input taken off', ({ body, order, read }) => {
    const fee = order.feeMint === order.inputMint ? BigInt(order.platformFee.amount) : 0n;
    expect(BigInt(body.inputAmountResult)).toBe(BigInt(body.totalInputAmount) - fee);
    expect(read.amounts?.inputAmountResult).toBe(BigInt(body.inputAmountResult));
  }],
  outputAmountResult: ['what came out of the route, a fee in the output not taken off', ({ body, order, read }) => {
    const fee = order.feeMint === order.outputMint ? BigInt(order.platformFee.amount) : 0n;
    expect(BigInt(body.outputAmountResult)).toBe(BigInt(body.totalOutputAmount) + fee);
    expect(read.amounts?.outputAmountResult).toBe(BigInt(body.outputAmountResult));
  }],
  swapEvents: ['one for each hop, from the input to the output', ({ body, order, read }) => {
    expect(body.swapEvents).toHaveLength(order.routePlan.length);
    expect(body.swapEvents[0]).toMatchObject({ inputMint: order.inputMint, inputAmount: body.inputAmountResult });
    expect(body.swapEvents.at(-1))
      .toMatchObject({ outputMint: order.outputMint, outputAmount: body.outputAmountResult });
    expect(read.amounts?.swapEvents.at(-1)?.outputAmount).toBe(BigInt(body.outputAmountResult));
  }],
});
