import { describe, expect, it } from 'vitest';
import { watchedBy } from '../../src/config/run-config.ts';
import { describeExits } from '../../src/config/strategies/exit-config.ts';
import { readExits, recordExits } from '../../src/config/value-record.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { configOf, issuesOf } from './load-text.ts';

const text = (exits: string, more = ' budget: "500 USDC",'): string => `
strategies:
  - { use: sma-crossover,${more} params: { pair: SOL/USDC, size: "25 USDC" },
      exits: ${exits} }
`;
const WATCH = 'watch: ["2 SOL", "0.2 SOL"], every: 10s';

describe('the section exits of a strategy', () => {
  it('becomes rules in basis points and sales to quote beside what the strategy watches', async () => {
    const { strategies: [strategy] } = await configOf(text(`{ ${WATCH}, stop_loss_pct: 5, `
      + 'take_profit: [{ at_pct: 4.25, sell_pct: 50 }, { at_pct: 8 }], '
      + 'trailing_stop: { distance_pct: 2, after_pct: 3 }, '
      + 'break_even: { after_pct: 2, lock_pct: 0.3 }, time_limit: 24h }'));
    expect(strategy!.exits!.rules).toEqual({
      stopLossBps: 500, takeProfits: [{ atBps: 425, sellBps: 5_000 }, { atBps: 800, sellBps: 10_000 }],
      trailing: { distanceBps: 200, afterBps: 300 }, breakEven: { afterBps: 200, lockBps: 30 }, timeLimitMs: 86_400_000,
    });
    expect(describeExits(strategy!.exits!)).toBe('stop loss at 5 %, take profit at 4.25 % (50 % of it) and 8 %, '
      + 'trailing stop of 2 % after 3 %, break-even after 2 %, time limit of 1d');
    const sale = { kind: 'quote', inputMint: SOL.mint, outputMint: USDC.mint, everyMs: 10_000 };
    expect(watchedBy(strategy!).slice(1)).toEqual([
      { name: 'exits.watch[0]', spec: { ...sale, amount: 2_000_000_000n } },
      { name: 'exits.watch[1]', spec: { ...sale, amount: 200_000_000n } },
    ]);
    expect(readExits(JSON.parse(JSON.stringify(recordExits(strategy!.exits))) as never)).toEqual(strategy!.exits);
  });

  it.each(['stop_loss_pct: 5', 'take_profit: [{ at_pct: 4 }]', 'trailing_stop: { distance_pct: 2 }',
    'break_even: { after_pct: 2 }'])('is refused without a price of the sale: %s', async (rule) => {
    const key = rule.slice(0, rule.indexOf(':'));
    expect(await issuesOf(text(`{ ${rule} }`))).toEqual([
      `bot.yaml:4:16 strategies[0].exits.${key}: nothing says for how much SOL can be sold into USDC, so the rule `
        + 'could not be checked: add sizes to "exits.watch", about those of the positions, such as watch: ["1 SOL"]',
    ]);
  });

  it('needs no price for a time limit alone, nor sizes where the strategy watches the sale itself', async () => {
    expect((await configOf(text('{ time_limit: 1h }'))).strategies[0]!.exits).toEqual(
      { rules: { timeLimitMs: 3_600_000 }, feeds: [] });
    const own = 'strategies: [{ use: dca, budget: "5 SOL", exits: { stop_loss_pct: 5, watch: ["9 USDC"] }, '
      + 'params: { buy: USDC, spend: "1 SOL", every: 1h } }]';
    expect(await issuesOf(own)).toEqual([]);
  });

  it.each([
    ['{}', '4:7 strategies[0].exits: it has no rule: add one of stop_loss_pct, take_profit, trailing_stop, break_even '
      + 'and time_limit, or remove the key'],
    ['{ watch: ["5 USDC"], time_limit: 1h }', '4:24 strategies[0].exits.watch[0]: expected an amount of a token that '
      + 'is sold, not of the budget’s own'],
    [`{ ${WATCH}, take_profit: [{ at_pct: 8 }, { at_pct: 8 }] }`,
      'strategies[0].exits.take_profit[1].at_pct: expected more than the level before: the lowest comes first'],
    [`{ ${WATCH}, break_even: { after_pct: 2, lock_pct: 2 } }`,
      'strategies[0].exits.break_even.lock_pct: expected less than after_pct: a stop above the price would sell at '
        + 'once'],
    [`{ ${WATCH}, stop_loss_pct: 0.001 }`, 'strategies[0].exits.stop_loss_pct: expected at most two decimal places'],
    [`{ ${WATCH}, stop_loss_pct: 100 }`, 'strategies[0].exits.stop_loss_pct: expected '],
    [`{ ${WATCH}, stop_loss_pct: .nan }`, 'strategies[0].exits.stop_loss_pct: expected a finite number, got .nan'],
    [`{ ${WATCH}, stop_los_pct: 5 }`, 'did you mean "stop_loss_pct"?'],
    ['{ watch: ["1 BONK"], stop_loss_pct: 5 }', 'strategies[0].exits.watch[0]: expected one of SOL, USDC, got "BONK"'],
    ['{ watch: ["0 SOL"], stop_loss_pct: 5 }', 'strategies[0].exits.watch[0]: expected a limit above zero'],
  ])('is refused with its place: %s', async (exits, issue) => {
    const issues = await issuesOf(text(exits));
    expect(issues).toEqual([expect.stringContaining(issue)]);
    expect(issues[0]).toMatch(/^bot\.yaml:4:\d+ /);
  });

  it('needs a budget', async () => {
    expect(await issuesOf(text('{ time_limit: 1h }', ''))).toEqual([expect.stringContaining(
      'strategies[0].exits: without a budget the strategy holds nothing that could be sold') as string]);
  });
});
