import { filter, ignoreElements, map, NEVER, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import type { OpenIntent } from '../../src/trading/executor.ts';
import type { OrderSwap, SetPause } from '../../src/trading/engine-command.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import type { Input } from '../../src/trading/step.ts';
import { buyingSol, sellingSol } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { fillOf, outcome } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { decided, start, strategy } from './runs.ts';

const BOOK = 'manual.USDC';
const price = 150_000;

/** Returns a person's order; without more, it buys SOL with 40 USDC that no strategy has. */
function order(key: string, change: Partial<OrderSwap> = {}): OrderSwap {
  return {
    kind: 'command', name: 'order-swap', strategy: BOOK, inputMint: USDC.mint, outputMint: SOL.mint,
    amount: '40000000', key, reason: 'a test', ...change,
  };
}

const sale = (key: string, change: Partial<OrderSwap> = {}): OrderSwap =>
  order(key, { inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all', ...change });

const pause = (change: Partial<SetPause>): SetPause =>
  ({ kind: 'command', name: 'set-pause', isPaused: true, until: null, reason: '', ...change });

/** Buys with 25 USDC at every fourth price, and sells all at the next. */
const TRADER: Body = (streams, context) => streams['price']!.pipe(
  filter((_price, index) => index % 2 === 0),
  map((_price, index) => (index % 2 === 0
    ? context.buy(SOL_USDC, { token: USDC, amount: 25_000_000n }, 'its turn')
    : context.sell(SOL_USDC, 'all', 'its turn'))));

const received = ({ inputMint, amountIn }: Intent): bigint =>
  (inputMint === USDC.mint ? (amountIn * 1_000_000n) / 150_000n : (amountIn * 150_000n) / 1_000_000n);

/** Starts an engine that fills each swap at one price. */
function trading(options: {
  readonly limits?: Partial<RiskLimits>; readonly snapshot?: StateSnapshot; readonly open?: readonly OpenIntent[];
  readonly startAt?: number; readonly fills?: boolean; readonly body?: Body; readonly maxAgeMs?: number;
} = {}): Run {
  const { fills = true, body = TRADER, ...rest } = options;
  return start([strategy('trader', body)], {
    ...rest,
    onEffect: (effect, engine) => {
      if (effect.kind !== 'execute' || !fills) return;
      for (const told of transitions(effect.intent)) engine.accept(told, engine.clock.now());
    },
  });
}

const transitions = (intent: Intent) => [
  ...(['building', 'signed', 'submitted'] as const).map((state) => outcome(intent, state)),
  outcome(intent, 'confirmed', { fill: fillOf(intent, received(intent)) }),
];

const prices = (from: number, count: number): Input[] => Array.from({ length: count }, (_, index) => {
  const at = from + index * 5_000;
  return [buyingSol(price, at), sellingSol(price, at)] as Input[];
}).flat();

/** Hands inputs in, each market event at its time, each command after the event before it. */
function feed({ engine }: Run, inputs: readonly Input[]): void {
  for (const input of inputs) {
    engine.accept(input, 'receivedAt' in input ? Math.max(input.receivedAt, engine.clock.now()) : engine.clock.now());
  }
}

const balances = ({ state }: Run, name = BOOK): [string, bigint][] =>
  [...state.portfolio.book(name).balances].map(([mint, amount]) => [mint === SOL.mint ? 'SOL' : 'USDC', amount]);
const codes = (run: Run, name = BOOK): (string | null)[] =>
  run.logged.filter(({ strategy: own }) => own === name).map(({ code }) => code);
const plain = (snapshot: StateSnapshot): StateSnapshot =>
  parseJson(stringifyJson(snapshot)) as unknown as StateSnapshot;

describe('a manual swap in a run', () => {
  it('spends what no strategy has, keeps what it buys in a book of its own, and gives the rest back', () => {
    const run = trading({ body: () => NEVER });
    feed(run, [...prices(1_000, 1), order('one')]);
    expect(balances(run)).toEqual([['SOL', 266_666_666n]]);
    expect(balances(run, 'trader')).toEqual([['USDC', 500_000_000n]]);
    expect(run.state.portfolio.wallet.get(USDC.mint)).toBe(10_000_000_000n - 40_000_000n);
    feed(run, [sale('two', { amount: '100000000' })]);
    expect(balances(run)).toEqual([['SOL', 166_666_666n]]);
    feed(run, [sale('three')]);
    expect(balances(run)).toEqual([]);
    expect(run.effects.map((effect) => effect.kind === 'execute' && [effect.intent.id, effect.intent.purpose]))
      .toEqual([['manual.USDC-1', 'entry'], ['manual.USDC-2', 'exit'], ['manual.USDC-3', 'exit']]);
  });

  it('cannot spend what strategies have of the wallet, and says how to spend that', () => {
    const run = trading({ body: () => NEVER });
    feed(run, [...prices(1_000, 1), order('one', { amount: '9600000000' })]);
    expect(codes(run)).toEqual(['BUDGET_EXCEEDED']);
    expect(balances(run)).toEqual([]);
    feed(run, [order('two', { amount: '9500000000' })]);
    expect(codes(run)).toEqual(['BUDGET_EXCEEDED', null]);
    expect(balances(run, 'trader')).toEqual([['USDC', 500_000_000n]]);
  });

  it('moves the book of a strategy where it names one, and that strategy sees no refusal of it', () => {
    const denials: unknown[] = [];
    const run = trading({
      maxAgeMs: 1_000,
      body: (_streams, context) => context.denials$.pipe(
        tap((denial) => { denials.push(denial); }), ignoreElements()),
    });
    feed(run, [...prices(1_000, 1), order('one', { strategy: 'trader' })]);
    run.engine.advanceTo(60_000);
    // Its inputs are too old for the strategy itself.
    feed(run, [sale('two', { strategy: 'trader' }), order('three', { strategy: 'trader', amount: '999000000' })]);
    expect(codes(run, 'trader')).toEqual([null, null, 'BUDGET_EXCEEDED']);
    expect(balances(run, 'trader')).toEqual([['USDC', 499_999_999n]]);
    expect(denials).toEqual([]);
  });

  it('is made once for one key, whatever happened in between', () => {
    const run = trading({ body: () => NEVER });
    feed(run, [...prices(1_000, 1), order('one'), order('one'), ...prices(6_000, 3), order('one')]);
    expect(codes(run)).toEqual([null, 'KEY_REPEATED', 'KEY_REPEATED']);
    const later = trading({ body: () => NEVER, snapshot: plain(snapshotState(run.state)), startAt: 30_000 });
    feed(later, [...prices(31_000, 1), order('one')]);
    expect(codes(later)).toEqual(['KEY_REPEATED']);
  });

  it.each([
    ['TRADE_EXCEEDS_MAX', { maxTrade: { mint: USDC.mint, amount: 39_000_000n } }, []],
    ['POSITION_EXCEEDS_MAX', { maxPosition: new Map([[SOL.mint, { mint: USDC.mint, amount: 39_000_000n }]]) }, []],
    ['EXPOSURE_EXCEEDS_MAX', { maxExposure: { mint: USDC.mint, amount: 39_000_000n } }, []],
    ['RATE_PER_MINUTE', { maxSwaps: { perMinute: 0 } }, []],
    ['TRADING_HALTED', {}, [{ kind: 'command', name: 'set-trading-state', state: 'halted', reason: '' }]],
    ['TRADING_REDUCE_ONLY', {}, [{ kind: 'command', name: 'set-trading-state', state: 'reduce-only', reason: '' }]],
    ['PAIR_PAUSED', {}, [pause({ pair: [SOL.mint, USDC.mint] })]],
    ['SERVICE_UNAUTHORIZED', {}, [{ kind: 'command', name: 'set-service-access', access: 'refused', reason: '' }]],
  ] as [string, Partial<RiskLimits>, Input[]][])('is refused with %s as a strategy’s is', (code, limits, before) => {
    const run = trading({ limits, body: () => NEVER });
    feed(run, [...prices(1_000, 1), ...before, order('one')]);
    expect([codes(run), run.effects.length, balances(run)]).toEqual([[code], 0, []]);
  });

  it('is sold in parts where a cap asks for it, and the engine goes on by itself', () => {
    const caps = new Map([[SOL.mint, { perTrade: 100_000_000n as never }]]);
    const run = trading({ limits: { caps }, body: () => NEVER });
    feed(run, [...prices(1_000, 1), order('one'), sale('two')]);
    for (let at = 10_000; at < 200_000; at += 5_000) run.engine.advanceTo(at);
    expect(balances(run)).toEqual([]);
    const parts = run.effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent] : [])).slice(1);
    expect(parts.map(({ key, amountIn }) => [key, amountIn])).toEqual(Array.from({ length: 3 }, (_, n) =>
      ['two', n === 2 ? 88_888_888n : 88_888_889n]));
  });

  it('is sold by a flatten of everything', () => {
    const run = trading({ body: () => NEVER });
    feed(run, [...prices(1_000, 1), order('one'), { kind: 'command', name: 'flatten', reason: '' }]);
    run.engine.advanceTo(60_000);
    expect(balances(run)).toEqual([]);
    feed(run, [order('two')]);
    expect(codes(run).at(-1)).toBe('TRADING_REDUCE_ONLY');
  });

  it('leaves the equity of all strategies as it is', () => {
    const limits: Partial<RiskLimits> = { protections: [{
      trigger: { kind: 'max-drawdown', limitPct: 1 }, scope: 'global', action: 'halt', release: { kind: 'operator' },
    }] };
    const run = trading({ limits, body: () => NEVER });
    feed(run, [...prices(1_000, 4), order('one', { amount: '5000000000' }), ...prices(61_000, 4)]);
    expect(run.state.protections.equity.get('')!.value).toBe(500_000_000n);
    // No price of what manual swaps hold: it refuses no entry of a strategy.
    run.engine.advanceTo(100_000_000);
    feed(run, [buyingSol(price, 100_000_000), order('two')]);
    expect(codes(run)).toEqual([null, null]);
  });
});

describe('a replay of a run with manual swaps', () => {
  const SCRIPT: readonly Input[] = [
    ...prices(1_000, 3), order('one'), ...prices(16_000, 2), sale('two', { amount: '90000000' }),
    pause({ pair: [USDC.mint, SOL.mint], until: 60_000 }), ...prices(26_000, 4), order('three'),
    order('four', { strategy: 'trader', amount: '7000000' }), ...prices(61_000, 4), sale('five'), order('six'),
    ...prices(81_000, 3),
  ];

  it('makes the same decisions, bit for bit', () => {
    const run = trading();
    feed(run, SCRIPT);
    expect(new Set(codes(run))).toEqual(new Set([null, 'PAIR_PAUSED']));
    expect(decided(run, 'trader').length).toBeGreaterThan(4);
    const repeated = trading({ fills: false });
    for (const { at, input } of run.inputs) {
      // As a recording has it.
      repeated.engine.accept(input.kind === 'command' ? JSON.parse(stringifyJson(input)) as Input : input, at);
    }
    expect(repeated.engine.decisionHash).toBe(run.engine.decisionHash);
    expect(plain(snapshotState(repeated.state))).toEqual(plain(snapshotState(run.state)));
  });

  it('after a crash at any event makes no swap twice, and each book keeps what it paid for', () => {
    const whole = trading();
    feed(whole, SCRIPT);
    for (let cut = 1; cut <= whole.inputs.length; cut += 1) crashAfter(whole, cut);
  });

  /** Ends the run after so many inputs, saved before each effect or not at all since, and gives every order again. */
  function crashAfter(whole: Run, cut: number): void {
    const open = new Map<string, OpenIntent>();
    let saved = snapshotState(trading({ fills: false }).state);
    const before = trading({ fills: false });
    for (const { at, input } of whole.inputs.slice(0, cut)) {
      before.engine.accept(input, at);
      for (const effect of before.effects) {
        const tracked = effect.kind === 'execute' ? before.state.intents.get(effect.intent.id) : undefined;
        if (tracked !== undefined) open.set(tracked.intent.id, { intent: tracked.intent, state: tracked.state });
      }
      if (input.kind === 'outcome' && isTerminal(input.state)) {
        open.delete(input.intentId);
        saved = snapshotState(before.state);
      }
    }
    const counts = snapshotState(before.state).intentCounts;
    const keys = [...new Set([...saved.keys, ...[...open.values()].flatMap(({ intent: { strategy: name, key } }) =>
      (key === undefined ? [] : [`${name}:${key}`]))])];
    const at = before.engine.clock.now() + 1_000;
    const after = trading({
      snapshot: plain({ ...saved, keys, intentCounts: counts }), open: [...open.values()], startAt: at,
      body: () => NEVER,
    });
    for (const { intent, state } of open.values()) {
      const rest = transitions(intent);
      const reached = rest.findIndex((told) => told.state === state);
      for (const told of rest.slice(reached + 1)) after.engine.accept(told, at);
    }
    const given = whole.inputs.slice(0, cut).flatMap(({ input }) =>
      (input.kind === 'command' && input.name === 'order-swap' ? [input] : []));
    feed(after, [buyingSol(price, at), sellingSol(price, at), ...given]);
    const made = [before, after].flatMap((run) => run.effects.flatMap((effect) =>
      (effect.kind === 'execute' && effect.intent.key !== undefined ? [effect.intent.key] : [])));
    expect(made.length, `a crash after input ${cut}`).toBe(new Set(made).size);
    const { portfolio } = after.state;
    const held = [...portfolio.books.values()].reduce((sum, { balances: own }) => sum + (own.get(SOL.mint) ?? 0n), 0n);
    expect(held, `SOL after input ${cut}`)
      .toBe((portfolio.wallet.get(SOL.mint) ?? 0n) - 10_000_000_000n + feesOf(after));
    expect(portfolio.books.get(BOOK)?.balances.get(USDC.mint), `USDC after input ${cut}`).toBeUndefined();
  }

  const feesOf = ({ state }: Run): bigint =>
    [...state.portfolio.books.values()].reduce((sum, { feesLamports }) => sum + feesLamports, 0n);
});

describe('a pause', () => {
  const buys = (run: Run): (string | null)[] =>
    decided(run, 'trader').map((one) => (one as { code: string | null }).code);
  const BUYER: Body = (streams, context) => streams['price']!.pipe(
    map(() => context.buy(SOL_USDC, { token: USDC, amount: 1_000_000n }, 'always')));

  it('of a pair refuses entries of every strategy until its time is over, and no sale', () => {
    const run = trading({ body: BUYER });
    feed(run, [buyingSol(price, 1_000), pause({ pair: [SOL.mint, USDC.mint], until: 12_000 })]);
    feed(run, [buyingSol(price, 6_000)]);
    feed(run, [order('one'), sale('two', { strategy: 'trader' })]);
    feed(run, [buyingSol(price, 12_000)]);
    expect(buys(run)).toEqual([null, 'PAIR_PAUSED', null, null]);
    expect(codes(run)).toEqual(['PAIR_PAUSED']);
  });

  it('of a strategy is its own alone, outlives a restart, and ends by an operator', () => {
    const run = trading({ body: BUYER });
    feed(run, [pause({ strategy: 'trader' }), buyingSol(price, 1_000), order('one')]);
    expect([buys(run), codes(run)]).toEqual([['STRATEGY_PAUSED'], [null]]);
    const later = trading({ body: BUYER, snapshot: plain(snapshotState(run.state)), startAt: 2_000 });
    feed(later, [buyingSol(price, 3_000), pause({ strategy: 'trader', isPaused: false }), buyingSol(price, 4_000)]);
    expect(buys(later)).toEqual(['STRATEGY_PAUSED', null]);
    expect(snapshotState(later.state).pauses).toBeUndefined();
  });
});
