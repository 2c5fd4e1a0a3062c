import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import {
  ADDRESS, asked, BUY_SOL, DIGITS, landed, MAKERS_ONLY, orderOf, POOLS_ONLY, UUID, usdWorth,
} from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';

type Body = Answer['body'];

/** One sample of every kind of order, on the wire and as our client reads it. */
async function load(fixture: ServiceFixture) {
  const taker = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '1000000000' });
  const poor = await fixture.newWallet();
  const referrer = await fixture.newWallet({ [SOL]: '10000000', [fixture.mint('PEARL')]: '1' });
  const pearl = { inputMint: USDC, outputMint: fixture.mint('PEARL'), amount: '20000000' };
  const large = { ...pearl, amount: '400000000' };
  const steered = { ...pearl, taker: taker.address, slippageBps: 77, ...POOLS_ONLY };
  const client = fixture.service.swap;
  const quote = await orderOf(fixture, BUY_SOL);
  const built = await orderOf(fixture, steered);
  const firm = await orderOf(fixture, { ...large, taker: taker.address, ...MAKERS_ONLY });
  const refused = await orderOf(fixture, { ...pearl, taker: poor.address });
  const referred = await orderOf(fixture, { ...pearl, referralAccount: referrer.address, referralFee: 120 });
  const a = await orderOf(fixture, { ...pearl, taker: taker.address, excludeRouters: 'iris,rfqz,routerB' });
  const b = await orderOf(fixture, { ...pearl, taker: taker.address, excludeRouters: 'iris,rfqz,routerA' });
  const read = {
    quote: await client.order(asked(BUY_SOL)),
    built: await client.order({
      ...asked(pearl), taker: taker.address, slippageBps: 77, excludeRouters: ['rfqz', 'routerA', 'routerB'],
    }),
    firm: await client.order({ ...asked(large), taker: taker.address, excludeRouters: ['iris', 'routerA', 'routerB'] }),
    refused: await client.order({ ...asked(pearl), taker: poor.address }),
    referred: await client.order({ ...asked(pearl), referralAccount: referrer.address, referralFee: 120 }),
  };
  const usd =
    {
      in: await usdWorth(fixture, USDC, pearl.amount), out: await usdWorth(fixture, pearl.outputMint, built.outAmount),
    };
  const lamportsBefore = fixture.held(taker.address, SOL);
  const execution = await landed(fixture, built, taker);
  const spent = lamportsBefore - fixture.held(taker.address, SOL);
  return {
    quote, built, firm, a, b, refused, referred, read, pearl, taker, poor, referrer, usd, execution, spent,
    received: fixture.held(taker.address, pearl.outputMint),
  };
}

const allCosts = (body: Body): number =>
  body.signatureFeeLamports + body.prioritizationFeeLamports + body.rentFeeLamports;

export const orderAnswerCases: readonly Case[] = [
  ...fieldCases({ prefix: 'order-answer', load }, {
    mode: ['`ultra` without steering parameters, `manual` with one', ({ quote, built, read }) => {
      expect([quote.mode, built.mode]).toEqual(['ultra', 'manual']);
      expect([read.quote.mode, read.built.mode]).toEqual(['ultra', 'manual']);
    }],
    inputMint: ['the mint asked for', ({ built, read }) => {
      expect(built.inputMint).toBe(USDC);
      expect(read.built.inputMint).toBe(USDC);
    }],
    outputMint: ['the mint asked for', ({ built, pearl, read }) => {
      expect(built.outputMint).toBe(pearl.outputMint);
      expect(read.built.outputMint).toBe(pearl.outputMint);
    }],
    inAmount: ['the amount asked for, as digits', ({ built, read }) => {
      expect(built.inAmount).toBe('20000000');
      expect(read.built.inAmount).toBe(20_000_000n);
    }],
    outAmount: ['what the taker has once it landed, as digits', ({ built, read, received }) => {
      expect(built.outAmount).toMatch(DIGITS);
      expect(received).toBe(BigInt(built.outAmount));
      expect(read.built.outAmount).toBe(BigInt(built.outAmount));
    }],
    inUsdValue: ['the input at the market\'s price', ({ built, read, usd }) => {
      expect(built.inUsdValue).toBeCloseTo(usd.in, 6);
      expect(read.built.inUsdValue).toBe(built.inUsdValue);
    }],
    outUsdValue: ['the output at the market\'s price', ({ built, read, usd }) => {
      expect(built.outUsdValue).toBeCloseTo(usd.out, 6);
      expect(read.built.outUsdValue).toBe(built.outUsdValue);
    }],
    swapUsdValue: ['the size of the swap in dollars', ({ built, read, usd }) => {
      expect(built.swapUsdValue).toBeCloseTo(usd.in, 0);
      expect(read.built.swapUsdValue).toBe(built.swapUsdValue);
    }],
    priceImpact: ['output over input less one, as a decimal', ({ built, read }) => {
      expect(built.priceImpact).toBeCloseTo(built.outUsdValue / built.inUsdValue - 1, 6);
      expect(built.priceImpact).toBeLessThan(0);
      expect(read.built.priceImpact).toBeCloseTo(built.priceImpact, 6);
    }],
    otherAmountThreshold: ['the output less the slippage, floored', ({ built, read }) => {
      const threshold = (BigInt(built.outAmount) * (10_000n - 77n)) / 10_000n;
      expect(built.otherAmountThreshold).toBe(threshold.toString());
      expect(read.built.threshold).toBe(threshold);
    }],
    swapMode: ['ExactIn', ({ built, read }) => {
      expect(built.swapMode).toBe('ExactIn');
      expect(read.built.swapMode).toBe('ExactIn');
    }],
    slippageBps: ['what was asked for, and a number of the service\'s own where nothing was',
      ({ built, quote, read }) => {
        expect(built.slippageBps).toBe(77);
        expect(quote.slippageBps).toBeGreaterThanOrEqual(0);
        expect(read.built.slippageBps).toBe(77);
      }],
    priceImpactPct: ['the impact once more, as a text', ({ built, read }) => {
      expect(typeof built.priceImpactPct).toBe('string');
      expect(Number(built.priceImpactPct)).toBeCloseTo(built.priceImpact, 6);
      expect(read.built.priceImpactPct).toBe(Number(built.priceImpactPct));
    }],
    routePlan: ['the hops from the input to the output, without a gap', ({ built, read, pearl }) => {
      const hops = built.routePlan.map(({ swapInfo }: { swapInfo: Body }) => swapInfo);
      expect([hops[0].inputMint, hops.at(-1).outputMint]).toEqual([USDC, pearl.outputMint]);
      expect(hops.slice(1).map(({ inputMint }: Body) => inputMint))
        .toEqual(hops.slice(0, -1).map(({ outputMint }: Body) => outputMint));
      expect(read.built.routePlan).toHaveLength(built.routePlan.length);
    }],
    referralAccount: ['the receiver of the fee; empty where none was named',
      ({ referred, quote, referrer, read }) => {
        expect(referred.referralAccount).toBe(referrer.address);
        expect(quote.referralAccount ?? null).toBeNull();
        expect(read.referred.referralAccount).toBe(referrer.address);
      }],
    feeMint: ['one of the two mints', ({ built, pearl, read }) => {
      expect([USDC, pearl.outputMint]).toContain(built.feeMint);
      expect(read.built.feeMint).toBe(built.feeMint);
    }],
    feeBps: ['at least what the platform takes', ({ built, referred, read }) => {
      expect(built.feeBps).toBeGreaterThanOrEqual(built.platformFee.feeBps);
      expect(referred.feeBps).toBeGreaterThanOrEqual(120);
      expect(read.built.feeBps).toBe(built.feeBps);
    }],
    platformFee: ['the fee that the landed swap paid', ({ built, execution, read }) => {
      const paid = built.feeMint === built.inputMint
        ? BigInt(execution.totalInputAmount) - BigInt(execution.inputAmountResult)
        : BigInt(execution.outputAmountResult) - BigInt(execution.totalOutputAmount);
      expect(BigInt(built.platformFee.amount)).toBe(paid);
      expect(read.built.platformFee?.amount).toBe(paid);
    }],
    signatureFeeLamports: ['5000 for each signature, and two of them where a maker signs too',
      ({ built, firm, read }) => {
        expect([built.signatureFeeLamports, firm.signatureFeeLamports]).toEqual([5_000, 10_000]);
        expect(read.built.signatureFeeLamports).toBe(5_000n);
      }],
    signatureFeePayer: ['the taker, or the maker, or null without a taker', ({ built, firm, quote, taker, read }) => {
      expect([built.signatureFeePayer, firm.signatureFeePayer, quote.signatureFeePayer])
        .toEqual([taker.address, firm.maker, null]);
      expect([read.built.signatureFeePayer, read.firm.signatureFeePayer, read.quote.signatureFeePayer])
        .toEqual([taker.address, firm.maker, undefined]);
    }],
    prioritizationFeeLamports: ['what the taker paid beyond signatures and rent', ({ built, spent, read }) => {
      expect(built.prioritizationFeeLamports).toBeGreaterThan(0);
      expect(Number(spent)).toBe(allCosts(built));
      expect(read.built.prioritizationFeeLamports).toBeGreaterThan(0n);
    }],
    prioritizationFeePayer: ['the taker, or null without one', ({ built, quote, taker, read }) => {
      expect([built.prioritizationFeePayer, quote.prioritizationFeePayer]).toEqual([taker.address, null]);
      expect(read.built.prioritizationFeePayer).toBe(taker.address);
    }],
    rentFeeLamports: ['the rent of the account that the output needs', ({ built, spent, read }) => {
      expect(built.rentFeeLamports).toBe(2_039_280);
      expect(Number(spent)).toBe(allCosts(built));
      expect(read.built.rentFeeLamports).toBe(2_039_280n);
    }],
    rentFeePayer: ['the taker, or null without one', ({ built, quote, taker, read }) => {
      expect([built.rentFeePayer, quote.rentFeePayer]).toEqual([taker.address, null]);
      expect(read.built.rentFeePayer).toBe(taker.address);
    }],
    swapType: ['aggregator for iris, rfq for a maker, its own name for each other router',
      ({ built, firm, a, b, read }) => {
        expect([built, firm, a, b].map(({ swapType }) => swapType))
          .toEqual(['aggregator', 'rfq', 'routerA', 'routerB']);
        expect([read.built.swapType, read.firm.swapType]).toEqual(['aggregator', 'rfq']);
      }],
    router: ['each of the four where it alone may quote', ({ built, firm, a, b, read }) => {
      expect([built, firm, a, b].map(({ router }) => router)).toEqual(['iris', 'rfqz', 'routerA', 'routerB']);
      expect([read.built.router, read.firm.router]).toEqual(['iris', 'rfqz']);
    }],
    transaction: ['null without a taker, empty where it cannot be built, base64 otherwise',
      ({ quote, refused, built, read }) => {
        expect([quote.transaction, refused.transaction]).toEqual([null, '']);
        expect(Buffer.from(built.transaction, 'base64').toString('base64')).toBe(built.transaction);
        expect([read.quote.transaction, read.refused.transaction]).toEqual([undefined, undefined]);
        expect(read.built.transaction?.length).toBe(Buffer.from(built.transaction, 'base64').length);
      }],
    lastValidBlockHeight: ['digits, ahead of the chain', ({ built, read }) => {
      expect(built.lastValidBlockHeight).toMatch(DIGITS);
      expect(read.built.lastValidBlockHeight).toBe(BigInt(built.lastValidBlockHeight));
    }],
    gasless: ['false where the taker pays, true where a maker does', ({ built, firm, read }) => {
      expect([built.gasless, firm.gasless]).toEqual([false, true]);
      expect([read.built.gasless, read.firm.gasless]).toEqual([false, true]);
    }],
    requestId: ['another one for every order', ({ quote, built, firm, read }) => {
      for (const { requestId } of [quote, built, firm]) expect(requestId).toMatch(UUID);
      expect(new Set([quote, built, firm, read.quote, read.built, read.firm].map(({ requestId }) => requestId)).size)
        .toBe(6);
    }],
    totalTime: ['a number of milliseconds', ({ built, read }) => {
      expect(built.totalTime).toBeGreaterThanOrEqual(0);
      expect(built.totalTime).toBeLessThan(10_000);
      expect(read.built.totalTimeMs).toBeGreaterThanOrEqual(0);
    }],
    taker: ['who asked, or null', ({ built, quote, taker, read }) => {
      expect([built.taker, quote.taker]).toEqual([taker.address, null]);
      expect([read.built.taker, read.quote.taker]).toEqual([taker.address, undefined]);
    }],
    quoteId: ['of the maker\'s quote, and of no other', ({ built, firm, read }) => {
      expect(firm.quoteId).toMatch(UUID);
      expect(built.quoteId).toBeUndefined();
      expect(read.firm.quoteId).toMatch(UUID);
    }],
    maker: ['the maker\'s address, and of no other quote', ({ built, firm, read }) => {
      expect(firm.maker).toMatch(ADDRESS);
      expect(built.maker).toBeUndefined();
      expect(read.firm.maker).toBe(firm.maker);
    }],
    expireAt: ['Unix seconds as digits, within a minute of the order', ({ built, firm, read }) => {
      expect(firm.expireAt).toMatch(/^\d{10}$/);
      expect(built.expireAt).toBeUndefined();
      expect(read.firm.expireAt).toBe(Number(firm.expireAt) * 1_000);
    }],
    errorCode: ['a number, beside an empty transaction alone', ({ refused, built, quote, read }) => {
      expect(refused.errorCode).toBe(1);
      expect([built.errorCode, quote.errorCode]).toEqual([undefined, undefined]);
      expect(read.refused.buildError?.code).toBe(1);
    }],
    errorMessage: ['says the error in words', ({ refused, read }) => {
      expect(refused.errorMessage).toMatch(/\w+ \w+/);
      expect(read.refused.buildError?.message).toBe(refused.errorMessage);
    }],
    error: ['the same words again', ({ refused }) => {
      expect(refused.error).toBe(refused.errorMessage);
    }],
  }),
  {
    covers: ['order-answer.swapType'],
    says: 'a route of both kinds has a type of its own, which our client passes on',
    async play(fixture) {
      await fixture.fault({
        match: { path: '/swap/v2/order' }, fault: { kind: 'patch', set: { '/swapType': 'aggregator+rfq' }, remove: [] },
        times: 1,
      });
      expect(await fixture.service.swap.order(asked(BUY_SOL)))
        .toMatchObject({ swapType: 'aggregator+rfq', router: 'iris' });
    },
  },
  {
    covers: ['order-answer.all-optional'],
    says:
      'our client lives with whatever may be missing from an order, and only takes no quote without amounts and mints',
    async play(fixture) {
      const whole = await orderOf(fixture, BUY_SOL);
      const least = Object.fromEntries(
        ['inputMint', 'outputMint', 'inAmount', 'outAmount', 'otherAmountThreshold', 'router']
          .map((name) => [name, whole[name]]),
      );
      await fixture.fault({
        match: { path: '/swap/v2/order' },
        fault: { kind: 'malformed', body: JSON.stringify(fixture.dialect.toWire.json(least)) }, times: 1,
      });
      expect(await fixture.service.swap.order(asked(BUY_SOL)))
        .toMatchObject({ outAmount: BigInt(whole.outAmount), router: 'iris' });
    },
  },
];
