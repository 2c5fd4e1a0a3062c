import type { Metrics } from '../metrics/metrics.ts';
import type { ValueKind } from '../metrics/value-text.ts';
import { valueText } from '../metrics/value-text.ts';

/** The names of the objectives. */
export type ObjectiveName = 'sharpe' | 'sortino' | 'calmar' | 'total_return' | 'cagr' | 'max_drawdown' | 'profit_factor'
  | 'expectancy' | 'psr';

/** The part of a trial's result that an objective uses. */
interface Judged {
  readonly metrics: Metrics;
  /** Number of swaps that landed. */
  readonly fills: number;
}

/** A figure by which trials are compared. */
export interface Objective {
  readonly label: string;
  /** Null when the data do not support the figure, and without a swap: a trial that never trades has no drawdown. */
  readonly valueOf: (result: Judged) => number | null;
  readonly better: 'higher' | 'lower';
  readonly kind: ValueKind;
  readonly show: (value: number) => string;
}

/** The objectives by name, which is the name of the metric. */
export const OBJECTIVES: Readonly<Record<ObjectiveName, Objective>> = {
  sharpe: objective('sharpe', { label: 'Sharpe ratio a year', kind: 'ratio' }),
  sortino: objective('sortino', { label: 'Sortino ratio a year', kind: 'ratio' }),
  calmar: objective('calmar', { label: 'Calmar ratio', kind: 'ratio' }),
  total_return: objective('total_return', { label: 'total return', kind: 'share' }),
  cagr: objective('cagr', { label: 'growth a year', kind: 'share' }),
  max_drawdown: objective('max_drawdown', { label: 'max drawdown', kind: 'share', better: 'lower' }),
  profit_factor: objective('profit_factor', { label: 'profit factor', kind: 'ratio' }),
  expectancy: objective('expectancy', { label: 'expectancy of a trade', kind: 'amount' }),
  psr: objective('psr', { label: 'probability of a Sharpe ratio above 0', kind: 'share' }),
};

export const DEFAULT_OBJECTIVE: ObjectiveName = 'sharpe';

/** Returns whether a text names an objective. */
export function isObjectiveName(text: string): text is ObjectiveName {
  return Object.hasOwn(OBJECTIVES, text);
}

/** Returns results best first; equal ones in the given order, those without the figure last. */
export function bestFirst<Result extends Judged>(results: readonly Result[], { valueOf, better }: Objective): Result[] {
  const sign = better === 'higher' ? -1 : 1;
  return results.map((result) => ({ result, value: valueOf(result) }))
    .toSorted((a, b) => (a.value === null || b.value === null ? Number(a.value === null) - Number(b.value === null)
      : sign * (a.value - b.value)))
    .map(({ result }) => result);
}

/** Returns the best result, the first of several; undefined when none has the figure. */
export function bestOf<Result extends Judged>(results: readonly Result[], objective: Objective): Result | undefined {
  const [best] = bestFirst(results, objective);
  return best === undefined || objective.valueOf(best) === null ? undefined : best;
}

function objective(name: ObjectiveName, { label, kind, better = 'higher' }: Pick<Objective, 'label' | 'kind'> & {
  readonly better?: Objective['better'];
}): Objective {
  return { label, valueOf: ({ metrics, fills }) => (fills === 0 ? null : metrics[name]), better, kind, show: (value) =>
    valueText(value, kind) };
}
