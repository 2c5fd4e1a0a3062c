import { expect } from 'vitest';
import type { QuoteRequest } from '../../../../../src/service/endpoints/swap-v1.ts';
import type { Case } from '../../case.ts';
import { asked, labelsOf, refusedByBoth } from '../../scenes.ts';
import { viewOf } from '../../transactions.ts';
import type { Answer, Query, ServiceFixture } from '../../service-fixture.ts';
import { openFixture, SOL, USDC } from '../../service-fixture.ts';
import { ceilShare, landedV1, quoteOf, SALE, swapOf } from './v1-scenes.ts';

const PATH = '/swap/v1/quote';

function refused(
  fixture: ServiceFixture, change: Readonly<Record<string, string | number | readonly string[]>>, about: RegExp,
): Promise<void> {
  const wire = Object.fromEntries(Object.entries(change).map(([name, value]) =>
    [name, typeof value === 'object' ? value.join(',') : value]));
  return refusedByBoth(fixture, {
    theirs: () => fixture.get(PATH, { ...SALE, ...wire }),
    ours: ({ swapV1 }) => swapV1.quote({ ...asked(SALE), ...change }),
    about,
  });
}

function missed(fixture: ServiceFixture, name: 'inputMint' | 'outputMint' | 'amount'): Promise<void> {
  const { [name]: _theirs, ...query } = SALE;
  const { [name]: _ours, ...request } = asked(SALE);
  return refusedByBoth(fixture, {
    theirs: () => fixture.get(PATH, query), ours: ({ swapV1 }) => swapV1.quote(request as QuoteRequest),
    about: new RegExp(name),
  });
}

/** Returns the mints that a route passes through. */
const between = (quote: Answer['body']): string[] =>
  quote.routePlan.slice(0, -1).map(({ swapInfo }: Answer['body']) => swapInfo.outputMint);

export const v1QuoteCases: readonly Case[] = [
  {
    covers: ['version.deprecated-market-fees', 'version.bps-is-canonical'],
    says: 'V1 still carries the deprecated market fees, as nothing; V2 shares are in basis points',
    async play(fixture) {
      for (const { swapInfo } of (await quoteOf(fixture, SALE)).routePlan)
        expect([swapInfo.feeAmount, swapInfo.feeMint]).toEqual(['0', swapInfo.inputMint]);
      const order = await fixture.get('/swap/v2/order', SALE);
      for (const { bps, percent, swapInfo } of order.body.routePlan)
        expect([bps, percent, swapInfo.feeAmount]).toEqual([10_000, 100, undefined]);
    },
  },
  {
    covers: ['v1-quote./swap/v1/quote', 'purpose.swap-v1-path', 'version.v1-superseded'],
    says: 'the superseded /quote still answers 200 with a quote',
    async play(fixture) {
      const answer = await fixture.get(PATH, SALE);
      expect([answer.status, answer.body.outputMint]).toEqual([200, USDC]);
      expect((await fixture.service.swapV1.quote(asked(SALE))).outAmount).toBe(BigInt(answer.body.outAmount));
    },
  },
  ...(['inputMint', 'outputMint', 'amount'] as const).map((name): Case => ({
    covers: [`v1-quote.${name}`],
    says: `a V1 quote without ${name}, or with one that makes no sense, is refused`,
    async play(fixture) {
      await missed(fixture, name);
      const quote = await quoteOf(fixture, SALE);
      expect([quote.inputMint, quote.outputMint, quote.inAmount]).toEqual([SOL, USDC, SALE.amount]);
      for (const value of ['?', '-1', '1.5'])
        expect((await fixture.get(PATH, { ...SALE, [name]: value })).status).toBe(400);
      expect((await fixture.get(PATH, { ...SALE, amount: '18446744073709551616' })).status).toBe(400);
    },
  })),
  {
    covers: ['v1-quote.amount-by-mode', 'v1-quote.swapMode', 'v1-quote.slippage-by-mode'],
    says: 'ExactIn fixes the input and takes slippage off the output, ExactOut the other way round; a third mode is '
      + 'refused',
    async play(fixture) {
      const exactIn = await quoteOf(fixture, { ...SALE, swapMode: 'ExactIn', slippageBps: 100 });
      expect([exactIn.swapMode, exactIn.inAmount]).toEqual(['ExactIn', SALE.amount]);
      expect(BigInt(exactIn.otherAmountThreshold)).toBe(ceilShare(exactIn.outAmount, 9_900));
      const wanted = { inputMint: SOL, outputMint: USDC, amount: '20000000', swapMode: 'ExactOut' } as const;
      const exactOut = await quoteOf(fixture, { ...wanted, slippageBps: 100 });
      expect([exactOut.swapMode, exactOut.outAmount]).toEqual(['ExactOut', '20000000']);
      const most = BigInt(exactOut.otherAmountThreshold);
      expect(most).toBeGreaterThan(BigInt(exactOut.inAmount));
      expect(Number(most) / Number(exactOut.inAmount)).toBeCloseTo(1.01, 6);
      const read = await fixture.service.swapV1.quote({ ...asked(wanted), swapMode: 'ExactOut', slippageBps: 100 });
      expect([read.outAmount, read.inAmount, read.threshold]).toEqual([20_000_000n, BigInt(exactOut.inAmount), most]);
      await refused(fixture, { swapMode: 'ExactBoth' }, /swapMode/);
    },
  },
  {
    covers: ['v1-quote.exact-out-of-few'],
    says: 'ExactOut is known to some markets only: where none on the way knows it, there is no route',
    async play(fixture) {
      const wanted = { outputMint: USDC, amount: '1000000', onlyDirectRoutes: true };
      const by = (symbol: string, swapMode: string): Promise<Answer> =>
        fixture.get(PATH, { ...wanted, inputMint: fixture.mint(symbol), swapMode });
      // The pool of PEARL knows it, that of CONCH does not.
      expect([(await by('PEARL', 'ExactOut')).status, (await by('CONCH', 'ExactIn')).status]).toEqual([200, 200]);
      const none = await by('CONCH', 'ExactOut');
      expect([none.status, none.body.errorCode]).toEqual([400, expect.stringMatching(/^[A-Z_]+$/)]);
      const ours = fixture.service.swapV1.quote({
        ...asked({ ...wanted, inputMint: fixture.mint('CONCH') }), swapMode: 'ExactOut', onlyDirectRoutes: true,
      });
      await expect(ours)
        .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 400, serviceCode: none.body.errorCode } });
    },
  },
  {
    covers: ['v1-quote.slippageBps'],
    says: 'slippage of a V1 quote is a whole number of 16 bits',
    async play(fixture) {
      for (const slippageBps of [0, 10_000])
        expect((await quoteOf(fixture, { ...SALE, slippageBps })).slippageBps).toBe(slippageBps);
      for (const slippageBps of [-1, 65_536, 0.5]) await refused(fixture, { slippageBps }, /slippageBps/);
    },
  },
  {
    covers: ['v1-quote.dexes'],
    says: 'dexes are the only markets of a V1 route; with excludeDexes beside them it is refused by both sides',
    async play(fixture) {
      for (const label of ['Tidepool', 'Lagoon']) {
        expect(new Set(labelsOf(await quoteOf(fixture, { ...SALE, dexes: label })))).toEqual(new Set([label]));
        expect((await fixture.service.swapV1.quote({ ...asked(SALE), dexes: [label] })).routePlan[0]?.swapInfo.label)
          .toBe(label);
      }
      await refused(fixture, { dexes: ['Lagoon'], excludeDexes: ['Tidepool'] }, /dexes/i);
    },
  },
  {
    covers: ['v1-quote.excludeDexes'],
    says: 'a V1 route keeps away from excluded markets',
    async play(fixture) {
      const [usual = ''] = labelsOf(await quoteOf(fixture, SALE));
      expect(labelsOf(await quoteOf(fixture, { ...SALE, excludeDexes: usual }))).not.toContain(usual);
      const { routePlan } = await fixture.service.swapV1.quote({ ...asked(SALE), excludeDexes: [usual] });
      expect(routePlan.map(({ swapInfo }) => swapInfo.label)).not.toContain(usual);
    },
  },
  {
    covers: ['v1-quote.restrictIntermediateTokens'],
    says: 'between the ends stand the steadier tokens alone, unless the restriction is lifted',
    async play(fixture) {
      // In a fixture of its own: the pools of SOL and USDC are sold full of SOL, so that a way through PEARL pays
      // better.
      const own = await openFixture({ dialect: fixture.dialect.name, profile: fixture.profile });
      try {
        const whale = await own.newWallet({ [SOL]: '40000000000000' });
        for (const [dexes, amount] of [['Tidepool', '12000000000000'], ['Lagoon', '2000000000000']] as const) {
          const body = await swapOf(own, { ...SALE, amount, dexes, onlyDirectRoutes: true, slippageBps: 9_000 }, {
            userPublicKey: whale.address,
          });
          expect(await landedV1(own, body, whale)).toBeNull();
        }
        const usual = await quoteOf(own, SALE);
        const free = await quoteOf(own, { ...SALE, restrictIntermediateTokens: false });
        expect(between(free)).toContain(own.mint('PEARL'));
        expect(between(usual)).not.toContain(own.mint('PEARL'));
        expect(BigInt(free.outAmount)).toBeGreaterThan(BigInt(usual.outAmount));
        expect((await quoteOf(own, { ...SALE, restrictIntermediateTokens: true })).outAmount).toBe(usual.outAmount);
        expect((await own.service.swapV1.quote({ ...asked(SALE), restrictIntermediateTokens: false })).outAmount)
          .toBe(BigInt(free.outAmount));
      } finally {
        await own.close();
      }
      await refused(fixture, { restrictIntermediateTokens: 'maybe' }, /restrictIntermediateTokens/);
    },
  },
  {
    covers: ['v1-quote.onlyDirectRoutes'],
    says: 'onlyDirectRoutes leaves routes of one hop, and none where there is no such pool',
    async play(fixture) {
      expect((await quoteOf(fixture, { ...SALE, onlyDirectRoutes: true })).routePlan).toHaveLength(1);
      const long = { inputMint: fixture.mint('KELP'), outputMint: fixture.mint('BUOY'), amount: '5000000000' };
      expect((await quoteOf(fixture, long)).routePlan.length).toBeGreaterThan(1);
      const none = await fixture.get(PATH, { ...long, onlyDirectRoutes: true });
      expect([none.status, none.body.errorCode])
        .toEqual([400, expect.stringMatching(/^(NO_ROUTES_FOUND|COULD_NOT_FIND_ANY_ROUTE)$/)]);
      await expect(fixture.service.swapV1.quote({ ...asked(long), onlyDirectRoutes: true }))
        .rejects.toMatchObject({ code: 'SERVICE_STATUS' });
      await refused(fixture, { onlyDirectRoutes: 'maybe' }, /onlyDirectRoutes/);
    },
  },
  {
    covers: ['v1-quote.asLegacyTransaction'],
    says: 'a quote for a legacy transaction becomes one, any other a versioned one',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      expect(viewOf((await swapOf(
        fixture, { ...SALE, asLegacyTransaction: true }, { userPublicKey, asLegacyTransaction: true },
      )).swapTransaction).version).toBe('legacy');
      expect(viewOf((await swapOf(fixture, SALE, { userPublicKey })).swapTransaction).version).toBe(0);
      expect(
        (await fixture.service.swapV1.quote({ ...asked(SALE), asLegacyTransaction: true })).asked?.asLegacyTransaction,
      ).toBe(true);
      await refused(fixture, { asLegacyTransaction: 'maybe' }, /asLegacyTransaction/);
    },
  },
  {
    covers: ['v1-quote.platformFeeBps'],
    says: 'a platform\'s fee of 16 bits comes off the output',
    async play(fixture) {
      const [plain, charged] = [await quoteOf(fixture, SALE), await quoteOf(fixture, { ...SALE, platformFeeBps: 250 })];
      expect(BigInt(plain.outAmount) - BigInt(charged.outAmount)).toBe((BigInt(plain.outAmount) * 250n) / 10_000n);
      expect((await fixture.service.swapV1.quote({ ...asked(SALE), platformFeeBps: 250 })).outAmount)
        .toBe(BigInt(charged.outAmount));
      for (const platformFeeBps of [-1, 65_536]) await refused(fixture, { platformFeeBps }, /platformFeeBps/);
    },
  },
  {
    covers: ['v1-quote.maxAccounts', 'limit.maxAccounts'],
    says: 'maxAccounts of a V1 quote is 64 where it is left out, and too few leave no route',
    async play(fixture) {
      const [usual, most] = [await quoteOf(fixture, SALE), await quoteOf(fixture, { ...SALE, maxAccounts: 64 })];
      expect(most.outAmount).toBe(usual.outAmount);
      expect((await fixture.get(PATH, { ...SALE, maxAccounts: 3 })).status).toBe(400);
      expect((await fixture.service.swapV1.quote({ ...asked(SALE), maxAccounts: 64n })).outAmount)
        .toBe(BigInt(usual.outAmount));
      await refused(fixture, { maxAccounts: -1 }, /maxAccounts/);
    },
  },
  {
    covers: ['v1-quote.instructionVersion'],
    says: 'instructions are V1 or V2; a third version is refused by both sides',
    async play(fixture) {
      expect((await quoteOf(fixture, SALE)).routePlan[0].percent).toBe(100);
      for (const [instructionVersion, percent] of [['V1', 100], ['V2', null]] as const) {
        expect((await quoteOf(fixture, { ...SALE, instructionVersion })).routePlan[0].percent).toBe(percent);
        expect((await fixture.service.swapV1.quote({ ...asked(SALE), instructionVersion })).outAmount)
          .toBeGreaterThan(0n);
      }
      await refused(fixture, { instructionVersion: 'V3' }, /instructionVersion/);
    },
  },
  {
    covers: ['v1-quote.dynamicSlippage'],
    says: 'dynamicSlippage is taken and changes nothing of a quote',
    async play(fixture) {
      const [plain, dynamic] =
        [await quoteOf(fixture, SALE), await quoteOf(fixture, { ...SALE, dynamicSlippage: true })];
      expect([dynamic.outAmount, dynamic.slippageBps, dynamic.otherAmountThreshold])
        .toEqual([plain.outAmount, plain.slippageBps, plain.otherAmountThreshold]);
      await refused(fixture, { dynamicSlippage: 'maybe' }, /dynamicSlippage/);
    },
  },
  {
    covers: ['v1-quote.forBundle'],
    says: 'forBundle keeps away from a market that does not go with bundles',
    async play(fixture) {
      // The only pool of CONCH does not, those of PEARL do.
      const sale = (symbol: string): Query =>
        ({ inputMint: fixture.mint(symbol), outputMint: USDC, amount: '5000000', onlyDirectRoutes: true });
      expect((await fixture.get(PATH, { ...sale('CONCH'), forBundle: false })).status).toBe(200);
      expect((await fixture.get(PATH, { ...sale('CONCH'), forBundle: true })).status).toBe(400);
      expect((await fixture.get(PATH, { ...sale('PEARL'), forBundle: true })).status).toBe(200);
      expect((await fixture.service.swapV1.quote({ ...asked(SALE), forBundle: true })).outAmount).toBeGreaterThan(0n);
      await refused(fixture, { forBundle: 'maybe' }, /forBundle/);
    },
  },
];
