import { expect } from 'vitest';
import type { Case, FieldCheck } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS, DIGITS } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import type { AccountScene } from './prediction-account-scene.ts';
import { accountScene } from './prediction-account-scene.ts';
import { isUnix } from './prediction-scenes.ts';

type Body = Answer['body'];

const SIGNED = /^-?\d+$/;

type Each = AccountScene['positions'][number];

const each = (says: string, check: (position: Each, scene: AccountScene) => void): FieldCheck<AccountScene> =>
  [says, (scene) => {
    expect(scene.positions.length).toBeGreaterThan(4);
    for (const position of scene.positions) check(position, scene);
  }];

/** Money that is there while the market is open, and null afterwards. */
const whileOpen = (
  name: 'valueUsd' | 'markPriceUsd' | 'pnlUsd' | 'pnlUsdAfterFees', says: string, check: (wire: Body) => void,
): FieldCheck<AccountScene> => [
  `${says}; null once the market is closed`, ({ open, closed }) => {
    expect([open.length > 0, closed.length > 0]).toEqual([true, true]);
    for (const { wire, read } of open) {
      expect(wire[name]).toMatch(SIGNED);
      if (name !== 'markPriceUsd' || wire[name] !== '0') expect(read[name]).toBe(BigInt(wire[name]));
      check(wire);
    }
    for (const { wire, read } of closed) expect([wire[name], read[name]]).toEqual([null, undefined]);
  },
];

const percentWhileOpen =
  (name: 'pnlUsdPercent' | 'pnlUsdAfterFeesPercent', of: (wire: Body) => number): FieldCheck<AccountScene> => [
    'percent, a number; null once the market is closed', ({ open, closed }) => {
      for (const { wire, read } of open) {
        expect(wire[name]).toBeCloseTo(of(wire), 1);
        expect(read[name]).toBe(wire[name]);
      }
      for (const { wire, read } of closed) expect([wire[name], read[name]]).toEqual([null, undefined]);
    },
  ];

const money = (
  name: 'totalCostUsd' | 'avgPriceUsd' | 'feesPaidUsd' | 'claimedUsd' | 'payoutUsd' | 'sizeUsd', says: string,
  check: (wire: Body) => void = () => {},
): FieldCheck<AccountScene> =>
  each(says, ({ wire, read }) => {
    expect(wire[name]).toMatch(DIGITS);
    expect(read[name]).toBe(BigInt(wire[name]));
    check(wire);
  });

const instant = (
  name: 'openedAt' | 'updatedAt' | 'claimableAt' | 'settlementDate', says: string,
): FieldCheck<AccountScene> => each(says, ({ wire, read }) => {
  const known = wire[name] !== null;
  if (known) expect(isUnix(wire[name])).toBe(true);
  expect(read[name]).toBe(known ? wire[name] * 1_000 : undefined);
});

const position: Readonly<Record<string, FieldCheck<AccountScene>>> = {
  'single-has-all': ['one position has every member of the description, as the element of the list has',
    ({ single, positions }) => {
      expect(single).toEqual(positions[0]!.wire);
      expect(Object.keys(single))
        .toEqual(expect.arrayContaining(Object.keys(position).filter((name) => name !== 'single-has-all')));
    }],
  pubkey: each('an address, another one for each', ({ wire, read }) =>
    expect([wire.pubkey, read.pubkey]).toEqual([expect.stringMatching(ADDRESS), wire.pubkey])),
  owner: each('who was asked for', ({ wire, read }, { owner }) =>
    expect([wire.owner, read.owner]).toEqual([owner, owner])),
  ownerPubkey: each('the same again', ({ wire, read }, { owner }) =>
    expect([wire.ownerPubkey, read.ownerPubkey]).toEqual([owner, owner])),
  market: ['an address that follows from marketId', ({ positions }) => {
    const byMarket = new Map(positions.map(({ wire }) => [wire.marketId, wire.market]));
    for (const { wire } of positions)
      expect([wire.market, byMarket.get(wire.marketId)]).toEqual([expect.stringMatching(ADDRESS), wire.market]);
    expect(new Set(byMarket.values()).size).toBe(byMarket.size);
  }],
  marketId: each('of its market\'s metadata', ({ wire, read }) =>
    expect([wire.marketMetadata.marketId, read.marketId]).toEqual([wire.marketId, wire.marketId])),
  marketIdHash: each('32 bytes in hex or base58', ({ wire, read }) => {
    expect(wire.marketIdHash).toMatch(/^[0-9a-f]{64}$|^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    expect(read.marketIdHash).toBe(wire.marketIdHash);
  }),
  isYes: ['true and false both', ({ positions }) => {
    expect(new Set(positions.map(({ wire }) => wire.isYes))).toEqual(new Set([true, false]));
    for (const { wire, read } of positions) expect(read.isYes).toBe(wire.isYes);
  }],
  contracts: each('digits', ({ wire, read }) => {
    expect(wire.contracts).toMatch(DIGITS);
    expect(read.contracts).toBe(BigInt(wire.contracts));
  }),
  totalCostUsd: money('totalCostUsd', 'digits: about the price times the contracts', (wire) => {
    expect(Number(wire.totalCostUsd) / (Number(wire.contracts) * Number(wire.avgPriceUsd))).toBeCloseTo(1, 1);
  }),
  sizeUsd: money('sizeUsd', 'the same as totalCostUsd', (wire) => expect(wire.sizeUsd).toBe(wire.totalCostUsd)),
  valueUsd: whileOpen('valueUsd', 'mark times contracts', (wire) =>
    expect(Number(wire.valueUsd)).toBeCloseTo(Number(wire.markPriceUsd) * Number(wire.contracts), -6)),
  avgPriceUsd: money('avgPriceUsd', 'digits, below a dollar', (wire) =>
    expect(Number(wire.avgPriceUsd)).toBeLessThan(1_000_000)),
  markPriceUsd: whileOpen('markPriceUsd', 'below a dollar', (wire) =>
    expect(Number(wire.markPriceUsd)).toBeLessThan(1_000_000)),
  sellPriceUsd: each('the best bid for this side; null where there is none', ({ wire, read }) => {
    expect(wire.sellPriceUsd === null || DIGITS.test(wire.sellPriceUsd)).toBe(true);
    expect(read.sellPriceUsd).toBe(wire.sellPriceUsd === null ? undefined : BigInt(wire.sellPriceUsd));
  }),
  pnlUsd: whileOpen('pnlUsd', 'value less cost', (wire) =>
    expect(BigInt(wire.pnlUsd)).toBe(BigInt(wire.valueUsd) - BigInt(wire.totalCostUsd))),
  pnlUsdPercent: percentWhileOpen('pnlUsdPercent', (wire) => (100 * Number(wire.pnlUsd)) / Number(wire.sizeUsd)),
  pnlUsdAfterFees: whileOpen('pnlUsdAfterFees', 'profit less fees', (wire) =>
    expect(BigInt(wire.pnlUsdAfterFees)).toBe(BigInt(wire.pnlUsd) - BigInt(wire.feesPaidUsd))),
  pnlUsdAfterFeesPercent: percentWhileOpen('pnlUsdAfterFeesPercent', (wire) =>
    (100 * Number(wire.pnlUsdAfterFees)) / (Number(wire.sizeUsd) + Number(wire.feesPaidUsd))),
  openOrders: each('a whole number from 0', ({ wire, read }) => {
    expect([Number.isSafeInteger(wire.openOrders), read.openOrders]).toEqual([true, wire.openOrders]);
    expect(wire.openOrders).toBeGreaterThanOrEqual(0);
  }),
  feesPaidUsd: money('feesPaidUsd', 'digits'),
  realizedPnlUsd: each('a number, not a text', ({ wire, read }) =>
    expect([Number.isSafeInteger(wire.realizedPnlUsd), read.realizedPnlUsd])
      .toEqual([true, BigInt(wire.realizedPnlUsd)])),
  claimed: each('a boolean; what is claimed has an amount', ({ wire, read }) => {
    expect([typeof wire.claimed, read.claimed]).toEqual(['boolean', wire.claimed]);
    if (!wire.claimed) expect(wire.claimedUsd).toBe('0');
  }),
  claimedUsd: money('claimedUsd', 'digits, 0 until it is claimed'),
  openedAt: instant('openedAt', 'Unix seconds'),
  updatedAt: instant('updatedAt', 'Unix seconds, not before it was opened'),
  claimableAt: instant('claimableAt', 'Unix seconds, or null'),
  payoutUsd: money('payoutUsd', 'a dollar for each contract', (wire) =>
    expect(Number(wire.payoutUsd) / 1e6 - Number(wire.contracts)).toBeLessThan(1)),
  bump: each('a whole number from 0 to 255', ({ wire, read }) => {
    expect([Number.isSafeInteger(wire.bump) && wire.bump >= 0 && wire.bump <= 255, read.bump])
      .toEqual([true, wire.bump]);
  }),
  eventId: each('the event\'s', ({ wire, read }) =>
    expect([wire.eventMetadata.eventId, read.eventId]).toEqual([wire.eventId, wire.eventId])),
  eventMetadata: each('the event\'s words', ({ wire, read }) => {
    expect(wire.eventMetadata).toMatchObject({
      title: expect.any(String), slug: expect.any(String), closeTime: expect.any(String), isLive: expect.any(Boolean),
    });
    expect(read.eventMetadata?.title).toBe(wire.eventMetadata.title.slice(0, 200));
  }),
  marketMetadata: each('the market\'s words, with its eventId', ({ wire, read }) => {
    expect(wire.marketMetadata).toMatchObject({
      title: expect.any(String), eventId: wire.eventId, openTime: expect.any(Number), isTeamMarket: expect.any(Boolean),
    });
    expect(read.marketMetadata?.eventId).toBe(wire.eventId);
  }),
  settlementDate: instant('settlementDate', 'Unix seconds, or null'),
  claimable: ['true where a payout waits', ({ positions }) => {
    for (const { wire, read } of positions) {
      expect([typeof wire.claimable, read.claimable]).toEqual(['boolean', wire.claimable]);
      if (wire.claimable) expect([wire.claimed, wire.claimableAt === null]).toEqual([false, false]);
    }
  }],
};

export const predictionPositionCases: readonly Case[] =
  fieldCases({ prefix: 'position', load: accountScene }, position);
