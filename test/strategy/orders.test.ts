import { map, merge } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Millis } from '../../src/core/time.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { MissedRuns, PricedQuote, StrategyContext, SwapProposal } from '../../src/strategy/index.ts';
import { bracketOrder, limitOrder, oneCancelsOther, scheduled, stopOrder, twap } from '../../src/strategy/index.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';
import { fillOf, outcome } from '../trading/states.ts';
import type { Body, Run } from '../engine/runs.ts';
import { start, strategy } from '../engine/runs.ts';

const MINUTE = 60_000;

const one = (context: StrategyContext, reason: string): SwapProposal =>
  context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, reason);

/** Confirms a swap at once. */
function fill(intent: Intent, engine: Engine): void {
  for (const state of ['building', 'signed'] as const) engine.accept(outcome(intent, state), engine.clock.now());
  engine.accept(outcome(intent, 'confirmed', { fill: fillOf(intent, 1_000_000n) }), engine.clock.now());
}

function run(body: Body, options: Parameters<typeof start>[1] = {}): Run {
  return start([strategy('diver', body)], {
    onEffect: (effect, engine) => { if (effect.kind === 'execute') fill(effect.intent, engine); }, ...options,
  });
}

const at = (started: Run, ...prices: readonly number[]): Run => {
  for (const price of prices) {
    const now = started.engine.clock.now() + 5_000;
    started.engine.accept(buyingSol(price * 1_000, now), now);
  }
  return started;
};

const bought = ({ effects }: Run): string[] => effects.flatMap((effect) =>
  (effect.kind === 'execute' ? [`${effect.intent.createdAt} ${effect.intent.reason}`] : []));

describe('an order at a price', () => {
  it.each([
    ['a limit purchase', 'buy', limitOrder, [151, 149, 148], '10000'],
    ['a limit sale', 'sell', limitOrder, [149, 151, 152], '10000'],
    ['a stop purchase', 'buy', stopOrder, [149, 151, 152], '10000'],
    ['a stop sale', 'sell', stopOrder, [151, 149, 148], '10000'],
  ] as const)('%s swaps once, at its price', (_name, side, order, prices, when) => {
    const started = run(({ price }, context) => price!.pipe(
      map((quote) => quote as PricedQuote),
      order(context, { key: 'one', side, price: 150 }, () => one(context, 'due')),
    ));
    expect(bought(at(started, ...prices))).toEqual([`${when} due`]);
  });

  it('is proposed again after an abandoned and an expired swap, each time under a key that cannot swap twice', () => {
    const ends = ['abandoned', 'expired', 'confirmed'];
    const started = run(({ price }, context) => price!.pipe(
      map((quote) => quote as PricedQuote),
      limitOrder(context, { key: 'one', side: 'buy', price: 150 }, () => one(context, 'due')),
    ), { onEffect: (effect, engine) => {
      if (effect.kind !== 'execute') return;
      const end = ends.shift();
      if (end === 'confirmed') {
        fill(effect.intent, engine);
        return;
      }
      engine.accept(outcome(effect.intent, 'building'), engine.clock.now());
      if (end === 'expired') engine.accept(outcome(effect.intent, 'signed'), engine.clock.now());
      engine.accept(outcome(effect.intent, end as 'expired'), engine.clock.now());
    } });
    at(started, 149, 149, 149, 149, 149);
    expect(started.effects.map((effect) => (effect.kind === 'execute' ? effect.intent.key : ''))).toEqual(
      ['one/1', 'one/1', 'one/2']);
  });
});

describe('an OCO order', () => {
  it.each([
    [[151, 156, 144], 'high'], [[151, 144, 156], 'low'],
  ])('swaps by the side that comes first: %s', (prices, side) => {
    const started = run(({ price }, context) => price!.pipe(
      map((quote) => (quote as PricedQuote).price),
      oneCancelsOther(context, 'oco', [
        { when: (now: number) => now >= 155, swap: () => one(context, 'high') },
        { when: (now: number) => now <= 145, swap: () => one(context, 'low') },
      ]),
    ));
    expect(bought(at(started, ...prices))).toEqual([`10000 ${side}`]);
  });
});

const schedule = (missed?: MissedRuns): Body => ({ price }, context) => merge(
  scheduled(context, { key: 'dca', every: '1m', offset: '10s', missed }, (slot) => one(context, `run ${slot}`)),
  price!.pipe(map(() => context.alert('info', 'a price'))),
);
const pass = (started: Run, until: Millis): Run => {
  while (started.engine.clock.now() < until) at(started, 150);
  return started;
};

/** A run that continues after a kill, from what was saved. */
function again(first: Run, missed: MissedRuns, startAt: Millis): Run {
  const states = Object.fromEntries(first.engine.takeStrategyStates().map(({ strategy: of, text }) => [of, text]));
  const snapshot = JSON.parse(JSON.stringify(snapshotState(first.state))) as StateSnapshot;
  return run(schedule(missed), { startAt, snapshot, restored: { states, unseen: [] } });
}

/** By the number of the run, the last word. */
const byRun = (a: string, b: string): number => Number(a.split(' ').at(-1)) - Number(b.split(' ').at(-1));

const leavingOneOut: Body = (_streams, context) => scheduled(context, { key: 'even', every: '1m' },
  (number) => (number === 1 ? undefined : one(context, `run ${number}`)));

describe('a schedule', () => {
  it('swaps at each interval, first when one begins', () => {
    expect(bought(pass(run(schedule()), 3 * MINUTE))).toEqual(['10000 run 0', '70000 run 1', '130000 run 2']);
    expect(bought(pass(run(schedule(), { startAt: 20_000 }), 2 * MINUTE))).toEqual(['70000 run 1']);
  });

  it.each([
    ['skip', ['610000 run 10']],
    ['once', ['581000 run 9', '610000 run 10']],
    ['catch-up', ['run 2', 'run 3', 'run 4', 'run 5', 'run 6', 'run 7', 'run 8', 'run 9', 'run 10']],
  ] as const)('treats runs that were missed by its policy: %s', (missed, expected) => {
    const second = again(pass(run(schedule(missed)), 100_000), missed, 581_000);
    const all = bought(pass(second, 650_000));
    expect(missed === 'catch-up' ? all.map((text) => text.slice(text.indexOf('run'))).toSorted(byRun) : all)
      .toEqual(expected);
  });

  it('begins at the interval itself without an offset, and has no swap where a run returns none', () => {
    expect(bought(pass(run(leavingOneOut), 3 * MINUTE))).toEqual(['0 run 0', '120000 run 2', '180000 run 3']);
  });

  it('makes up for no run twice where it is started again at once', () => {
    expect(bought(pass(again(pass(run(schedule('once')), 100_000), 'once', 101_000), 125_000))).toEqual([]);
  });
});

/** Swaps twice the purchase in two slices. */
const sliced: Body = ({ price }, context) => merge(
  twap(context, { key: 't', total: { token: USDC, amount: 2n * PURCHASE }, slices: 2, every: '1m' },
    (_size, slice) => one(context, `slice ${slice}`)),
  price!.pipe(map(() => context.alert('info', 'a price'))),
);

/** Abandons the first swaps before their signature, and confirms the others. */
const abandoning = (count: number): Parameters<typeof run>[1] => {
  let left = count;
  return {
    onEffect: (effect, engine) => {
      if (effect.kind !== 'execute') return;
      if (left-- > 0) engine.accept(outcome(effect.intent, 'abandoned'), engine.clock.now());
      else fill(effect.intent, engine);
    },
  };
};

describe('a run or a slice that was abandoned before its signature', () => {
  it('is proposed again under its key until the next run of a schedule', () => {
    expect(bought(pass(run(schedule(), abandoning(2)), 100_000)))
      .toEqual(['10000 run 0', '15000 run 0', '20000 run 0', '70000 run 1']);
    const lost = bought(pass(run(schedule(), abandoning(12)), 100_000));
    expect(lost.filter((text) => text.endsWith('run 0'))).toHaveLength(12);
    expect(lost.at(-1)).toBe('70000 run 1');
  });

  it('is proposed again until the end of a TWAP order, so that the total is swapped', () => {
    const started = pass(run(sliced, abandoning(1)), 3 * MINUTE);
    // The engine learns at its first price that the first one was abandoned.
    expect(bought(started)).toEqual(['0 slice 0', '10000 slice 0', '60000 slice 1']);
  });
});

const jittered = (jitter: number): Body => (_streams, context) => twap(
  context, { key: 't', total: { token: USDC, amount: 2n * PURCHASE }, slices: 3, every: '1m', jitter },
  (_size, slice) => (slice === 1 ? undefined : one(context, `slice ${slice}`)));

describe('a TWAP order', () => {
  it('delays each slice by at most its jitter, and leaves out a slice without a swap', () => {
    expect(bought(pass(run(jittered(0)), 4 * MINUTE))).toEqual(['0 slice 0', '120000 slice 2']);
    const times = bought(pass(run(jittered(0.5)), 4 * MINUTE)).map((text) => Number(text.split(' ')[0]));
    expect(times).toHaveLength(2);
    expect(times.every((time, n) => time > n * 2 * MINUTE && time <= (n * 2 + 0.5) * MINUTE)).toBe(true);
    expect(run(jittered(1.1)).engine.stopped[0]?.reason).toMatch(/a jitter from 0 to 1/);
  });

  it('refuses a number of slices that is no whole number above 0', () => {
    for (const slices of [0, 1.5, Number.NaN, -1]) {
      const started = run((_streams, context) =>
        twap(context, { key: 't', total: { token: USDC, amount: 10n }, slices, every: '1m' }, () => one(context, 'x')));
      expect(started.engine.stopped[0]?.reason).toMatch(/number of slices/);
    }
  });
});

const bracketed: Body = ({ price }, context) => price!.pipe(bracketOrder(context, {
  key: 'b', token: SOL_USDC.base, takeProfit: 0.5, stopLoss: 0.999, timeLimit: '20s',
  enter: () => one(context, 'in'), leave: (reason) => context.sell(SOL_USDC, 'all', reason),
}));

describe('a bracket order', () => {
  it('leaves after its time limit, counted from the first event that shows the position, over a restart too', () => {
    const first = at(run(bracketed), 150, 150, 150);
    const states = Object.fromEntries(first.engine.takeStrategyStates().map(({ strategy: of, text }) => [of, text]));
    const snapshot = JSON.parse(JSON.stringify(snapshotState(first.state))) as StateSnapshot;
    const second = run(bracketed, { startAt: 16_000, snapshot, restored: { states, unseen: [] } });
    expect(bought(first)).toEqual(['5000 in']);
    // Bought at 5 s and seen at 10 s, so it is sold by the first event from 30 s on.
    expect(bought(at(second, 150, 150, 150))).toEqual(['31000 held for 20s']);
  });
});
