import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS, asked, DIGITS } from '../../scenes.ts';
import type { ServiceFixture } from '../../service-fixture.ts';
import { USDC } from '../../service-fixture.ts';
import { ceilShare, quoteOf, SALE } from './v1-scenes.ts';

async function load(fixture: ServiceFixture) {
  const query = { inputMint: fixture.mint('KELP'), outputMint: USDC, amount: '5000000000' };
  return {
    query,
    quote: await quoteOf(fixture, query),
    charged: await quoteOf(fixture, { ...query, platformFeeBps: 100 }),
    v2: await quoteOf(fixture, { ...query, instructionVersion: 'V2' }),
    read: await fixture.service.swapV1.quote(asked(query)),
    readCharged: await fixture.service.swapV1.quote({ ...asked(query), platformFeeBps: 100 }),
    direct: await quoteOf(fixture, SALE),
    readDirect: await fixture.service.swapV1.quote(asked(SALE)),
    slot: fixture.sandbox.chain.slot,
  };
}

export const v1QuoteAnswerCases: readonly Case[] = [
  ...fieldCases({ prefix: 'v1-quote-answer', load }, {
    inputMint: ['the mint asked for', ({ quote, query, read }) =>
      expect([quote.inputMint, read.inputMint]).toEqual([query.inputMint, query.inputMint])],
    inAmount: ['the amount asked for, as digits', ({ quote, read }) => {
      expect(quote.inAmount).toBe('5000000000');
      expect(read.inAmount).toBe(5_000_000_000n);
    }],
    outputMint: [
      'the mint asked for', ({ quote, read }) => expect([quote.outputMint, read.outputMint]).toEqual([USDC, USDC]),
    ],
    outAmount: ['digits; a platform\'s fee is off it, slippage is not', ({ quote, charged, read }) => {
      expect(quote.outAmount).toMatch(DIGITS);
      const lost = BigInt(quote.outAmount) - BigInt(charged.outAmount);
      expect(lost).toBe(BigInt(quote.outAmount) / 100n);
      expect(quote.outAmount).toBe(quote.routePlan.at(-1).swapInfo.outAmount);
      expect(read.outAmount).toBe(BigInt(quote.outAmount));
    }],
    otherAmountThreshold: ['the output less the slippage, rounded up', ({ quote, read }) => {
      expect(BigInt(quote.otherAmountThreshold)).toBe(ceilShare(quote.outAmount, 9_950));
      expect(read.threshold).toBe(BigInt(quote.otherAmountThreshold));
    }],
    swapMode: ['ExactIn', ({ quote, read }) => expect([quote.swapMode, read.swapMode]).toEqual(['ExactIn', 'ExactIn'])],
    slippageBps: ['50 where none was given, a number', ({ quote, read }) =>
      expect([quote.slippageBps, read.slippageBps]).toEqual([50, 50])],
    priceImpactPct: ['a decimal as a text', ({ quote, read }) => {
      expect(quote.priceImpactPct).toMatch(/^-?\d+(\.\d+)?(e-\d+)?$/);
      expect(Math.abs(Number(quote.priceImpactPct))).toBeLessThan(0.1);
      expect(read.priceImpactPct).toBe(Number(quote.priceImpactPct));
    }],
    routePlan: ['the hops from the input to the output', ({ quote, query, read }) => {
      expect(quote.routePlan[0].swapInfo.inputMint).toBe(query.inputMint);
      expect(quote.routePlan.at(-1).swapInfo.outputMint).toBe(USDC);
      expect(read.routePlan).toHaveLength(quote.routePlan.length);
    }],
    platformFee: ['there where one was asked for, null or missing elsewhere', ({ quote, charged, readCharged }) => {
      expect(quote.platformFee ?? null).toBeNull();
      expect(charged.platformFee).toMatchObject({ amount: expect.stringMatching(DIGITS), feeBps: 100 });
      expect(BigInt(charged.platformFee.amount)).toBe(BigInt(quote.outAmount) / 100n);
      expect(readCharged.platformFee).toMatchObject({ feeBps: 100, amount: BigInt(charged.platformFee.amount) });
    }],
    contextSlot: ['the slot it was made at', ({ quote, slot, read }) => {
      expect(slot - quote.contextSlot).toBeLessThan(5);
      expect(read.contextSlot).toBe(BigInt(quote.contextSlot));
    }],
    timeTaken: ['a number, not below 0', ({ quote, read }) => {
      expect(quote.timeTaken).toBeGreaterThanOrEqual(0);
      expect(read.timeTaken).toBeGreaterThanOrEqual(0);
    }],
    mostReliableAmmsQuoteReport: ['a market\'s account and what it alone would give, for each',
      ({ direct, readDirect }) => {
        const entries = Object.entries<string>(direct.mostReliableAmmsQuoteReport);
        expect(entries.length).toBeGreaterThan(1);
        for (const [market, output] of entries) {
          expect([market, output]).toEqual([expect.stringMatching(ADDRESS), expect.stringMatching(DIGITS)]);
          expect(readDirect.mostReliableAmmsQuoteReport?.[market]).toBe(BigInt(output));
        }
        expect(entries.map(([, output]) => output)).toContain(direct.outAmount);
      }],
  }),
  ...fieldCases({ prefix: 'route', load }, {
    'swapInfo.feeAmount': ['"0" in a V1 quote, and in no V2 answer', ({ quote, read }) => {
      for (const { swapInfo } of quote.routePlan) expect(swapInfo.feeAmount).toBe('0');
      expect(read.routePlan[0]?.swapInfo.feeAmount).toBe(0n);
    }],
    'swapInfo.feeMint': ['the mint that goes into the market', ({ quote, read }) => {
      for (const { swapInfo } of quote.routePlan) expect(swapInfo.feeMint).toBe(swapInfo.inputMint);
      expect(read.routePlan[0]?.swapInfo.feeMint).toBe(quote.routePlan[0].swapInfo.inputMint);
    }],
    'percent-may-be-null': ['100 or null, and our client has the share in basis points either way',
      ({ quote, v2, read }) => {
        for (const { percent } of quote.routePlan) expect(percent).toBe(100);
        for (const { percent } of v2.routePlan) expect([100, null]).toContain(percent);
        for (const { bps } of read.routePlan) expect(bps).toBe(10_000);
      }],
  }),
];
