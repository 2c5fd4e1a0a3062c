import { expect } from 'vitest';
import type { Case, FieldCheck } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS, DIGITS } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import type { AccountScene } from './prediction-account-scene.ts';
import { accountScene } from './prediction-account-scene.ts';
import { isUnix } from './prediction-scenes.ts';
import type { HistoryRecord } from '../../../../../src/market/prediction.ts';

type Body = Answer['body'];

const SIGNED = /^-?\d+$/;

type Entry = AccountScene['records'][number];

const entry = (says: string, check: (record: Entry, scene: AccountScene) => void): FieldCheck<AccountScene> =>
  [says, (scene) => {
    expect(scene.records.length).toBeGreaterThan(20);
    for (const record of scene.records) check(record, scene);
  }];

const entryText = (name: 'signature' | 'orderPubkey' | 'positionPubkey' | 'marketId' | 'ownerPubkey' | 'keeperPubkey'
  | 'externalOrderId' | 'orderId' | 'eventId', says: string, form?: RegExp): FieldCheck<AccountScene> =>
  entry(says, ({ wire, read }) => {
    expect(typeof wire[name]).toBe('string');
    if (form !== undefined && wire[name] !== '') expect(wire[name]).toMatch(form);
    expect(read[name]).toBe(wire[name] === '' ? undefined : wire[name]);
  });

/** Money of the ledger: digits that our client has as whole millionths; a price of 0 is none. */
const entryMoney = (
  name: keyof HistoryRecord, says: string, types: readonly string[], check: (wire: Body) => void = () => {},
): FieldCheck<AccountScene> => [says, ({ records }) => {
  for (const { wire, read } of records) {
    expect(wire[name], `${wire.eventType} ${wire.id}`).toMatch(SIGNED);
    if (wire[name] !== '0') expect(read[name]).toBe(BigInt(wire[name]));
  }
  const some = records.filter(({ wire }) => types.includes(wire.eventType) && wire[name] !== '0');
  expect(some.length).toBeGreaterThan(0);
  for (const { wire } of some) check(wire);
}];

const number = (value: string): number => Number(value);

const history: Readonly<Record<string, FieldCheck<AccountScene>>> = {
  id: ['a whole number, falling: the newest comes first', ({ records }) => {
    const ids = records.map(({ wire }) => wire.id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    for (const { wire, read } of records) expect([Number.isSafeInteger(wire.id), read.id]).toEqual([true, wire.id]);
  }],
  eventType: ['order_created and its like', ({ records }) => {
    const types = new Set(records.map(({ wire }) => wire.eventType));
    expect([...types]).toEqual(expect.arrayContaining(['order_created', 'order_filled', 'order_closed']));
    for (const { wire, read } of records) expect(read.eventType).toBe(wire.eventType);
  }],
  signature: entryText('signature', 'a transaction\'s signature', /^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
  slot: entry('digits', ({ wire, read }) => {
    expect(wire.slot).toMatch(SIGNED);
    if (DIGITS.test(wire.slot)) expect(read.slot).toBe(BigInt(wire.slot));
  }),
  timestamp: ['Unix seconds, never rising', ({ records }) => {
    const times = records.map(({ wire }) => wire.timestamp);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    for (const { wire, read } of records)
      expect([isUnix(wire.timestamp), read.timestamp]).toEqual([true, wire.timestamp * 1_000]);
  }],
  orderPubkey: entryText('orderPubkey', 'an order\'s address, empty where there was no order', ADDRESS),
  positionPubkey: entryText('positionPubkey', 'a position\'s address', ADDRESS),
  marketId: entryText('marketId', 'a market\'s identifier', /./),
  ownerPubkey: entry('who was asked for', ({ wire, read }, { owner }) =>
    expect([wire.ownerPubkey, read.ownerPubkey]).toEqual([owner, owner])),
  keeperPubkey: entryText('keeperPubkey', 'the filler of the order, empty where it was not filled', ADDRESS),
  externalOrderId: entryText('externalOrderId', 'the order\'s identifier outside', /./),
  orderId: entryText('orderId', 'the order\'s number', DIGITS),
  isBuy: ['true and false both', ({ records }) => {
    expect(new Set(records.map(({ wire }) => wire.isBuy))).toEqual(new Set([true, false]));
    for (const { wire, read } of records) expect(read.isBuy).toBe(wire.isBuy);
  }],
  isYes: ['true and false both', ({ records }) => {
    expect(new Set(records.map(({ wire }) => wire.isYes))).toEqual(new Set([true, false]));
    for (const { wire, read } of records) expect(read.isYes).toBe(wire.isYes);
  }],
  contracts: entryMoney('contracts', 'digits: what was ordered', ['order_created']),
  filledContracts: entryMoney('filledContracts', 'digits: what was filled, no more than was ordered', ['order_filled'],
    (wire) => {
      expect(number(wire.filledContracts)).toBeLessThanOrEqual(number(wire.contracts));
    }),
  contractsSettled: entryMoney('contractsSettled', 'digits: what was settled', ['payout_claimed', 'position_lost']),
  maxFillPriceUsd: entryMoney('maxFillPriceUsd', 'digits: the dearest fill', ['order_filled'], (wire) =>
    expect(number(wire.maxFillPriceUsd)).toBeGreaterThanOrEqual(number(wire.avgFillPriceUsd))),
  avgFillPriceUsd: entryMoney('avgFillPriceUsd', 'digits, below a dollar', ['order_filled'], (wire) =>
    expect(number(wire.avgFillPriceUsd)).toBeLessThan(1_000_000)),
  maxBuyPriceUsd: entryMoney('maxBuyPriceUsd', 'digits: the limit of a purchase', ['order_created', 'order_filled'], (
    wire,
  ) => expect(wire.isBuy).toBe(true)),
  minSellPriceUsd: entryMoney('minSellPriceUsd', 'digits: the limit of a sale', ['order_created', 'order_filled'], (
    wire,
  ) => expect(wire.isBuy).toBe(false)),
  depositAmountUsd: entryMoney('depositAmountUsd', 'digits: what a purchase paid in', ['order_created'], (wire) =>
    expect(wire.isBuy).toBe(true)),
  totalCostUsd: entryMoney('totalCostUsd', 'digits: what a fill cost', ['order_filled']),
  feeUsd: entryMoney('feeUsd', 'digits: what the venue took', ['order_filled']),
  grossProceedsUsd: entryMoney('grossProceedsUsd', 'digits: what a sale brought', ['order_filled'], (wire) =>
    expect(wire.isBuy).toBe(false)),
  netProceedsUsd: entryMoney('netProceedsUsd', 'proceeds less the fee', ['order_filled'], (wire) =>
    expect(BigInt(wire.netProceedsUsd)).toBe(BigInt(wire.grossProceedsUsd) - BigInt(wire.feeUsd))),
  transferAmountToken: entryMoney(
    'transferAmountToken', 'digits: what came back to the wallet', ['order_closed', 'payout_claimed', 'order_failed'],
  ),
  realizedPnl: entryMoney('realizedPnl', 'signed digits', ['payout_claimed', 'position_lost', 'order_filled']),
  realizedPnlBeforeFees: entryMoney('realizedPnlBeforeFees', 'signed digits, no less than after fees',
    ['payout_claimed', 'position_lost', 'order_filled'], (wire) => {
      expect(number(wire.realizedPnlBeforeFees)).toBeGreaterThanOrEqual(number(wire.realizedPnl));
    }),
  payoutAmountUsd: entryMoney('payoutAmountUsd', 'digits: what was paid out', ['payout_claimed']),
  eventId: entryText('eventId', 'the event\'s', /./),
  marketMetadata: entry('the market\'s words, with its eventId', ({ wire, read }) => {
    expect(wire.marketMetadata)
      .toMatchObject({ marketId: wire.marketId, eventId: wire.eventId, title: expect.any(String) });
    expect(read.marketMetadata?.eventId).toBe(wire.eventId);
  }),
  eventMetadata: entry('the event\'s words', ({ wire, read }) => {
    expect(wire.eventMetadata.eventId).toBe(wire.eventId);
    expect(read.eventMetadata?.eventId).toBe(wire.eventId);
  }),
};

export const predictionHistoryCases: readonly Case[] = [
  ...fieldCases({ prefix: 'history', load: accountScene }, history),
  ...fieldCases({ prefix: 'market-metadata', load: accountScene }, {
    eventId: ['there in positions and in the history', ({ positions, records }) => {
      for (const { wire } of [...positions, ...records]) expect(wire.marketMetadata.eventId).toBe(wire.eventId);
    }],
  }),
  ...fieldCases({ prefix: 'events', load: accountScene }, {
    ledger: ['every record says what happened', ({ records }) => {
      for (const { wire } of records) expect(wire.eventType).toMatch(/^[a-z]+(_[a-z]+)+$/);
    }],
    order_created: ['an order begins with it, and what follows has its key', ({ records }) => {
      const created = new Set(records.filter(({ wire }) => wire.eventType === 'order_created').map(({ wire }) =>
        wire.orderPubkey));
      const filled = records.filter(({ wire }) => wire.eventType === 'order_filled');
      expect(filled.length).toBeGreaterThan(0);
      for (const { wire } of filled.slice(0, -2)) expect(created).toContain(wire.orderPubkey);
    }],
    'other-event-types': ['the others come too, and our client takes them as they are', ({ records }) => {
      const types = new Set(records.map(({ read }) => read.eventType));
      expect(types.size).toBeGreaterThan(3);
      for (const type of types) {
        expect([
          'order_created', 'order_filled', 'order_failed', 'order_closed', 'payout_claimed', 'position_updated',
          'position_lost',
        ]).toContain(type);
      }
    }],
  }),
];
