import { map, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../src/backtest/backtest.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import type { ExitRules } from '../../src/trading/positions/exit-plan.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { strategy } from '../engine/runs.ts';
import { quote } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { CALM } from './measured.ts';
import { cursorOver } from './recordings.ts';

/** Buys one SOL at the first price, and does nothing more. */
const ENTERING = () => strategy('diver', ({ price }, context) => price!.pipe(take(1), map(() =>
  context.buy(SOL_USDC, { token: USDC, amount: 150_000_000n }, 'in'))));

/** Both directions of one SOL at a price, every five seconds. */
function market(prices: readonly number[]) {
  return cursorOver(prices.flatMap((price, n) => {
    const at = (n + 1) * 5_000;
    const usd = BigInt(Math.round(price * 1e6));
    return [
      quote(SOL, USDC, { inAmount: 1_000_000_000n, outAmount: usd, at }),
      { ...quote(USDC, SOL, { inAmount: usd, outAmount: 1_000_000_000n, at }), feed: PURCHASE },
    ].map((input) => ({ at, input }));
  }));
}

/** The feed that the strategy watches. */
const PURCHASE = quote(USDC, SOL, { inAmount: 25_000_000n, outAmount: 1n }).feed;

function backtest(exits: ExitRules, prices: readonly number[]): {
  readonly hash: string; readonly exits: string[]; readonly pays: readonly bigint[];
  /** When swaps landed. */
  readonly times: readonly number[];
} {
  const decisions: LoggedDecision[] = [];
  const result = runBacktest({
    state: stateWith({ strategies: [strategySetup('diver', { limits: { exits: { rules: exits, feeds: [] } } })] }),
    strategies: [ENTERING()], seed: 7, startAt: 0, cursor: market(prices), model: { ...BASE_MODEL, ...CALM },
    stopwatch: () => 0, onDecision: (decision) => { decisions.push(decision); },
  });
  return {
    hash: result.decisionHash,
    times: result.fills.map(({ at }) => at),
    exits: decisions.flatMap(({ at, proposal, code }) => (proposal.kind === 'swap' && proposal.inputMint === SOL.mint
      ? [`${at} ${proposal.tag} ${code ?? 'approved'}`] : [])),
    pays: result.fills.flatMap(({ intent, fill }) => (intent.purpose === 'exit' ? [fill.amountOut] : [])),
  };
}

describe('exit rules of the configuration in a backtest', () => {
  it.each([
    ['stop loss', { stopLossBps: 500 }, [150, 150, 150, 143, 142, 141], '25000 exits.stop_loss approved'],
    ['take profit', { takeProfits: [{ atBps: 500, sellBps: 10_000 }] }, [150, 150, 157, 158, 159],
      '20000 exits.take_profit approved'],
    ['trailing stop', { trailing: { distanceBps: 200, afterBps: 300 } }, [150, 150, 156, 160, 157, 156, 156],
      '30000 exits.trailing_stop approved'],
    ['break-even', { breakEven: { afterBps: 200, lockBps: 0 } }, [150, 150, 155, 151, 149, 149],
      '25000 exits.break_even approved'],
  ] as const)('%s fires at the first quote at or beyond its level, the same in every run', (
    _name, rules, prices, exit,
  ) => {
    const first = backtest(rules, prices);
    expect(first.exits).toEqual([exit]);
    expect(backtest(rules, prices).hash).toBe(first.hash);
    expect(backtest({ timeLimitMs: 3_600_000 }, prices).exits).toEqual([]);
  });

  it('the time limit fires at its instant after the purchase, between two quotes too', () => {
    const flat = [150, 150, 150, 150, 150, 150, 150];
    const { exits } = backtest({ timeLimitMs: 12_000 }, flat);
    const [bought] = backtest({ timeLimitMs: 3_600_000 }, flat).times;
    expect(exits).toEqual([`${bought! + 12_000} exits.time_limit approved`]);
    expect((bought! + 12_000) % 5_000).not.toBe(0);
  });

  it('a gap through the stop sells for what the market pays', () => {
    const { exits, pays } = backtest({ stopLossBps: 500 }, [150, 150, 150, 110, 110, 110, 110]);
    expect(exits).toEqual(['20000 exits.stop_loss approved']);
    expect(Number(pays[0]) / 1e6).toBeGreaterThan(105);
    expect(Number(pays[0]) / 1e6).toBeLessThan(110.1);
  });
});
