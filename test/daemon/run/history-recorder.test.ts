import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { HistoryRecorder } from '../../../src/daemon/run/history-recorder.ts';
import { ALL_STRATEGIES } from '../../../src/store/history.ts';
import { sellingSol } from '../../market/events.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { temporaryHistory } from '../../store/fixtures.ts';
import { stateWith, strategySetup } from '../../trading/states.ts';
import { START, start } from '../session-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ALL = { to: START + 1e9, limit: 1_000 };
const usdc = (amount: bigint): { readonly mint: typeof USDC.mint; readonly amount: Amount } =>
  ({ mint: USDC.mint, amount: amount as Amount });

describe('the history of a run', () => {
  it('samples equity and prices after a second and each minute of a session, in its true time', async () => {
    const daemon = await start();
    await daemon.pass(3 * MINUTE);
    const { currency, points } = daemon.history.equity(ALL_STRATEGIES, ALL)!;
    expect(currency).toBe(USDC.mint);
    expect(points.map(({ at }) => at - START)).toStrictEqual(
      [SECOND, MINUTE + SECOND, 2 * MINUTE + SECOND, 3 * MINUTE + SECOND]);
    expect(points.map(({ value, deposits }) => value - deposits)).toStrictEqual([0n, 0n, 0n, 0n]);
    expect(daemon.history.equity('ticker', ALL)!.points).toHaveLength(4);
    const prices = daemon.history.prices({ input: SOL.mint, output: USDC.mint }, ALL);
    expect(prices.map(({ at }) => at - START))
      .toStrictEqual([MINUTE + SECOND, 2 * MINUTE + SECOND, 3 * MINUTE + SECOND]);
  });

  it('takes a changed budget, and a strategy that comes or goes, for deposits', () => {
    const { history } = temporaryHistory();
    const sampled = (setups: ReturnType<typeof strategySetup>[], change?: (book: string) => void) => {
      const state = stateWith({ strategies: setups });
      change?.('diver');
      state.market.observe(sellingSol(150_000, START));
      return { state, recorder: new HistoryRecorder({ state, history, isNewLedger: false, at: START + HOUR }) };
    };
    const last = (): bigint[] => {
      const { value, deposits } = history.equity(ALL_STRATEGIES, ALL)!.points.at(-1)!;
      return [value, deposits];
    };
    // 500 USDC, of which 20 are lost.
    const first = sampled([strategySetup('diver')]);
    first.recorder.sample(START);
    first.state.portfolio.book('diver').balances.set(USDC.mint, 480_000_000n as Amount);
    first.recorder.sample(START + MINUTE);
    expect(last()).toStrictEqual([480_000_000n, 500_000_000n]);
    // The next run gives it 600, and another one 50: 150 more, the loss stays.
    const second = sampled([
      strategySetup('diver', { budget: usdc(600_000_000n) }), strategySetup('other', { budget: usdc(50_000_000n) }),
    ]);
    second.state.portfolio.book('diver').balances.set(USDC.mint, 580_000_000n as Amount);
    second.recorder.sample(START + 2 * MINUTE);
    expect(last()).toStrictEqual([630_000_000n, 650_000_000n]);
    // Without diver its 580 leave, and the loss stays.
    sampled([strategySetup('other', { budget: usdc(50_000_000n) })]).recorder.sample(START + 3 * MINUTE);
    expect(last()).toStrictEqual([50_000_000n, 70_000_000n]);
  });

  it('goes on with the prices of a pair after a manual swap of a smaller amount', () => {
    const { history } = temporaryHistory();
    const state = stateWith();
    const recorder = new HistoryRecorder({ state, history, isNewLedger: false, at: START });
    const small = sellingSol(150_000, START);
    state.market.observe({ ...small, feed: `${small.feed}1`, inAmount: (small.inAmount / 10n) as Amount });
    for (const minutes of [1, 20, 40]) {
      state.market.observe(sellingSol(150_000, START + minutes * MINUTE));
      recorder.sample(START + minutes * MINUTE);
    }
    expect(history.prices({ input: SOL.mint, output: USDC.mint }, ALL).map(({ at }) => (at - START) / MINUTE))
      .toStrictEqual([1, 20, 40]);
  });

  it('begins again on a new chain, and keeps the profit of the earlier one', () => {
    const { history } = temporaryHistory();
    const state = stateWith();
    const recorder = new HistoryRecorder({ state, history, isNewLedger: false, at: START });
    recorder.sample(START);
    state.portfolio.book('diver').balances.set(USDC.mint, 530_000_000n as Amount);
    recorder.sample(START + MINUTE);
    const next = new HistoryRecorder({ state: stateWith(), history, isNewLedger: true, at: START + HOUR });
    next.sample(START + 2 * MINUTE);
    const { value, deposits } = history.equity(ALL_STRATEGIES, ALL)!.points.at(-1)!;
    expect([value, value - deposits]).toStrictEqual([500_000_000n, 30_000_000n]);
  });
});
