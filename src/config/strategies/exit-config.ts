import { z } from 'zod';
import { formatDuration, parseDuration } from '../../core/time.ts';
import type { FeedSpec } from '../../market/feed.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { ValueLimit } from '../../trading/limits.ts';
import type { ExitPlan, ExitRules } from '../../trading/positions/exit-plan.ts';
import type { ProblemList } from '../config-issue.ts';
import type { ConfigPath } from '../config-tree.ts';
import type { AmountReader } from '../resolve-tokens.ts';
import { amount, duration } from '../schema-fields.ts';

/** Returns the schema of a percentage above `least`, of at most two places, so that it is whole basis points. */
const percent = (least: number, most: number, example: number) => z.number().gt(least).max(most)
  .refine((value) => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6, {
    message: 'expected at most two decimal places',
  }).meta({ examples: [example] });

/** The section "exits" of a strategy. */
export const exitsSchema = z.strictObject({
  watch: z.array(amount('2 SOL')).max(20).default([])
    .meta({ description: 'Sizes of which a sale into the budget’s token is quoted for the rules, about those of the '
      + 'positions: ["2 SOL"]. May be left out where the strategy itself watches such quotes.' }),
  every: duration('5s').default('5s').meta({ description: 'How often these sales are quoted.' }),
  stop_loss_pct: percent(0, 99.99, 5).optional()
    .meta({ description: 'Sells all where the sale would bring this much less than the position cost with fees.' }),
  take_profit: z.array(z.strictObject({
    at_pct: percent(0, 100_000, 8).meta({ description: 'The gain over the cost.' }),
    sell_pct: percent(0, 100, 50).default(100)
      .meta({ description: 'The share of what is held by then; left out, all.' }),
  })).min(1).max(20).optional()
    .meta({ description: 'Sells at gains, lowest first: [{ at_pct: 4, sell_pct: 50 }, { at_pct: 8 }].' }),
  trailing_stop: z.strictObject({
    distance_pct: percent(0, 99.99, 2).meta({ description: 'The distance from the best price since the purchase.' }),
    after_pct: percent(-0.01, 100_000, 3).default(0)
      .meta({ description: 'The gain from which on it counts; left out, from the start.' }),
  }).optional().meta({ description: 'A stop that follows the price up and never down.' }),
  break_even: z.strictObject({
    after_pct: percent(0, 100_000, 2).meta({ description: 'The gain from which on it counts.' }),
    lock_pct: percent(-0.01, 100_000, 0.3).default(0)
      .meta({ description: 'How far above the cost the stop is then; left out, at the cost.' }),
  }).optional().meta({ description: 'After a gain, a stop at the cost.' }),
  time_limit: duration('24h').optional().meta({ description: 'Sells all after this time.' }),
}).meta({ description: 'Rules by which every position of the strategy is sold, whatever its code does. They are '
  + 'checked against what the sale of the whole position would bring, and hold over restarts, in backtests and in '
  + 'replays.' });

type ExitsEntry = z.output<typeof exitsSchema>;

interface ExitScope {
  readonly path: ConfigPath;
  readonly tokens: TokenTable;
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
  readonly budget: ValueLimit | undefined;
  /** What the strategy itself watches; undefined where its code was not asked. */
  readonly watched: readonly FeedSpec[] | undefined;
}

/** Returns the exit rules of an entry with the sales to quote; what is wrong with them is added to the problems. */
export function resolveExits(entry: ExitsEntry | undefined, scope: ExitScope): ExitPlan | undefined {
  if (entry === undefined) return undefined;
  const { path: base, problems, budget } = scope;
  const path = [...base, 'exits'];
  const rules = rulesOf(entry);
  if (Object.keys(rules).length === 0) {
    // A rule with a fault is no rule either, and is reported already.
    if (!problems.isFaulty(path)) {
      problems.add(path, 'it has no rule: add one of stop_loss_pct, take_profit, trailing_stop, break_even and '
        + 'time_limit, or remove the key', { at: 'key' });
    }
    return undefined;
  }
  if (budget === undefined) {
    problems.add(path, 'without a budget the strategy holds nothing that could be sold: add a "budget", or remove the '
      + 'key', { at: 'key' });
    return undefined;
  }
  const late = entry.take_profit?.findIndex((level, index, levels) =>
    index > 0 && level.at_pct <= levels[index - 1]!.at_pct) ?? -1;
  if (late >= 0) {
    problems.add(
      [...path, 'take_profit', late, 'at_pct'], 'expected more than the level before: the lowest comes first',
    );
  }
  const { break_even: breakEven } = entry;
  if (breakEven !== undefined && breakEven.lock_pct >= breakEven.after_pct) {
    problems.add([...path, 'break_even', 'lock_pct'],
      'expected less than after_pct: a stop above the price would sell at once');
  }
  const feeds = feedsOf(entry, { ...scope, path }, budget.mint);
  // A time limit alone needs no price.
  const priced = PRICED.find((key) => entry[key] !== undefined);
  if (priced !== undefined) refuseUnpriced(feeds, { ...scope, path }, budget.mint, priced);
  return { rules, feeds };
}

/** Returns exit rules for people: "stop loss at 5 %, time limit of 24h". */
export function describeExits({ rules }: ExitPlan): string {
  const { stopLossBps, takeProfits, trailing, breakEven, timeLimitMs } = rules;
  const levels = takeProfits?.map(({ atBps, sellBps }) =>
    `${pct(atBps)}${sellBps === 10_000 ? '' : ` (${pct(sellBps)} of it)`}`).join(' and ');
  return [
    stopLossBps === undefined ? [] : `stop loss at ${pct(stopLossBps)}`,
    levels === undefined ? [] : `take profit at ${levels}`,
    trailing === undefined ? [] : `trailing stop of ${pct(trailing.distanceBps)} after ${pct(trailing.afterBps)}`,
    breakEven === undefined ? [] : `break-even after ${pct(breakEven.afterBps)}`,
    timeLimitMs === undefined ? [] : `time limit of ${formatDuration(timeLimitMs)}`,
  ].flat().join(', ');
}

function pct(bps: number): string {
  return `${bps / 100} %`;
}

/** The rules that need a price. */
const PRICED = ['stop_loss_pct', 'take_profit', 'trailing_stop', 'break_even'] as const;

function rulesOf({
  stop_loss_pct: stopLoss, take_profit: takeProfit, trailing_stop: trailing, break_even: breakEven, time_limit: limit,
}: ExitsEntry): ExitRules {
  return {
    ...(stopLoss === undefined ? {} : { stopLossBps: bpsOf(stopLoss) }),
    ...(takeProfit === undefined ? {} : {
      takeProfits: takeProfit.map(({ at_pct: at, sell_pct: sell }) => ({ atBps: bpsOf(at), sellBps: bpsOf(sell) })),
    }),
    ...(trailing === undefined ? {}
      : { trailing: { distanceBps: bpsOf(trailing.distance_pct), afterBps: bpsOf(trailing.after_pct) } }),
    ...(breakEven === undefined ? {}
      : { breakEven: { afterBps: bpsOf(breakEven.after_pct), lockBps: bpsOf(breakEven.lock_pct) } }),
    ...(limit === undefined ? {} : { timeLimitMs: parseDuration(limit) }),
  };
}

function bpsOf(percentage: number): number {
  return Math.round(percentage * 100);
}

function feedsOf({ watch, every }: ExitsEntry, { path, amounts, problems }: ExitScope, into: Mint): FeedSpec[] {
  return watch.flatMap((text, index): FeedSpec[] => {
    const place = [...path, 'watch', index];
    const size = amounts.limit(place, text);
    if (size === undefined) return [];
    if (size.mint === into) {
      problems.add(place, 'expected an amount of a token that is sold, not of the budget’s own');
      return [];
    }
    return [{
      kind: 'quote', inputMint: size.mint, outputMint: into, amount: size.amount, everyMs: parseDuration(every),
    }];
  });
}

/** Refuses rules without a price at which a token that the strategy can hold is sold. */
function refuseUnpriced(
  feeds: readonly FeedSpec[], { path, tokens, problems, watched }: ExitScope, into: Mint, rule: string,
): void {
  if (watched === undefined || problems.isFaulty([...path, 'watch'])) return;
  const quotes = [...watched, ...feeds].filter((spec) => spec.kind === 'quote');
  const sold = new Set(quotes.filter(({ outputMint }) => outputMint === into).map(({ inputMint }) => inputMint));
  const traded = new Set(quotes.flatMap(({ inputMint, outputMint }) => [inputMint, outputMint]));
  traded.delete(into);
  const unpriced = [...traded].filter((mint) => !sold.has(mint)).map((mint) => tokens.byMint(mint)?.symbol ?? mint);
  if (unpriced.length === 0 && traded.size > 0) return;
  const cash = tokens.byMint(into)?.symbol ?? into;
  const [token = 'SOL'] = unpriced;
  const what = unpriced.length === 0 ? 'a position' : unpriced.join(', ');
  problems.add([...path, rule], `nothing says for how much ${what} can be sold into ${cash}, so the rule could not be `
    + `checked: add sizes to "exits.watch", about those of the positions, such as watch: ["1 ${token}"]`,
  { at: 'key' });
}
