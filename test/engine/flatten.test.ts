import { EMPTY, map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import type { Input } from '../../src/trading/step.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { effectiveTrading } from '../../src/trading/risk/trading-state-rules.ts';
import { freshSnapshot } from '../../src/trading/engine-state.ts';
import { buyingSol } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { WALLET, buy, fillOf, outcome, verdictOn } from '../trading/states.ts';
import type { Run } from './runs.ts';
import { alerts, start, strategy } from './runs.ts';

const HELD = { [USDC.mint]: '400000000', [SOL.mint]: '2000000000' };
const FLATTEN: Input = { kind: 'command', name: 'flatten', reason: 'a test' };

/** How a swap ends: filled at 100 USDC each, or with a code. */
type Fate = 'filled' | { readonly state: 'failed' | 'expired' | 'abandoned'; readonly code: string };

function holding(
  balances: Readonly<Record<string, string>> = HELD, fate: (intent: Intent, nth: number) => Fate = () => 'filled',
  options: Parameters<typeof start>[1] = {},
): Run {
  let nth = 0;
  return start([strategy('diver', () => EMPTY)], {
    snapshot: { ...freshSnapshot(WALLET), books: { diver: { balances, feesLamports: '0', swaps: 0 } } },
    onEffect: (effect, engine) => {
      if (effect.kind === 'execute')
        for (const step of transitionsOf(effect.intent, fate(effect.intent, ++nth)))
          engine.accept(step, engine.clock.now());
    },
    ...options,
  });
}

function transitionsOf(intent: Intent, fate: Fate): Outcome[] {
  const building = outcome(intent, 'building');
  if (fate !== 'filled' && fate.state === 'abandoned')
    return [building, outcome(intent, 'abandoned', { code: fate.code })];
  const end = fate === 'filled' ? outcome(intent, 'confirmed', { fill: fillOf(intent, intent.amountIn / 10n) })
    : outcome(intent, fate.state, { code: fate.code });
  return [building, outcome(intent, 'signed'), outcome(intent, 'submitted'), end];
}

/** Second by second: what a swap comes to is heard after the timers of its own instant. */
function pass({ engine }: Run, until: Millis): void {
  for (let at = Math.floor(engine.clock.now() / 1_000) * 1_000 + 1_000; at <= until; at += 1_000) engine.advanceTo(at);
}

const swaps = (
  { logged }: Run,
): { readonly at: Millis; readonly of: string; readonly amount: unknown; readonly code: string | null }[] =>
  logged.flatMap(({ at, proposal, code }) =>
    (proposal.kind === 'swap' ? [{ at, of: proposal.inputMint, amount: proposal.amount, code }] : []));

const everyThird = (_intent: Intent, nth: number): Fate =>
  (nth % 3 === 0 ? 'filled' : { state: 'expired', code: 'EXPIRED' });

describe('a flattening strategy', () => {
  it('sells one holding after the other into its budget’s token, and alerts when it is flat', () => {
    const run = holding({ ...HELD, [FISH.mint]: '5000' });
    run.engine.accept(FLATTEN, 1_000);
    expect(swaps(run)).toEqual([
      { at: 1_000, of: SOL.mint, amount: 'all', code: null }, { at: 1_000, of: FISH.mint, amount: 'all', code: null },
    ]);
    expect([...run.state.portfolio.book('diver').balances.keys()]).toEqual([USDC.mint]);
    expect(alerts(run)).toEqual(['1000 flat: diver holds nothing but USDC and enters nothing while it is flattening']);
    pass(run, 3_600_000);
    expect(run.logged).toHaveLength(3);
  });

  it('continues after a restart', () => {
    const snapshot = {
      ...freshSnapshot(WALLET), books: { diver: { balances: HELD, feesLamports: '0', swaps: 0 } },
      flattening: ['diver'], flattenOrders: ['diver'],
    };
    expect(swaps(holding(HELD, () => 'filled', { snapshot })))
      .toEqual([{ at: 0, of: SOL.mint, amount: 'all', code: null }]);
  });

  it('waits longer after each failure, and resets the pause after a success', () => {
    const run = holding({ ...HELD, [FISH.mint]: '5000' }, (_intent, nth) =>
      (nth <= 3 || nth === 5 ? { state: 'expired', code: 'EXPIRED' } : 'filled'));
    run.engine.accept(FLATTEN, 0);
    pass(run, 600_000);
    expect(swaps(run).map(({ at, of }) => [at, of])).toEqual([
      [0, SOL.mint], [5_000, SOL.mint], [15_000, SOL.mint], [35_000, SOL.mint], [35_000, FISH.mint],
      [40_000, FISH.mint],
    ]);
  });

  it('gives up an unsellable holding with a critical alert, and sells the rest', () => {
    const run = holding({ [FISH.mint]: '3', ...HELD }, ({ inputMint }) =>
      (inputMint === FISH.mint ? { state: 'abandoned', code: 'NO_ROUTE' } : 'filled'));
    run.engine.accept(FLATTEN, 0);
    pass(run, 3_600_000);
    expect(swaps(run).filter(({ of }) => of === FISH.mint)).toHaveLength(8);
    expect([...run.state.portfolio.book('diver').balances.keys()]).toEqual([FISH.mint, USDC.mint]);
    expect(run.logged.flatMap(({ proposal }) => (proposal.kind === 'alert' ? [proposal.level] : [])))
      .toEqual(['critical', 'warning']);
    run.engine.accept(FLATTEN, 3_600_001);
    expect(swaps(run).at(-1)).toMatchObject({ at: 3_600_001, of: FISH.mint });
  });

  it('never gives up while the service does not answer', () => {
    const run = holding(HELD, (_intent, nth) =>
      (nth <= 40 ? { state: 'abandoned', code: 'SERVICE_UNREACHABLE' } : 'filled'));
    run.engine.accept(FLATTEN, 0);
    pass(run, 3_600_000);
    expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
    expect(swaps(run)).toHaveLength(41);
  });

  it('sells a holding larger than max_trade in parts', () => {
    const run = holding({ [USDC.mint]: '1', [SOL.mint]: '2000000000' }, () => 'filled', {
      limits: { maxTrade: { mint: SOL.mint, amount: 600_000_000n as Amount } },
    });
    run.engine.accept(FLATTEN, 0);
    const sold = swaps(run);
    expect(sold).toEqual([500_000_000n, 500_000_000n, 500_000_000n, 'all'].map((amount) =>
      ({ at: 0, of: SOL.mint, amount, code: null })));
    expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
  });

  it('keeps the SOL reserve, and reports it', () => {
    const run = holding(HELD, () => 'filled', { limits: { solReserve: 9_000_000_000n as Amount } });
    run.engine.accept(FLATTEN, 0);
    expect(run.state.portfolio.wallet.get(SOL.mint)).toBeGreaterThanOrEqual(9_000_000_000n - 5_000n);
    expect(alerts(run).at(-1)).toMatch(/flat but for its SOL/);
    pass(run, 3_600_000);
    expect(swaps(run)).toHaveLength(1);
  });

  it('proposes nothing while halted, and continues afterwards', () => {
    const run = holding();
    run.engine.accept({ kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'a test' }, 0);
    run.engine.accept(FLATTEN, 1_000);
    pass(run, 600_000);
    expect(run.logged).toEqual([]);
    run.engine.accept({ kind: 'command', name: 'set-trading-state', state: 'reduce-only', reason: 'a test' }, 600_000);
    expect(swaps(run)).toMatchObject([{ at: 600_000, of: SOL.mint, code: null }]);
  });

  it('sells on an operator’s order despite a halting protection, and nothing else passes', () => {
    const absent: Protection =
      { trigger: { kind: 'dead-man', afterMs: 1_000 }, scope: 'global', action: 'halt', release: { kind: 'next-day' } };
    const run = holding(HELD, () => 'filled', { limits: { protections: [absent] } });
    run.engine.accept(buyingSol(150_000, 500), 500);
    run.engine.accept(buyingSol(150_000, 90_000), 90_000);
    expect(effectiveTrading(run.state, 'diver')).toBe('halted');
    run.engine.accept(FLATTEN, 91_000);
    expect(swaps(run)).toEqual([{ at: 91_000, of: SOL.mint, amount: 'all', code: null }]);
    expect([effectiveTrading(run.state, 'diver'), effectiveTrading(run.state)]).toEqual(['reduce-only', 'halted']);
    expect(verdictOn(run.state, buy(), { at: 92_000 })).toBe('TRADING_REDUCE_ONLY');
  });

  it('stops selling when an operator resumes, and when the run ends', () => {
    for (const end of [
      (engine: Engine): void => {
        engine.accept({ kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a test' }, 2_000);
      },
      (engine: Engine): void => { engine.stop(); },
    ]) {
      const run = holding(HELD, () => ({ state: 'expired', code: 'EXPIRED' }));
      run.engine.accept(FLATTEN, 0);
      end(run.engine);
      pass(run, 600_000);
      expect(swaps(run)).toHaveLength(1);
    }
  });

  it('does not publish refusals of the engine’s own proposals to the strategy', () => {
    const heard: string[] = [];
    const listening = strategy('diver', (_streams, context) => context.denials$.pipe(map(({ code }) => {
      heard.push(code);
      return context.alert('info', code);
    })));
    const run = start([listening], {
      snapshot: { ...freshSnapshot(WALLET), books: { diver: { balances: HELD, feesLamports: '0', swaps: 0 } } },
    });
    run.engine.accept({ kind: 'command', name: 'set-service-access', access: 'refused', reason: 'a test' }, 0);
    run.engine.accept(FLATTEN, 0);
    expect(swaps(run)).toMatchObject([{ code: 'SERVICE_UNAUTHORIZED' }]);
    expect(heard).toEqual([]);
  });

  it('gives the same hash in a replay', () => {
    const first = holding({ ...HELD, [FISH.mint]: '5000' }, everyThird);
    first.engine.accept(buyingSol(150_000, 500), 500);
    first.engine.accept(FLATTEN, 1_000);
    pass(first, 90_000);
    const again = holding({ ...HELD, [FISH.mint]: '5000' }, everyThird, { onEffect: () => undefined });
    for (const { at, input } of first.inputs) again.engine.accept(input, at);
    again.engine.advanceTo(90_000);
    expect(first.logged.length).toBeGreaterThan(4);
    expect(again.engine.decisionHash).toBe(first.engine.decisionHash);
  });
});
