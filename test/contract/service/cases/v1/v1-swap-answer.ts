import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { viewOf } from '../../transactions.ts';
import type { ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { landedV1, ourQuote, quoteOf, SALE, swapOf } from './v1-scenes.ts';

async function load(fixture: ServiceFixture) {
  const user = await fixture.newWallet({ [SOL]: '1000000000' });
  const body = await swapOf(fixture, SALE, { userPublicKey: user.address });
  const dynamic = await swapOf(fixture, SALE, { userPublicKey: user.address, dynamicSlippage: true });
  const quoteResponse = await ourQuote(fixture, SALE);
  const read = await fixture.service.swapV1.swap({ userPublicKey: user.address, quoteResponse });
  const readDynamic =
    await fixture.service.swapV1.swap({ userPublicKey: user.address, quoteResponse, dynamicSlippage: true });
  const { blockHeight } = fixture.sandbox.chain;
  const error = await landedV1(fixture, body, user);
  const quote = await quoteOf(fixture, SALE);
  return {
    body, dynamic, read, readDynamic, error, blockHeight, quote, received: fixture.held(user.address, USDC),
    view: viewOf(body.swapTransaction),
  };
}

const report = 'dynamicSlippageReport';

export const v1SwapAnswerCases: readonly Case[] = fieldCases({ prefix: 'v1-swap-answer', load }, {
  swapTransaction: ['a transaction in base64 that lands once the user signed', ({ body, read, error, received }) => {
    expect(Buffer.from(body.swapTransaction, 'base64').toString('base64')).toBe(body.swapTransaction);
    expect(error).toBeNull();
    expect(received).toBeGreaterThan(10_000_000n);
    expect(read.transaction.length).toBeGreaterThan(200);
  }],
  lastValidBlockHeight: ['a number ahead of the chain', ({ body, read, blockHeight }) => {
    expect(body.lastValidBlockHeight - blockHeight).toBeGreaterThan(100);
    expect(read.lastValidBlockHeight).toBeGreaterThan(BigInt(blockHeight));
  }],
  prioritizationFeeLamports: ['a number: price times limit of the transaction', ({ body, view, read }) => {
    const lamports = (view.unitPrice! * BigInt(view.unitLimit!) + 999_999n) / 1_000_000n;
    expect(BigInt(body.prioritizationFeeLamports)).toBe(lamports);
    expect(read.prioritizationFeeLamports).toBeGreaterThan(0n);
  }],
  [report]: ['there where dynamic slippage was asked for, null or missing elsewhere',
    ({ body, dynamic, read, readDynamic }) => {
      expect(body[report] ?? null).toBeNull();
      expect(dynamic[report]).toBeTypeOf('object');
      expect([read.dynamicSlippageReport, readDynamic.dynamicSlippageReport === undefined]).toEqual([undefined, false]);
    }],
  [`${report}.slippageBps`]: ['a whole number of basis points', ({ dynamic, readDynamic }) => {
    expect(dynamic[report].slippageBps).toBe(Math.trunc(dynamic[report].slippageBps));
    expect(readDynamic.dynamicSlippageReport?.slippageBps).toBe(dynamic[report].slippageBps);
  }],
  [`${report}.otherAmount`]: ['what must come out at least', ({ dynamic, quote, readDynamic }) => {
    expect(Number(dynamic[report].otherAmount)).toBeLessThanOrEqual(Number(quote.outAmount) * 1.01);
    expect(Number(dynamic[report].otherAmount)).toBeGreaterThan(Number(quote.outAmount) * 0.8);
    expect(readDynamic.dynamicSlippageReport?.otherAmount).toBe(BigInt(dynamic[report].otherAmount));
  }],
  [`${report}.simulatedIncurredSlippageBps`]: ['a whole number, 0 where nothing moved', ({ dynamic, readDynamic }) => {
    expect(dynamic[report].simulatedIncurredSlippageBps).toBe(Math.trunc(dynamic[report].simulatedIncurredSlippageBps));
    expect(readDynamic.dynamicSlippageReport?.simulatedIncurredSlippageBps)
      .toBe(dynamic[report].simulatedIncurredSlippageBps);
  }],
  [`${report}.amplificationRatio`]: ['a text', ({ dynamic, readDynamic }) => {
    expect(dynamic[report].amplificationRatio).toMatch(/^\d+(\.\d+)?$/);
    expect(readDynamic.dynamicSlippageReport?.amplificationRatio).toBe(dynamic[report].amplificationRatio);
  }],
});
