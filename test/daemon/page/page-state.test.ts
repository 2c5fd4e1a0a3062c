import { appendFileSync, mkdirSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import type { PageState } from '../../../src/dashboard/page-state.ts';
import { priceText, roughAmount } from '../../../src/daemon/page/page-amount.ts';
import { FISH, SOL, TOKENS, USDC } from '../../market/tokens.ts';
import { start } from '../session-fixture.ts';
import { startPage } from './page-fixture.ts';
import { startTestApi, TOKENS as BEARERS } from '../control-fixture.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

const BEARER = { authorization: `Bearer ${BEARERS.operator}` };

describe('the state of the page', () => {
  it('shows a swap step by step, then the position that it bought, at its value', async () => {
    const daemon = await start();
    const read = (): Omit<PageState, 'role' | 'at'> => daemon.session.controlPort.page.state();
    expect(read()).toMatchObject({
      mode: 'live', phase: 'trading',
      figures: { open_swaps: 1, equity: { amount: { symbol: 'USDC' }, is_known: true } },
      strategies: [{
        name: 'ticker', standing: 'trading', level: 'good', positions: [],
        last_decision: { verdict: 'approved', sentence: 'swap 25 USDC to SOL: tick 0', intent_id: 'ticker-1' },
      }],
      swaps: [{
        intent_id: 'ticker-1', purpose: 'entry', is_open: true, buys: 'SOL', pays: { text: '25', symbol: 'USDC' },
        steps: [
          { name: 'approved', at: expect.any(Number) }, { name: 'quoted', at: null }, { name: 'signed', at: null },
          { name: 'sent', at: null }, { name: 'landed', at: null },
        ],
      }],
    });
    daemon.land();
    await daemon.pass(1_000);
    const state = read();
    expect(state.swaps).toEqual([]);
    const [strategy] = state.strategies;
    expect(strategy).toMatchObject({
      cash: { text: '475' }, swaps: 1, fees: { text: '0.000005', symbol: 'SOL' },
      positions: [{
        amount: { text: '0.166', symbol: 'SOL' }, cost: { symbol: 'USDC' }, pair: 'SOL/USDC', is_moving: false,
        value: { text: '24.9' },
      }],
    });
    // Equity is cash and positions less fees, to the unit: 475 + 24.9 - 0.000005 SOL at 150.
    expect(strategy!.equity!.amount.units).toBe(String(475_000_000 + 24_900_000 - 750));
    expect(strategy!.profit!.amount.units).toBe(String(-100_000 - 750));
    expect(state.figures.fees_today.amount).toMatchObject({ text: '0.000005', symbol: 'SOL' });
    const [story] = daemon.story.page({ limit: 10 }).stories;
    expect(story).toMatchObject({
      id: 'swap:ticker-1', kind: 'swap', level: 'good',
      sentence: 'Bought 0.166 SOL for 25 USDC, fee 0.000005 SOL',
      swap: { state: 'confirmed', is_open: false, received: { text: '0.166' } },
    });
    expect(story!.swap!.steps.map(({ name, at }) => [name, at !== null]))
      .toEqual([['approved', true], ['quoted', false], ['signed', true], ['sent', false], ['landed', true]]);
    expect(daemon.story.page({ limit: 10 }).stories.filter(({ kind }) => kind === 'swap')).toHaveLength(1);
  });

  it('changes only with what happens, so that nothing is sent while nothing does', async () => {
    const api = await startPage();
    const one = JSON.stringify(api.controlPort.page.state());
    api.engine.advanceTo(api.engine.clock.now() + 60_000);
    const other = JSON.stringify(api.controlPort.page.state());
    expect(other).toBe(one);
  });

  it('says what needs a person, and which action ends it', async () => {
    const api = await startPage();
    const state = (): PageState['sentence'] => api.controlPort.page.state().sentence;
    expect(state()).toMatchObject({ level: 'good', needs: [] });
    await api.post('/api/strategies/diver/stop', {});
    expect(state()).toMatchObject({ level: 'check', reasons: [expect.stringContaining('diver is halted')] });
    api.engine.accept({
      kind: 'command', name: 'set-trading-state', state: 'halted', by: 'disk-guard', reason: 'the disk is full',
    }, 1_000);
    expect(state()).toMatchObject({
      standing: 'halted', level: 'act',
      needs: [{ what: expect.stringMatching(/the disk guard \(the disk is full\)/), remedy: { kind: 'resume' } }],
    });
  });

  it('counts limits, and what is used of them', async () => {
    const limits = {
      maxSwaps: { perHour: 4 }, maxExposure: { mint: USDC.mint, amount: 100_000_000n as Amount },
      maxPosition: new Map([[SOL.mint, { mint: USDC.mint, amount: 50_000_000n as Amount }]]),
    };
    const api = await startPage({ limits });
    expect(api.controlPort.page.state().limits).toEqual(expect.arrayContaining([
      expect.objectContaining({ name: 'swaps in the last hour', used: '0', limit: '4', share: 0 }),
      expect.objectContaining({ name: 'all positions together', used: '0 USDC', limit: '100 USDC', share: 0 }),
      expect.objectContaining({ name: 'position in SOL', used: '0 USDC', limit: '50 USDC' }),
    ]));
  });

  it('is served before the run is ready: as starting', async () => {
    const { url } = await startTestApi({ stateDir: temporaryFolder() });
    const read = async (path: string): Promise<unknown> =>
      (await request(`${url}${path}`, { headers: BEARER })).body.json();
    for (const path of ['/api/equity', '/api/prices?pair=SOL/USDC'])
      expect(await read(path), path).toMatchObject({ error: { code: 'STARTING' } });
    expect(await read('/api/story')).toEqual({ stories: [], has_more: false });
    expect(await read('/api/log')).toEqual({ lines: [] });
  });
});

const line = (n: number): string => JSON.stringify({ timestamp: 'T', level: 'info', message: `line ${n}`, n });

describe('the tables and charts of the page', () => {
  it.each([
    '/api/equity?range=2h', '/api/equity?range=1d&x=1', '/api/prices', '/api/prices?range=1d', '/api/story?limit=0',
    '/api/story?limit=501', '/api/story?limit=x', '/api/log?limit=9999',
    `/api/equity?strategy=${'x'.repeat(201)}`,
  ])('%s is a bad request', async (path) => {
    const api = await startPage();
    expect(await api.ask(path, { headers: BEARER }))
      .toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
  });

  it.each([
    '/api/equity?strategy=absent', '/api/prices?pair=SOL/DUST', '/api/prices?pair=SOL', '/api/prices?pair=/',
    '/api/prices?pair=SOL/USDC/SOL',
  ])('%s is not found', async (path) => {
    const api = await startPage();
    expect(await api.ask(path, { headers: BEARER })).toMatchObject({ status: 404 });
  });

  it('show the newest lines of the log, also where the disk has cut one', async () => {
    const api = await startPage();
    mkdirSync(`${api.stateDir}/logs`);
    appendFileSync(`${api.stateDir}/logs/a-run.log`,
      `${Array.from({ length: 9_000 }, (_, n) => line(n)).join('\n')}\n{"level":"warn","mess`);
    const { body } = await api.ask('/api/log?limit=2', { headers: BEARER });
    expect(body).toEqual({ lines: [
      { at: null, level: 'info', message: '{"level":"warn","mess', details: '' },
      { at: 'T', level: 'info', message: 'line 8999', details: '{"n":8999}' },
    ] });
  });
});

const price = (base: typeof SOL, amount: bigint, quote: typeof SOL, value: bigint): string | undefined =>
  priceText(TOKENS, { mint: base.mint, amount }, { mint: quote.mint, amount: value });

describe('amounts of the page', () => {
  it('have prices of nine digits at any size, cut and exact', () => {
    expect(price(SOL, 1_000_000_000n, USDC, 150_250_000n)).toBe('150.25');
    expect(price(SOL, 3_000_000_000n, USDC, 100_000_000n)).toMatch(/^33\.3333333\d{0,2}$/);
    expect(price(USDC, 1_000_000n, SOL, 1n)).toBe('0.000000001');
    expect(price(SOL, 2n ** 64n - 1n, USDC, 1n)).toMatch(/^0\.0+5421010/);
    expect(price(FISH, 1n, USDC, 2n ** 64n - 1n)).toBe('1844674407370955161');
    expect(price(SOL, 0n, USDC, 1n)).toBeUndefined();
    expect(price(SOL, 1n, { ...USDC, mint: 'unknown' as never }, 1n)).toBeUndefined();
  });

  it('are rounded for a sentence, with their sign', () => {
    expect([0n, 12_400_000n, -1_234_567_891n, 4_560n, -1n].map((change) => roughAmount(TOKENS, USDC.mint, change)))
      .toEqual(['+0.00 USDC', '+12.40 USDC', '-1,234.57 USDC', '+0.00456 USDC', '-0.00000100 USDC']);
  });
});
