import type { z } from 'zod';
import { messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { FeedKey } from '../market/event.ts';
import type { Token } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import { withTokens } from '../strategy/params.ts';
import { missingFeeds } from './missing-feeds.ts';
import type { BacktestStrategy } from './setup.ts';
import type { Trial } from './trial.ts';
import { rawParamsIn } from './trial.ts';

/** A strategy of the configuration with its code, whose parameters are still as in the file. */
export interface UnreadStrategy extends Omit<BacktestStrategy, 'params'> {
  readonly rawParams: unknown;
}

/** What parameters are read by: names of tokens, and what there is to watch. */
export interface ReadingTerms {
  readonly tokens: readonly Token[];
  readonly feeds: readonly FeedKey[];
}

const LONGEST_REASON = 500;

/** Returns the strategies with the parameters of a trial, or why there is no such trial. */
export function trialStrategies(trial: Pick<Trial, 'params'>, strategies: readonly UnreadStrategy[], { tokens, feeds }: ReadingTerms): readonly BacktestStrategy[] | string {
  const table = tokenTable(tokens);
  const read: BacktestStrategy[] = [];
  try {
    for (const { rawParams, ...strategy } of strategies) {
      const parsed = withTokens(table, () => strategy.strategy.params.safeParse(rawParamsIn(trial, { name: strategy.name, rawParams })));
      if (!parsed.success) return `${strategy.name}: ${reasonOf(parsed.error)}`;
      read.push({ ...strategy, params: parsed.data });
    }
    const missing = missingFeeds(read, { feeds, tokens: table });
    return missing === undefined ? read : `the recording ${missing}`;
  } catch (error) {
    // A schema and `inputs` are the author's code.
    return `these parameters bring the strategy down before it starts: ${printable(messageOf(error), LONGEST_REASON)}`;
  }
}

function reasonOf({ issues }: z.ZodError): string {
  return printable(issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; '), LONGEST_REASON);
}
