import { map, NEVER, Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { start, strategy } from '../engine/runs.ts';
import type { ScreenEvent, StrategyContext, Token, TokenListEvent, TokenRecord } from '../../src/strategy/index.ts';
import { screen, tokenList, tokenRecord } from '../../src/strategy/index.ts';
import type { Mint } from '../../src/market/token.ts';

const MINTS = ['11111111111111111111111111111111', 'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'] as const;
const record = (name: string, holders = 10): TokenRecord => ({
  id: name as Mint, symbol: name, name, decimals: 6, audit: {}, tags: [], values: { holderCount: holders },
});
const list = (...tokens: TokenRecord[]): TokenListEvent =>
  ({ kind: 'token-list', feed: 'token-list:recent:50', receivedAt: 0, list: 'recent', tokens });

/** A context that notes which tokens are watched, and lets the test emit their events. */
function context(): { readonly ctx: Pick<StrategyContext, 'watch'>; readonly watched: Map<string, Subject<unknown>> } {
  const watched = new Map<string, Subject<unknown>>();
  const watch = <T>({ spec }: { readonly spec: { readonly kind: string } }): Observable<T> => new Observable((to) => {
    const { mint } = spec as unknown as { readonly mint: string };
    const events = new Subject<unknown>();
    watched.set(mint, events);
    const inner = (events as Subject<T>).subscribe(to);
    return () => {
      inner.unsubscribe();
      watched.delete(mint);
    };
  });
  return { ctx: { watch }, watched };
}

function screening(options: Partial<Parameters<typeof screen>[1]>): {
  readonly lists: Subject<TokenListEvent>; readonly watched: Map<string, Subject<unknown>>; readonly told: string[];
  readonly end: () => void;
} {
  const { ctx, watched } = context();
  const lists = new Subject<TokenListEvent>();
  const told: string[] = [];
  const subscription = lists.pipe(screen(ctx, {
    max: 2, watch: (token) => tokenRecord(token, { every: '1s' }), ...options,
  })).subscribe({
    next: (event: ScreenEvent<unknown>) => {
      told.push(`${event.kind} ${event.token.symbol}${event.kind === 'event' ? ` ${String(event.event)}` : ''}`);
    },
    error: (error: Error) => { told.push(error.message); },
  });
  return { lists, watched, told, end: () => { subscription.unsubscribe(); } };
}

describe('a screen', () => {
  it('watches the first of a list, keeps members, and fills free places', () => {
    const { lists, watched, told, end } = screening({});
    lists.next(list(record('a'), record('b'), record('c')));
    watched.get('b')!.next(1);
    lists.next(list(record('c'), record('d'), record('b')));
    watched.get('c')!.next(2);
    expect(told).toEqual(['join a', 'join b', 'event b 1', 'leave a', 'join c', 'event c 2']);
    expect([...watched.keys()]).toEqual(['b', 'c']);
    end();
    expect([...watched.keys()]).toEqual([]);
  });

  it('takes what the filter takes, until it takes it no longer', () => {
    const { lists, told } = screening({ where: ({ values }) => (values.holderCount ?? 0) >= 10 });
    lists.next(list(record('a', 9), record('b'), record('b')));
    lists.next(list(record('a', 11), record('b', 3)));
    expect(told).toEqual(['join b', 'leave b', 'join a']);
  });

  it('keeps members that are to stay, in their places', () => {
    const { lists, told } = screening({ keep: ({ symbol }) => symbol === 'a' });
    lists.next(list(record('a'), record('b')));
    lists.next(list(record('c'), record('d')));
    expect(told).toEqual(['join a', 'join b', 'leave b', 'join c']);
  });

  it('never watches more than its bound', () => {
    const { lists, watched } = screening({ max: 3 });
    for (let round = 0; round < 50; round++) {
      lists.next(list(...Array.from({ length: 20 }, (_, index) => record(`t${round * 7 + index * 3}`))));
      expect(watched.size).toBe(3);
    }
  });

  it('passes on what its functions throw, and ends its watches', () => {
    const { lists, watched, told } = screening({ watch: (token: Token) => {
      if (token.symbol === 'b') throw new Error('no b');
      return tokenRecord(token, { every: '1s' });
    } });
    lists.next(list(record('a'), record('b')));
    expect(told).toEqual(['join a', 'join b', 'no b']);
    expect(watched.size).toBe(0);
  });

  it.each([undefined, 0, 1.5, Number.NaN, Infinity, 101, -1])('is refused with the bound %s', (max) => {
    expect(() => screening({ max: max as number })).toThrow(/"max" of a screen to be a whole number of 1 to 100/);
  });

  it('without a bound stops its strategy alone', () => {
    const run = start([strategy('endless', (_streams, ctx) => NEVER.pipe(
      screen(ctx, { watch: (token: Token) => tokenRecord(token, { every: '1s' }) } as never),
      map(() => ctx.alert('info', 'never')),
    )), strategy('other')]);
    expect(run.engine.running).toEqual(['other']);
  });

  it('trusts the limit of the engine where that is lower', () => {
    const recent = { recent: tokenList({ list: 'recent', limit: 3 }, { every: '1s' }) };
    const run = start([strategy('wide', ({ recent: lists }, ctx) => (lists as Observable<TokenListEvent>).pipe(
      screen(ctx, { max: 3, watch: (token) => tokenRecord(token, { every: '1s' }) }),
      map(({ kind, token }) => ctx.alert('info', `${kind} ${token.symbol.slice(0, 2)}`)),
    ), () => recent)], { limits: { maxWatches: 2 } });
    const tokens = MINTS.map((mint) => record(mint));
    run.engine.accept({ ...list(...tokens), feed: 'token-list:recent:3' }, 1);
    const told = run.logged.map(({ proposal }) => (proposal.kind === 'alert' ? proposal.message : ''));
    expect(told).toEqual(['join 11', 'join So', 'join EP',
      'strategy wide stopped: it watches 3 feeds at once with ctx.watch, and risk.max_watches allows 2']);
  });
});
