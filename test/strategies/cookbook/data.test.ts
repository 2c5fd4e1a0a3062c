import { describe, expect, it } from 'vitest';
import accountWinnings from '../../../docs/strategies/recipes/data/account-winnings.ts';
import bookValue from '../../../docs/strategies/recipes/data/book-value.ts';
import cleanRecord from '../../../docs/strategies/recipes/data/clean-record.ts';
import copiedWallet from '../../../docs/strategies/recipes/data/copied-wallet.ts';
import discoveredToken from '../../../docs/strategies/recipes/data/discovered-token.ts';
import eventSearch from '../../../docs/strategies/recipes/data/event-search.ts';
import fasterPolls from '../../../docs/strategies/recipes/data/faster-polls.ts';
import lendingReport from '../../../docs/strategies/recipes/data/lending-report.ts';
import manyTokens from '../../../docs/strategies/recipes/data/many-tokens.ts';
import ownIndicator from '../../../docs/strategies/recipes/data/own-indicator.ts';
import resolvedMarket from '../../../docs/strategies/recipes/data/resolved-market.ts';
import silentFeed from '../../../docs/strategies/recipes/data/silent-feed.ts';
import { predictionEvent } from '../../../src/strategy/index.ts';
import { testStrategy } from '../../../src/testing/index.ts';

const BUY = { pair: 'SOL/USDC', size: '25 USDC' };

describe('the recipes of data', () => {
  it('discovered-token buys verified leaders and keeps watching one that it holds', () => {
    const run = testStrategy(discoveredToken, { params: { size: '25 USDC' }, tokens: { FISH: 6, CRAB: 6 } });
    run.feed('leaders', ['0s', [{ symbol: 'FISH', isVerified: true }, { symbol: 'CRAB' }]]);
    run.feeds({ 'FISH/USDC': ['1s 5'], 'CRAB/USDC': ['2s 5'] });
    run.feed('leaders', ['1m', []]).feed('FISH/USDC', '2m 5.2', '3m 5.6', '4m 5');
    expect(run.lines('swap').map((line) => line.replace(/ key=.*/, ''))).toEqual([
      '1s buy 25 USDC -> FISH "it leads"', '3m sell 5 FISH -> USDC "moved by 0.12"',
    ]);
  });

  it('faster-polls watches while the price is near, and not before', () => {
    const run = testStrategy(fasterPolls, { params: { ...BUY, level: 100 } });
    run.emit('slow', 105);
    run.feed('slow', '1m 100.5').feed('SOL/USDC', '1m2s 100.2', '1m5s 99.9').feed('slow', '2m 110', '3m 99');
    expect(run.lines()).toEqual(['1m5s info "at 99.90"']);
  });

  it('many-tokens follows each token by itself', () => {
    const params = { pairs: ['SOL/USDC', 'FISH/USDC'], size: '25 USDC', window: 6 };
    const run = testStrategy(manyTokens, { params, tokens: { FISH: 6 } });
    run.series('10s', { 'SOL': [100, 100.1, 100, 100.1, 100, 110], 'FISH': [5, 5.1, 5, 5.1, 5, 5.1] });
    expect(run.lines()).toEqual(['50s info "SOL leaves its band at 110.0"']);
  });

  it('silent-feed alerts once in each silence', () => {
    const run = testStrategy(silentFeed, { params: { ...BUY } });
    run.feed('price', '0s 100', '1m 100', '2m 100').advanceTo('10m').feed('price', '11m 100').advanceTo('14m');
    expect(run.lines()).toEqual(['4m warning "no price for 2m"', '13m warning "no price for 2m"']);
  });

  it('resolved-market acts once, on the result that it waits for', () => {
    const params = { ...BUY, event: 'E', market: 'M' };
    const lines = (result: string): string[] => testStrategy(resolvedMarket, { params, prices: { 'SOL/USDC': 100 } })
      .feed('market', '1s 0.9', `2s ${result}`, `3s ${result}`).lines('swap', 'denial');
    expect(lines('yes')).toEqual(['2s buy 25 USDC -> SOL "M resolved to YES" key=resolved/1']);
    expect(lines('no')).toEqual([]);
    expect(lines('cancelled')).toEqual([]);
  });

  it('copied-wallet copies a share of signed purchases, up to the cap', () => {
    const run = testStrategy(copiedWallet, {
      params: { wallet: 'W'.repeat(43), pair: 'SOL/USDC', cap: '25 USDC' }, prices: { 'SOL/USDC': 100 },
    });
    run.feed('activity',
      ['1s', { signature: 'small', changes: ['-100 USDC', '+1 SOL'] }],
      ['2s', { signature: 'large', changes: ['-9000 USDC', '+90 SOL'] }],
      ['3s', { signature: 'unsigned', changes: ['-100 USDC', '+1 SOL'], isSigner: false }],
      ['4s', { signature: 'failed', changes: ['-100 USDC', '+1 SOL'], hasFailed: true }],
      ['5s', { signature: 'sale', changes: ['+100 USDC', '-1 SOL'] }],
      ['6s', { signature: 'payment', changes: ['-100 USDC'] }], ['7s', { signature: 'gift', changes: ['+1 SOL'] }]);
    expect(run.lines('swap')).toEqual([
      '1s buy 10 USDC -> SOL "the wallet bought" key=small', '2s buy 25 USDC -> SOL "the wallet bought" key=large',
    ]);
  });

  it('clean-record takes what is unknown for unsafe', () => {
    const clean = { isVerified: true, audit: { mintAuthorityDisabled: true }, values: { holderCount: 5_000 } };
    const buys = (record: object): string[] => testStrategy(cleanRecord, { params: { ...BUY, below: 100 } })
      .feeds({ token: [['1s', { ...clean, ...record }]], price: ['2s 101', '3s 99'] }).approved.map(({ at }) => at);
    expect(buys({})).toEqual(['3s']);
    const unsafe = [
      { isVerified: undefined }, { audit: {} }, { audit: { ...clean.audit, isSus: true } }, { values: {} },
    ];
    expect(unsafe.map(buys)).toEqual([[], [], [], []]);
  });

  it('own-indicator alerts once for each streak', () => {
    const run = testStrategy(ownIndicator, { params: { ...BUY, streak: 3 } });
    run.series('10s', { price: [1, 2, 3, 4, 5, 4, 5, 6, 7] });
    expect(run.lines()).toEqual(['30s info "3 rises in a row"', '1m20s info "3 rises in a row"']);
  });

  it('account-winnings tells of each position once, over a restart too', () => {
    const run = testStrategy(accountWinnings, { params: { owner: 'O' } });
    const one = { pubkey: 'P1', marketId: 'M1', claimable: true, payoutUsd: 5_000_000n };
    const two = { pubkey: 'P2', marketId: 'M2', claimable: true };
    run.feed('held', ['1m', [one, { pubkey: 'P3', marketId: 'M3' }]], ['2m', [one]]).restart();
    run.feed('held', ['3m', [one, two]]);
    expect(run.lines()).toEqual(['1m info "M1 can be claimed"', '3m info "M2 can be claimed"']);
    expect(run.alerts[0]!.data).toEqual({ payoutUsd: 5_000_000n });
  });

  it('event-search watches the markets of the event that it found', () => {
    const run = testStrategy(eventSearch, { params: { word: 'tide' } });
    const tide = [{ eventId: 'OLD', isActive: false }, { eventId: 'TIDE', isActive: true }];
    const markets = [{ marketId: 'A' }, { marketId: 'B', status: 'closed' }, { marketId: 'C' }];
    run.feed('found', ['1s', []], ['2s', tide], ['3s', tide]);
    const watched = predictionEvent('TIDE', { every: '1m' });
    run.emit(watched, markets).advance('1m').emit(watched, markets).advance('1m').emit(watched, markets.slice(1));
    expect(run.lines()).toEqual(['3s info "TIDE: 2 markets"', '2m3s info "TIDE: 1 markets"']);
  });

  it('lending-report tells the latest sum at each interval that has news', () => {
    const run = testStrategy(lendingReport, { params: { owner: 'O', positions: ['A', 'B'], every: '1h' } });
    run.feed('earned', ['1m', [{ earnings: 1 }, { earnings: 2 }]], ['50m', [{ earnings: 2 }, { earnings: 2.5 }]]);
    run.advanceTo('3h');
    expect(run.lines()).toEqual(['1h info "lending has earned 4.5"']);
  });

  it('book-value compares the average price of the size with the probability', () => {
    const run = testStrategy(bookValue, { params: { market: 'M', probability: 0.7, contracts: 100, fee: 10_000 } });
    run.feed('book', ['1s', { ask: 0.6, bid: 0.5, size: 50 }], ['2s', { ask: 0.6, bid: 0.5 }], '3s 0.7');
    expect(run.lines()).toEqual(['2s info "pays above 0.61"']);
    expect(run.alerts[0]!.data!['stake']).toBeCloseTo((0.7 - 0.61) / (1 - 0.61) / 4);
  });
});
