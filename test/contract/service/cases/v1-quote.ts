import { expect } from 'vitest';
import type { QuoteRequest } from '../../../../src/service/endpoints/swap-v1.ts';
import type { Case } from '../case.ts';
import { asked, labelsOf, refusedByBoth } from '../scenes.ts';
import { look } from '../transactions.ts';
import type { Answer, Query, World } from '../world.ts';
import { openWorld, SOL, USDC } from '../world.ts';
import { ceilShare, landedV1, quoteOf, SALE, swapOf } from './v1-scenes.ts';

const PATH = '/swap/v1/quote';

function refused(
  world: World, change: Readonly<Record<string, string | number | readonly string[]>>, about: RegExp,
): Promise<void> {
  const wire = Object.fromEntries(Object.entries(change).map(([name, value]) =>
    [name, typeof value === 'object' ? value.join(',') : value]));
  return refusedByBoth(world, {
    theirs: () => world.get(PATH, { ...SALE, ...wire }),
    ours: ({ swapV1 }) => swapV1.quote({ ...asked(SALE), ...change }),
    about,
  });
}

function missed(world: World, name: 'inputMint' | 'outputMint' | 'amount'): Promise<void> {
  const { [name]: _theirs, ...query } = SALE;
  const { [name]: _ours, ...request } = asked(SALE);
  return refusedByBoth(world, {
    theirs: () => world.get(PATH, query), ours: ({ swapV1 }) => swapV1.quote(request as QuoteRequest),
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
    async play(world) {
      for (const { swapInfo } of (await quoteOf(world, SALE)).routePlan)
        expect([swapInfo.feeAmount, swapInfo.feeMint]).toEqual(['0', swapInfo.inputMint]);
      const order = await world.get('/swap/v2/order', SALE);
      for (const { bps, percent, swapInfo } of order.body.routePlan)
        expect([bps, percent, swapInfo.feeAmount]).toEqual([10_000, 100, undefined]);
    },
  },
  {
    covers: ['v1-quote./swap/v1/quote', 'purpose.swap-v1-path', 'version.v1-superseded'],
    says: 'the superseded /quote still answers 200 with a quote',
    async play(world) {
      const answer = await world.get(PATH, SALE);
      expect([answer.status, answer.body.outputMint]).toEqual([200, USDC]);
      expect((await world.service.swapV1.quote(asked(SALE))).outAmount).toBe(BigInt(answer.body.outAmount));
    },
  },
  ...(['inputMint', 'outputMint', 'amount'] as const).map((name): Case => ({
    covers: [`v1-quote.${name}`],
    says: `a V1 quote without ${name}, or with one that makes no sense, is refused`,
    async play(world) {
      await missed(world, name);
      const quote = await quoteOf(world, SALE);
      expect([quote.inputMint, quote.outputMint, quote.inAmount]).toEqual([SOL, USDC, SALE.amount]);
      for (const value of ['?', '-1', '1.5'])
        expect((await world.get(PATH, { ...SALE, [name]: value })).status).toBe(400);
      expect((await world.get(PATH, { ...SALE, amount: '18446744073709551616' })).status).toBe(400);
    },
  })),
  {
    covers: ['v1-quote.amount-by-mode', 'v1-quote.swapMode', 'v1-quote.slippage-by-mode'],
    says: 'ExactIn fixes the input and takes slippage off the output, ExactOut the other way round; a third mode is refused',
    async play(world) {
      const exactIn = await quoteOf(world, { ...SALE, swapMode: 'ExactIn', slippageBps: 100 });
      expect([exactIn.swapMode, exactIn.inAmount]).toEqual(['ExactIn', SALE.amount]);
      expect(BigInt(exactIn.otherAmountThreshold)).toBe(ceilShare(exactIn.outAmount, 9_900));
      const wanted = { inputMint: SOL, outputMint: USDC, amount: '20000000', swapMode: 'ExactOut' } as const;
      const exactOut = await quoteOf(world, { ...wanted, slippageBps: 100 });
      expect([exactOut.swapMode, exactOut.outAmount]).toEqual(['ExactOut', '20000000']);
      const most = BigInt(exactOut.otherAmountThreshold);
      expect(most).toBeGreaterThan(BigInt(exactOut.inAmount));
      expect(Number(most) / Number(exactOut.inAmount)).toBeCloseTo(1.01, 6);
      const read = await world.service.swapV1.quote({ ...asked(wanted), swapMode: 'ExactOut', slippageBps: 100 });
      expect([read.outAmount, read.inAmount, read.threshold]).toEqual([20_000_000n, BigInt(exactOut.inAmount), most]);
      await refused(world, { swapMode: 'ExactBoth' }, /swapMode/);
    },
  },
  {
    covers: ['v1-quote.exact-out-of-few'],
    says: 'ExactOut is known to some markets only: where none on the way knows it, there is no route',
    async play(world) {
      const wanted = { outputMint: USDC, amount: '1000000', onlyDirectRoutes: true };
      const by = (symbol: string, swapMode: string): Promise<Answer> =>
        world.get(PATH, { ...wanted, inputMint: world.mint(symbol), swapMode });
      // The pool of PEARL knows it, that of CONCH does not.
      expect([(await by('PEARL', 'ExactOut')).status, (await by('CONCH', 'ExactIn')).status]).toEqual([200, 200]);
      const none = await by('CONCH', 'ExactOut');
      expect([none.status, none.body.errorCode]).toEqual([400, expect.stringMatching(/^[A-Z_]+$/)]);
      const ours = world.service.swapV1.quote({
        ...asked({ ...wanted, inputMint: world.mint('CONCH') }), swapMode: 'ExactOut', onlyDirectRoutes: true,
      });
      await expect(ours)
        .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 400, serviceCode: none.body.errorCode } });
    },
  },
  {
    covers: ['v1-quote.slippageBps'],
    says: 'slippage of a V1 quote is a whole number of 16 bits',
    async play(world) {
      for (const slippageBps of [0, 10_000])
        expect((await quoteOf(world, { ...SALE, slippageBps })).slippageBps).toBe(slippageBps);
      for (const slippageBps of [-1, 65_536, 0.5]) await refused(world, { slippageBps }, /slippageBps/);
    },
  },
  {
    covers: ['v1-quote.dexes'],
    says: 'dexes are the only markets of a V1 route; with excludeDexes beside them it is refused by both sides',
    async play(world) {
      for (const label of ['Tidepool', 'Lagoon']) {
        expect(new Set(labelsOf(await quoteOf(world, { ...SALE, dexes: label })))).toEqual(new Set([label]));
        expect((await world.service.swapV1.quote({ ...asked(SALE), dexes: [label] })).routePlan[0]?.swapInfo.label)
          .toBe(label);
      }
      await refused(world, { dexes: ['Lagoon'], excludeDexes: ['Tidepool'] }, /dexes/i);
    },
  },
  {
    covers: ['v1-quote.excludeDexes'],
    says: 'a V1 route keeps away from excluded markets',
    async play(world) {
      const [usual = ''] = labelsOf(await quoteOf(world, SALE));
      expect(labelsOf(await quoteOf(world, { ...SALE, excludeDexes: usual }))).not.toContain(usual);
      const { routePlan } = await world.service.swapV1.quote({ ...asked(SALE), excludeDexes: [usual] });
      expect(routePlan.map(({ swapInfo }) => swapInfo.label)).not.toContain(usual);
    },
  },
  {
    covers: ['v1-quote.restrictIntermediateTokens'],
    says: 'between the ends stand the steadier tokens alone, unless the restriction is lifted',
    async play(world) {
      // In a world of its own: the pools of SOL and USDC are sold full of SOL, so that a way through PEARL pays better.
      const own = await openWorld({ dialect: world.dialect.name, profile: world.profile });
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
      await refused(world, { restrictIntermediateTokens: 'maybe' }, /restrictIntermediateTokens/);
    },
  },
  {
    covers: ['v1-quote.onlyDirectRoutes'],
    says: 'onlyDirectRoutes leaves routes of one hop, and none where there is no such pool',
    async play(world) {
      expect((await quoteOf(world, { ...SALE, onlyDirectRoutes: true })).routePlan).toHaveLength(1);
      const long = { inputMint: world.mint('KELP'), outputMint: world.mint('BUOY'), amount: '5000000000' };
      expect((await quoteOf(world, long)).routePlan.length).toBeGreaterThan(1);
      const none = await world.get(PATH, { ...long, onlyDirectRoutes: true });
      expect([none.status, none.body.errorCode])
        .toEqual([400, expect.stringMatching(/^(NO_ROUTES_FOUND|COULD_NOT_FIND_ANY_ROUTE)$/)]);
      await expect(world.service.swapV1.quote({ ...asked(long), onlyDirectRoutes: true }))
        .rejects.toMatchObject({ code: 'SERVICE_STATUS' });
      await refused(world, { onlyDirectRoutes: 'maybe' }, /onlyDirectRoutes/);
    },
  },
  {
    covers: ['v1-quote.asLegacyTransaction'],
    says: 'a quote for a legacy transaction becomes one, any other a versioned one',
    async play(world) {
      const userPublicKey = world.wallet.address;
      expect(look((await swapOf(
        world, { ...SALE, asLegacyTransaction: true }, { userPublicKey, asLegacyTransaction: true },
      )).swapTransaction).version).toBe('legacy');
      expect(look((await swapOf(world, SALE, { userPublicKey })).swapTransaction).version).toBe(0);
      expect(
        (await world.service.swapV1.quote({ ...asked(SALE), asLegacyTransaction: true })).asked?.asLegacyTransaction,
      ).toBe(true);
      await refused(world, { asLegacyTransaction: 'maybe' }, /asLegacyTransaction/);
    },
  },
  {
    covers: ['v1-quote.platformFeeBps'],
    says: 'a platform\'s fee of 16 bits comes off the output',
    async play(world) {
      const [plain, charged] = [await quoteOf(world, SALE), await quoteOf(world, { ...SALE, platformFeeBps: 250 })];
      expect(BigInt(plain.outAmount) - BigInt(charged.outAmount)).toBe((BigInt(plain.outAmount) * 250n) / 10_000n);
      expect((await world.service.swapV1.quote({ ...asked(SALE), platformFeeBps: 250 })).outAmount)
        .toBe(BigInt(charged.outAmount));
      for (const platformFeeBps of [-1, 65_536]) await refused(world, { platformFeeBps }, /platformFeeBps/);
    },
  },
  {
    covers: ['v1-quote.maxAccounts', 'limit.maxAccounts'],
    says: 'maxAccounts of a V1 quote is 64 where it is left out, and too few leave no route',
    async play(world) {
      const [usual, most] = [await quoteOf(world, SALE), await quoteOf(world, { ...SALE, maxAccounts: 64 })];
      expect(most.outAmount).toBe(usual.outAmount);
      expect((await world.get(PATH, { ...SALE, maxAccounts: 3 })).status).toBe(400);
      expect((await world.service.swapV1.quote({ ...asked(SALE), maxAccounts: 64n })).outAmount)
        .toBe(BigInt(usual.outAmount));
      await refused(world, { maxAccounts: -1 }, /maxAccounts/);
    },
  },
  {
    covers: ['v1-quote.instructionVersion'],
    says: 'instructions are V1 or V2; a third version is refused by both sides',
    async play(world) {
      expect((await quoteOf(world, SALE)).routePlan[0].percent).toBe(100);
      for (const [instructionVersion, percent] of [['V1', 100], ['V2', null]] as const) {
        expect((await quoteOf(world, { ...SALE, instructionVersion })).routePlan[0].percent).toBe(percent);
        expect((await world.service.swapV1.quote({ ...asked(SALE), instructionVersion })).outAmount)
          .toBeGreaterThan(0n);
      }
      await refused(world, { instructionVersion: 'V3' }, /instructionVersion/);
    },
  },
  {
    covers: ['v1-quote.dynamicSlippage'],
    says: 'dynamicSlippage is taken and changes nothing of a quote',
    async play(world) {
      const [plain, dynamic] = [await quoteOf(world, SALE), await quoteOf(world, { ...SALE, dynamicSlippage: true })];
      expect([dynamic.outAmount, dynamic.slippageBps, dynamic.otherAmountThreshold])
        .toEqual([plain.outAmount, plain.slippageBps, plain.otherAmountThreshold]);
      await refused(world, { dynamicSlippage: 'maybe' }, /dynamicSlippage/);
    },
  },
  {
    covers: ['v1-quote.forBundle'],
    says: 'forBundle keeps away from a market that does not go with bundles',
    async play(world) {
      // The only pool of CONCH does not, those of PEARL do.
      const sale = (symbol: string): Query =>
        ({ inputMint: world.mint(symbol), outputMint: USDC, amount: '5000000', onlyDirectRoutes: true });
      expect((await world.get(PATH, { ...sale('CONCH'), forBundle: false })).status).toBe(200);
      expect((await world.get(PATH, { ...sale('CONCH'), forBundle: true })).status).toBe(400);
      expect((await world.get(PATH, { ...sale('PEARL'), forBundle: true })).status).toBe(200);
      expect((await world.service.swapV1.quote({ ...asked(SALE), forBundle: true })).outAmount).toBeGreaterThan(0n);
      await refused(world, { forBundle: 'maybe' }, /forBundle/);
    },
  },
];
