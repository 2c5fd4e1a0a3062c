import { EMPTY, filter, map, merge } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { stringifyJson } from '../../src/core/json.ts';
import type { Millis } from '../../src/core/time.ts';
import type { Input } from '../../src/strategy/index.ts';
import { quotes } from '../../src/strategy/index.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { freshSnapshot, snapshotState } from '../../src/trading/engine-state.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { outputAt } from '../../src/market/quote.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import type { ExitRules } from '../../src/trading/positions/exit-plan.ts';
import { quote } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { WALLET, fillOf, outcome } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { alerts, priceInput, start, strategy } from './runs.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

/** Holds 2 SOL that cost 300 USDC: 150 each. */
const HOLDING: StateSnapshot = {
  ...freshSnapshot(WALLET),
  books: { diver: {
    balances: { [SOL.mint]: '2000000000', [USDC.mint]: '200000000' }, costs: { [SOL.mint]: '300000000' },
    feesLamports: '0', swaps: 1, budget: { mint: USDC.mint, amount: '500000000' },
  } },
};

interface Setting {
  readonly body?: Body;
  readonly snapshot?: StateSnapshot;
  readonly startAt?: Millis;
  readonly limits?: Partial<RiskLimits>;
  /** Whether its price is that of the sale; it is that of a purchase unless given. */
  readonly watchesSale?: boolean;
  /** How a swap ends; it is filled at the last price unless given. */
  readonly end?: (intent: Intent) => Outcome | undefined;
}

const saleInput = (): { readonly price: Input<unknown> } =>
  ({ price: quotes(SOL_USDC, { amount: { token: SOL, amount: 2_000_000_000n }, every: '1s' }) });

/** A strategy that does nothing, under exit rules. */
function under(
  exits: ExitRules,
  { body = () => EMPTY, snapshot = HOLDING, startAt = 0, limits, end, watchesSale = false }: Setting = {},
): Run {
  const run: Run = start([strategy('diver', body, watchesSale ? saleInput : priceInput)], {
    exits, snapshot, startAt, ...(limits === undefined ? {} : { limits }),
    onEffect: (effect, engine) => {
      if (effect.kind !== 'execute') return;
      const { intent } = effect;
      const last = run.state.market.latestQuote(intent.inputMint, intent.outputMint);
      const ended = end === undefined
        ? outcome(intent, 'confirmed', { fill: fillOf(intent, outputAt(last!, intent.amountIn)) }) : end(intent);
      if (ended === undefined) return;
      engine.accept(outcome(intent, 'building'), engine.clock.now());
      if (ended.state !== 'abandoned') for (const state of ['signed', 'submitted'] as const)
        engine.accept(outcome(intent, state), engine.clock.now());
      engine.accept(ended, engine.clock.now());
    },
  });
  return run;
}

/** Shows prices of a sale of 2 SOL, one a second; each is the price of one SOL. */
function show(run: Run, ...prices: readonly number[]): Run {
  for (const price of prices) {
    const at = run.engine.clock.now() + SECOND;
    run.engine.accept(
      quote(SOL, USDC, { inAmount: 2_000_000_000n, outAmount: BigInt(Math.round(price * 2e6)), at }), at);
  }
  return run;
}

/** The exits: when, how many SOL, and why. */
const exitsOf = ({ logged }: Run): string[] => logged.flatMap(({ at, proposal, code }) => (proposal.kind === 'swap'
  ? [`${at} ${stringifyJson(proposal.amount)} ${proposal.tag} ${code ?? 'approved'}`] : []));
const reasonsOf = ({ effects }: Run): string[] =>
  effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent.reason] : []));
const held = (run: Run): bigint => run.state.portfolio.book('diver').balances.get(SOL.mint) ?? 0n;

describe('an exit rule of the configuration', () => {
  it('stop loss sells all at the stop, and not a smallest unit above it', () => {
    const above = show(under({ stopLossBps: 500 }), 150, 142.500_000_5, 160);
    expect(exitsOf(above)).toEqual([]);
    const run = show(under({ stopLossBps: 500 }), 150, 143, 142.5);
    expect(exitsOf(run)).toEqual(['3000 "all" exits.stop_loss approved']);
    expect(reasonsOf(run)).toEqual(['stop loss: 2 SOL sell for 285 USDC, the stop is at 285 USDC']);
    expect(held(run)).toBe(0n);
    expect(alerts(run)).toEqual(['3000 the exit of diver from SOL is made: exits.stop_loss']);
  });

  it('says where the price went through the stop, and sells for what the market pays', () => {
    const run = show(under({ stopLossBps: 500 }), 150, 120);
    expect(reasonsOf(run)).toEqual(['stop loss: 2 SOL sell for 240 USDC, the stop is at 285 USDC; the price went '
      + 'through the stop, and the market pays 15.78 % less']);
    expect(run.state.portfolio.book('diver').balances.get(USDC.mint)).toBe(440_000_000n);
  });

  it('take profit sells its share at each level, each once, and the rest at the last', () => {
    const rules = { takeProfits: [{ atBps: 400, sellBps: 5_000 }, { atBps: 800, sellBps: 10_000 }] };
    const run = show(under(rules), 155.9, 156, 157, 161.9, 162);
    expect(exitsOf(run))
      .toEqual(['2000 "1000000000" exits.take_profit approved', '5000 "all" exits.take_profit approved']);
    expect(reasonsOf(run)[0]).toBe('take profit: 2 SOL sell for 312 USDC, 4 % over their cost of 300 USDC; 50 % of '
      + 'them are sold');
    expect(held(run)).toBe(0n);
  });

  it('a trailing stop follows the best price after its gain, and never goes down', () => {
    const rules = { trailing: { distanceBps: 200, afterBps: 300 } };
    expect(exitsOf(show(under(rules), 154, 140, 150))).toEqual([]);
    const run = show(under(rules), 154.5, 160, 157, 158, 156.8);
    expect(exitsOf(run)).toEqual(['5000 "all" exits.trailing_stop approved']);
    expect(reasonsOf(run)).toEqual(['trailing stop: 2 SOL sell for 313.6 USDC, the stop is at 313.6 USDC']);
  });

  it('break-even puts the stop at the cost and a bit more after a gain', () => {
    const rules = { breakEven: { afterBps: 200, lockBps: 30 } };
    expect(exitsOf(show(under(rules), 152.9, 149))).toEqual([]);
    const run = show(under(rules), 153, 151, 150.45);
    expect(reasonsOf(run)).toEqual(['stop at break-even: 2 SOL sell for 300.9 USDC, the stop is at 300.9 USDC']);
  });

  it('a time limit sells at its instant, without an event and without a price', () => {
    const run = under({ timeLimitMs: HOUR }, { end: (intent) =>
      outcome(intent, 'confirmed', { fill: fillOf(intent, 1n) }) });
    run.engine.advanceTo(HOUR - 1);
    expect(exitsOf(run)).toEqual([]);
    run.engine.advanceTo(2 * HOUR);
    expect(exitsOf(run)).toEqual([`${HOUR} "all" exits.time_limit approved`]);
    expect(reasonsOf(run)).toEqual(['time limit: 2 SOL were held for 1h']);
  });

  it('the highest stop names the exit, and a stop comes before a gain at the same quote', () => {
    const rules = {
      stopLossBps: 500, trailing: { distanceBps: 100, afterBps: 0 }, breakEven: { afterBps: 100, lockBps: 0 },
      takeProfits: [{ atBps: 100, sellBps: 10_000 }],
    };
    expect(exitsOf(show(under(rules), 150.1, 148.599))).toEqual(['2000 "all" exits.trailing_stop approved']);
    expect(exitsOf(show(under({ stopLossBps: 500, takeProfits: rules.takeProfits }), 151.5)))
      .toEqual(['1000 "all" exits.take_profit approved']);
  });

  it('values the sale of the whole position, not the price of a small one', () => {
    const run = under({ stopLossBps: 500 });
    const at = SECOND;
    // One tenth of a SOL sells well; the pool is too thin for two.
    run.engine.accept({ ...quote(SOL, USDC, { inAmount: 100_000_000n, outAmount: 15_000_000n, at }),
      priceImpact: -0.005 }, at);
    expect(reasonsOf(run)[0]).toMatch(/^stop loss: 2 SOL sell for 273\.9\d* USDC, the stop is at 285 USDC/);
  });

  it('is not fired by a purchase’s price, by another token, or without a position', () => {
    const run = under({ stopLossBps: 500 });
    run.engine.accept(quote(USDC, SOL, { inAmount: 25_000_000n, outAmount: 25_000_000_000n, at: SECOND }), SECOND);
    expect(exitsOf(run)).toEqual([]);
    const empty = under({ stopLossBps: 500 }, { snapshot: freshSnapshot(WALLET) });
    expect(exitsOf(show(empty, 150, 1))).toEqual([]);
    expect(empty.state.guarded.size).toBe(0);
  });

  it('takes the first sale price where the cost of a holding is unknown', () => {
    const books = { diver: { ...HOLDING.books['diver']!, costs: {} } };
    const run = show(under({ stopLossBps: 1_000 }, { snapshot: { ...HOLDING, books } }), 200, 181, 180);
    expect(exitsOf(run)).toEqual(['3000 "all" exits.stop_loss approved']);
  });
});

const SELLING: Body = (streams, context) => merge(
  streams['price']!.pipe(filter(() => context.available(SOL) > 0n),
    map(() => context.sell(SOL_USDC, 'all', 'a signal of its own'))),
  context.outcomes$.pipe(filter(({ state }) => state === 'confirmed'),
    map(({ tag }) => context.alert('info', `seen: ${tag}`))),
  context.denials$.pipe(map(({ code }) => context.alert('info', `refused: ${code}`))),
);

const killed = (run: Run): StateSnapshot =>
  JSON.parse(JSON.stringify(snapshotState(run.state))) as StateSnapshot;

const silenced = (intent: Intent): Outcome => outcome(intent, 'abandoned', { code: 'SERVICE_TIMEOUT' });

describe('an exit of a rule', () => {
  it('is tried again after failures until it is sold, and the strategy does not see its refusals', () => {
    let tries = 0;
    const run = under({ stopLossBps: 500 }, { body: SELLING, end: (intent) => (++tries < 3
      ? outcome(intent, 'abandoned', { code: 'SERVICE_TIMEOUT' })
      : outcome(intent, 'confirmed', { fill: fillOf(intent, 270_000_000n) })) });
    show(run, 140);
    for (let at = 2 * SECOND; at <= 60 * SECOND; at += SECOND) run.engine.advanceTo(at);
    expect(tries).toBe(3);
    expect(held(run)).toBe(0n);
    expect(alerts(run).filter((text) => text.includes('seen') || text.includes('refused')))
      .toEqual([expect.stringContaining('seen: exits.stop_loss')]);
    for (const reason of reasonsOf(run)) expect(reason).toMatch(/^stop loss: (?!.*in parts)/);
  });

  it('goes in parts under the signer’s caps', () => {
    const caps = new Map([[SOL.mint, { perTrade: 800_000_000n as Amount }]]);
    const run = show(under({ stopLossBps: 500 }, { limits: { caps } }), 140);
    expect(held(run)).toBe(0n);
    expect(reasonsOf(run)).toHaveLength(3);
  });

  it('overtakes the part of a gain that is under way, and sells everything', () => {
    let isStuck = true;
    const run = under({ stopLossBps: 500, takeProfits: [{ atBps: 400, sellBps: 5_000 }] }, {
      end: (intent) => (isStuck ? undefined : outcome(intent, 'confirmed', { fill: fillOf(intent, 100_000_000n) })),
    });
    show(run, 156, 130);
    expect(held(run)).toBe(2_000_000_000n);
    isStuck = false;
    const at = run.engine.clock.now();
    const id = { id: 'diver-1' } as Intent;
    run.engine.accept(outcome(id, 'building'), at);
    run.engine.accept(outcome(id, 'abandoned', { code: 'SERVICE_TIMEOUT' }), at);
    expect(held(run)).toBe(0n);
    expect(reasonsOf(run).at(-1)).toMatch(/^stop loss/);
  });

  it('leaves an exit of everything alone that is under way already, even of more than is left', () => {
    const run = under({ stopLossBps: 500 }, { end: silenced });
    run.state.exits.put({
      strategy: 'diver', inputMint: SOL.mint, outputMint: USDC.mint, left: 3_000_000_000n as Amount, reason: 'earlier',
      failures: 0,
    });
    show(run, 140, 139, 138);
    expect(exitsOf(run).filter((text) => text.includes('exits.stop_loss'))).toEqual([]);
    expect(exitsOf(run).length).toBeGreaterThan(0);
  });

  it('waits while trading is halted, and follows when it is resumed', () => {
    const run = under({ stopLossBps: 500 });
    run.engine.accept({ kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'a test' }, 500);
    show(run, 140);
    expect(exitsOf(run)).toEqual([]);
    run.engine.accept({ kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a test' }, 3_000);
    expect(exitsOf(run)).toEqual(['3000 "all" exits.stop_loss approved']);
  });

  it('comes before what the strategy proposes at the same quote', () => {
    const run = show(under({ stopLossBps: 500 }, { body: SELLING, watchesSale: true, end: () => undefined }), 140);
    expect(exitsOf(run)).toEqual(['1000 "all" exits.stop_loss approved', '1000 "all" undefined SOL_RESERVE']);
  });
});

describe('what exit rules remember', () => {
  const RULES = { trailing: { distanceBps: 200, afterBps: 300 }, timeLimitMs: HOUR };

  it('survives a kill: the best price, the time, and the levels that were taken', () => {
    const first = show(under(RULES), 154.5, 160);
    const second = show(under(RULES, { snapshot: killed(first), startAt: 10 * SECOND }), 158, 156.8);
    expect(exitsOf(second)).toEqual(['12000 "all" exits.trailing_stop approved']);
    const third = under({ timeLimitMs: HOUR }, {
      snapshot: killed(first), startAt: HOUR / 2,
      end: (intent) => outcome(intent, 'confirmed', { fill: fillOf(intent, 1n) }),
    });
    third.engine.advanceTo(2 * HOUR);
    expect(exitsOf(third)).toEqual([`${HOUR} "all" exits.time_limit approved`]);
    const levels = { takeProfits: [{ atBps: 400, sellBps: 5_000 }, { atBps: 2_000, sellBps: 10_000 }] };
    const taken = show(under(levels), 156);
    expect(exitsOf(show(under(levels, { snapshot: killed(taken), startAt: 10 * SECOND }), 157))).toEqual([]);
  });

  it('leads to no second sale where the bot was killed after the swap was journalled', () => {
    const first = show(under({ stopLossBps: 500 }, { end: () => undefined }), 140);
    const [intent] = first.effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent] : []));
    const second = start([strategy('diver', () => EMPTY)], {
      exits: { stopLossBps: 500 }, snapshot: killed(first), startAt: 10 * SECOND,
      open: [{ intent: intent!, state: 'submitted' }],
    });
    show(second, 139, 138);
    expect(second.effects.filter(({ kind }) => kind === 'execute')).toEqual([]);
    second.engine.accept(outcome(intent!, 'confirmed', { fill: fillOf(intent!, 270_000_000n) }), 20 * SECOND);
    expect(held(second)).toBe(0n);
    expect(second.state.exits.size).toBe(0);
  });

  it('is handed out to be saved at each new best price, before the exit is carried out', () => {
    const versions: number[] = [];
    const run = under(RULES);
    for (const price of [154.5, 154.4, 160, 159]) {
      show(run, price);
      versions.push(run.state.guarded.version);
    }
    expect(versions[0]).toBe(versions[1]);
    expect(versions[2]).toBeGreaterThan(versions[1]!);
    expect(versions[3]).toBe(versions[2]);
  });

  it('ends with the position, and a new position begins from its own cost', () => {
    const run = show(under({ stopLossBps: 500 }), 140);
    expect(run.state.guarded.size).toBe(0);
  });

  it('gives the same hash in a replay, in every order of ends', () => {
    const rules = { ...RULES, stopLossBps: 500, takeProfits: [{ atBps: 200, sellBps: 2_500 }] };
    const first = show(under(rules), 150, 153, 160, 156, 140, 130);
    const again = under(rules, { end: () => undefined });
    for (const { at, input } of first.inputs) again.engine.accept(input, at);
    expect(exitsOf(first).length).toBeGreaterThan(1);
    expect(again.engine.decisionHash).toBe(first.engine.decisionHash);
  });
});
