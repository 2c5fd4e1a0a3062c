import { describe, expect, it } from 'vitest';
import eventCloseWatch from '../../../strategies/event-close-watch.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type {
  Mint, PredictionMarket, PredictionMarketEvent, PredictionPosition, PredictionPositionsEvent,
} from '../../../src/strategy/index.ts';
import { SOL_MINT } from '../../../src/market/token.ts';
import { marketOf } from '../proofs/market-events.ts';
import { trial } from './trial.ts';

const HOUR = 3_600_000;
const CLOSE = 48 * HOUR;
const OWNER: Mint = SOL_MINT;
const PARAMS = { event: 'E', market: 'M' };

/** The market some minutes before its announced close. */
const before = (minutes: number, change: Partial<PredictionMarket> = {}): PredictionMarketEvent => {
  const event = marketOf(undefined, CLOSE - minutes * 60_000);
  return { ...event, market: { ...event.market, status: 'open', closeTime: CLOSE, ...change } };
};
/** What it said, without times. */
const texts = (said: readonly string[]): string[] => said.map((text) => text.replace(/^[\d.]+ alert /, ''));

const position = (pubkey: string, change: Partial<PredictionPosition>): PredictionPosition => ({
  pubkey, marketId: 'M', isYes: true, contracts: 10n, contractsMicro: 10_000_000n as never, claimable: false,
  ...change,
});

describe('event-close watch', () => {
  it('tells each offset once, with the time that is left', () => {
    const shown = [1_441, 1_440, 1_439, 61, 60, 59, 6, 4.5, 1].map((minutes) => before(minutes));
    expect(texts(trial(eventCloseWatch, PARAMS).show(...shown).said()))
      .toEqual(['M closes in 1d', 'M closes in 1h', 'M closes in 4m30s']);
  });

  it('tells the nearest offset alone where it begins late, and none after the close', () => {
    expect(texts(trial(eventCloseWatch, PARAMS).show(before(30), before(3)).said()))
      .toEqual(['M closes in 30m', 'M closes in 3m']);
    expect(trial(eventCloseWatch, PARAMS).show(before(-1)).said()).toEqual([]);
  });

  it('tells a new status and the result, each once, and no offset of a market that closed early', () => {
    const closed = [80, 79, 50].map((minutes) => before(minutes, { status: 'closed' }));
    const resolved = [40, 39].map((minutes) => before(minutes, { status: 'closed', result: 'no' }));
    expect(texts(trial(eventCloseWatch, PARAMS).show(before(90), ...closed, ...resolved).said())).toEqual([
      'M closes in 1h30m', 'M is closed, and was open', 'M is resolved: no']);
  });

  it('tells a result that is there at the first reading, and a status that it does not know', () => {
    expect(texts(trial(eventCloseWatch, PARAMS).show(before(-10, { status: 'closed', result: 'yes' })).said()))
      .toEqual(['M is resolved: yes']);
    expect(texts(trial(eventCloseWatch, PARAMS).show(before(9_000), before(8_999, { status: 'paused' })).said()))
      .toEqual(['M is paused, and was open']);
  });

  it('tells a close that was moved, and its offsets again', () => {
    const moved = [58, 57].map((minutes) => before(minutes, { closeTime: CLOSE + 10 * HOUR }));
    expect(texts(trial(eventCloseWatch, PARAMS).show(before(59), ...moved).said()))
      .toEqual(['M closes in 59m', 'M closes in 10h58m now']);
  });

  it('says nothing about a market whose time, status and result are absent', () => {
    const { market: { closeTime: _closeTime, status: _status, ...market }, ...event } = before(3);
    expect(trial(eventCloseWatch, PARAMS).show({ ...event, market }).said()).toEqual([]);
  });

  it('repeats nothing after a restart, and tells what changed meanwhile', () => {
    const first = trial(eventCloseWatch, PARAMS).show(before(61), before(59));
    expect(texts(first.restarted().show(before(58), before(-1, { status: 'closed', result: 'yes' })).said()))
      .toEqual(['M is closed, and was open', 'M is resolved: yes']);
  });

  it('tells a payout that can be claimed once; a value that is unknown after the close is not zero', () => {
    const held = (at: number, ...positions: readonly PredictionPosition[]): PredictionPositionsEvent => ({
      kind: 'prediction-positions', feed: `prediction-positions:${OWNER}:0`, receivedAt: at, owner: OWNER, positions,
      total: positions.length,
    });
    const won = position('a', { claimable: true, payoutUsd: 12_500_000n as never });
    const first = trial(eventCloseWatch, { ...PARAMS, owner: OWNER }).show(
      held(0, position('a', {}), position('b', { claimable: true, claimed: true })), held(1_000, won),
      held(2_000, won, position('c', { claimable: true, isYes: false, marketId: 'N' })));
    expect(first.said()).toEqual(['1 alert YES of M can be claimed: $12.5', '2 alert NO of N can be claimed']);
    expect(first.restarted().show(held(3_000, won)).said()).toEqual([]);
  });

  it('refuses parameters that make no sense', () => {
    for (const wrong of [{ offsets: [] }, { offsets: ['soon'] }, { market: '' }, { owner: 'me' }, { page: -1 }])
      expect(paramErrors(eventCloseWatch, { ...PARAMS, ...wrong })).toHaveLength(1);
  });
});
