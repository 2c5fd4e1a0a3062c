import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { parseJson } from '../../../src/core/json.ts';
import { HISTORY } from '../../../src/service/wire/prediction-history.ts';
import { readPage } from '../../../src/service/endpoints/paged-list.ts';
import { readPosition } from '../../../src/service/wire/prediction-position.ts';
import { readRecords } from '../../../src/service/wire/read.ts';
import {
  historyAnswer, liveHistoryAnswer, livePositionAnswer, ORDER, OWNER, POSITION, positionAnswer,
} from '../endpoints/prediction-answers.ts';

const MALFORMED = expect.objectContaining({ code: 'SERVICE_MALFORMED' }) as Error;
const read = (answer: Record<string, unknown>) => readPosition(answer as Json, POSITION);
const readRecord = (answer: Record<string, unknown>) => {
  const { records, rejected } = readRecords(HISTORY, [answer] as Json);
  expect(rejected).toEqual([]);
  return records[0]!;
};

const EVENT = {
  eventId: 'TIDES', title: 'Tides of the week', subtitle: undefined, slug: undefined, series: undefined,
  closeTime: Date.UTC(2026, 6, 20), imageUrl: undefined, isLive: true,
};
const MARKET = {
  marketId: 'TIDES-1', eventId: 'TIDES', title: 'The tide comes in', status: 'open', result: undefined,
  closeTime: 1_790_000_000_000, openTime: 1_780_000_000_000,
  isTeamMarket: undefined, rulesPrimary: undefined, rulesSecondary: undefined,
};

describe('a position', () => {
  test('is read in every field of the reference, its money exact', () => {
    expect(read(positionAnswer({ claimableAt: 1_790_000_001 }))).toEqual({
      pubkey: POSITION, owner: OWNER, ownerPubkey: OWNER, market: 'Mrkt1111111111111111111111111111111111111111',
      marketId: 'TIDES-1', marketIdHash: '00112233445566778899aabbccddeeff', isYes: true, contracts: 12n,
      contractsMicro: 12_000_000n, totalCostUsd: 2_520_000n, sizeUsd: 2_520_000n,
      valueUsd: 2_280_000n, avgPriceUsd: 210_000n, markPriceUsd: 190_000n, sellPriceUsd: 190_000n, pnlUsd: -240_000n,
      pnlUsdPercent: -9.52, pnlUsdAfterFees: -380_000n, pnlUsdAfterFeesPercent: -14.28, openOrders: 1,
      feesPaidUsd: 140_000n, realizedPnlUsd: -5n, claimed: false, claimedUsd: 0n,
      openedAt: 1_783_240_590_000, updatedAt: 1_783_240_600_000, claimableAt: 1_790_000_001_000, payoutUsd: 12_000_000n,
      bump: 255, eventId: 'TIDES',
      eventMetadata: EVENT, marketMetadata: MARKET, settlementDate: 1_790_000_000_000, claimable: false,
    });
  });

  test('holds exactly as much as the host says where it says it exactly', () => {
    expect(read(livePositionAnswer())).toMatchObject({
      contracts: 12n, contractsMicro: 12_660_000n, eventMetadata: { closeTime: 1_784_505_600_000 },
      marketMetadata: { status: 'yes', result: 'yes' },
    });
    expect(read(livePositionAnswer({ contractsMicro: null })))
      .toMatchObject({ contracts: 12n, contractsMicro: 12_660_000n });
    expect(read(livePositionAnswer({ contracts: undefined, contractsDecimal: undefined })))
      .toMatchObject({ contracts: 12n, contractsMicro: 12_660_000n });
  });

  test('of a closed market has no value, no mark and no unrealised profit', () => {
    const closed = {
      valueUsd: null, markPriceUsd: null, sellPriceUsd: null, pnlUsd: null, pnlUsdPercent: null, pnlUsdAfterFees: null,
      pnlUsdAfterFeesPercent: null,
    };
    const absent = Object.fromEntries(Object.keys(closed).map((name) => [name, undefined]));
    expect(read(positionAnswer(closed))).toMatchObject(absent);
    expect(read(positionAnswer(absent))).toEqual(read(positionAnswer(closed)));
  });

  test('has no price where the service says 0', () => {
    expect(read(positionAnswer({ avgPriceUsd: '0', markPriceUsd: '0', sellPriceUsd: 0 })))
      .toMatchObject({ avgPriceUsd: undefined, markPriceUsd: undefined, sellPriceUsd: undefined });
  });

  test('counts money beyond 2^53, as digits and as a number', () => {
    const text = JSON.stringify(positionAnswer(
      { totalCostUsd: `${2n ** 128n - 1n}`, sizeUsd: undefined, pnlUsd: `-${2n ** 127n}`, realizedPnlUsd: '#' },
    )).replace('"#"', '-9223372036854775808');
    expect(readPosition(parseJson(text), POSITION)).toMatchObject({
      totalCostUsd: 2n ** 128n - 1n, sizeUsd: 2n ** 128n - 1n, pnlUsd: -(2n ** 127n), realizedPnlUsd: -(2n ** 63n),
    });
    expect(read(positionAnswer({ realizedPnlUsd: '-17' })).realizedPnlUsd).toBe(-17n);
  });

  test('may be wrapped', () => {
    expect(readPosition({ data: positionAnswer() } as Json, POSITION)).toEqual(read(positionAnswer()));
  });

  test.each<[string, Record<string, unknown>]>([
    ['of another key', positionAnswer({ pubkey: ORDER })],
    ['of two owners', positionAnswer({ owner: ORDER })],
    ['of two sizes', positionAnswer({ sizeUsd: '2520001' })],
    ['of an unknown side', positionAnswer({ isYes: null })],
    ['without contracts', positionAnswer({ contracts: null })],
    ['of two exact numbers of contracts', livePositionAnswer({ contractsDecimal: '12.67' })],
  ])('%s is malformed', (_name, answer) => {
    expect(() => read(answer)).toThrow(MALFORMED);
  });

  test.each<[string, Record<string, unknown>]>([
    ['a negative cost', { totalCostUsd: '-1', sizeUsd: '-1' }], ['money in dollars', { valueUsd: '2.28' }],
    ['money beyond 128 bits', { pnlUsd: `${2n ** 128n}` }], ['a mark above one dollar', { markPriceUsd: '1000001' }],
    ['half an order', { openOrders: 0.5 }], ['a negative number of orders', { openOrders: -1 }],
  ])('with %s lacks that alone', (_name, changes) => {
    const nothing = Object.fromEntries(Object.keys(changes).map((name) => [name, undefined]));
    expect(read(positionAnswer(changes))).toEqual({ ...read(positionAnswer()), ...nothing });
  });

  test.each<[string, Json]>([
    ['null', null], ['a list', []], ['a word', 'closed'],
  ])('that is %s is malformed', (_name, answer) => {
    expect(() => readPosition(answer, POSITION)).toThrow(MALFORMED);
  });
});

describe('an entry of the ledger', () => {
  test('is read in every field of the reference', () => {
    expect(readRecord(historyAnswer(7, { minSellPriceUsd: '1' }))).toEqual({
      id: 7, eventType: 'order_filled', signature: '5'.repeat(87), slot: 430_000_017n, timestamp: 1_783_300_349_000,
      orderPubkey: ORDER, positionPubkey: POSITION, marketId: 'TIDES-1', ownerPubkey: OWNER,
      keeperPubkey: 'Keep1111111111111111111111111111111111111111', externalOrderId: 'e-1', orderId: '0x0d17',
      isBuy: true,
      isYes: true, contracts: 31n, contractsMicro: 31_000_000n, filledContracts: 26n, filledContractsMicro: 26_000_000n,
      contractsSettled: 0n, contractsSettledMicro: 0n, maxFillPriceUsd: 150_000n, avgFillPriceUsd: 169_990n,
      maxBuyPriceUsd: 150_000n, minSellPriceUsd: 1n, depositAmountUsd: 5_000_000n, totalCostUsd: 4_460_000n,
      feeUsd: 258_000n, grossProceedsUsd: 0n, netProceedsUsd: 0n, transferAmountToken: 282_000n,
      realizedPnl: -4_718_000n, realizedPnlBeforeFees: -4_460_000n,
      payoutAmountUsd: 0n, eventId: 'TIDES', eventMetadata: EVENT, marketMetadata: MARKET,
    });
  });

  test('in the form that hosts send is exact, and has neither empty keys nor prices of 0', () => {
    expect(readRecord(liveHistoryAnswer(8))).toMatchObject({
      eventType: 'position_lost', contractsSettled: 26n, contractsSettledMicro: 26_250_000n, orderPubkey: undefined,
      orderId: undefined, avgFillPriceUsd: undefined, maxBuyPriceUsd: undefined, feeUsd: undefined,
      transferAmountToken: undefined, marketMetadata: { status: 'yes' },
      eventMetadata: { closeTime: 1_784_505_600_000 },
    });
  });

  test('passes unknown types', () => {
    expect(readRecord(historyAnswer(9, { eventType: 'ticket_refunded' })).eventType).toBe('ticket_refunded');
  });

  test('needs no more than its number, its type and its time', () => {
    expect(readRecord({ id: '10', eventType: 'order_created', timestamp: '2026-07-06T01:12:29Z' }))
      .toMatchObject({ id: 10, timestamp: 1_783_300_349_000, contracts: undefined });
  });

  test('that cannot be read spoils only itself, and keeps its place among the ids', () => {
    const answer = {
      data: [historyAnswer(5), historyAnswer(4, { timestamp: 'never' }), null, historyAnswer(3)],
      pagination: { start: 0, end: 4, total: 4, hasNext: false },
    };
    const page = readPage(HISTORY, answer as Json);
    expect(page.records.map(({ id }) => id)).toEqual([5, 3]);
    expect(page.rejected.map(({ id }) => id)).toEqual(['4', undefined]);
    expect(page.rejected[0]!.message).toContain('timestamp: expected Unix seconds');
    expect(page.ids).toEqual(['5', '4', undefined, '3']);
    expect(page.pagination).toEqual({ start: 0, end: 4, total: 4, hasNext: false });
  });

  test.each<[string, unknown]>([
    ['a list alone', [historyAnswer(1)]], ['null', null], ['a list without a word on what follows', { data: [] }],
    ['a word on what follows without a list', { pagination: {} }],
    ['a negative place', { data: [], pagination: { start: -1, end: 0, total: 0, hasNext: false } }],
    ['half a place', { data: [], pagination: { start: 0, end: 0.5, total: 0, hasNext: false } }],
    ['a yes that is none', { data: [], pagination: { start: 0, end: 0, total: 0, hasNext: 'yes' } }],
  ])('comes in pages; %s is none', (_name, answer) => {
    expect(() => readPage(HISTORY, answer as Json)).toThrow(MALFORMED);
  });
});
