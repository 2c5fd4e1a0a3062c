import { figuresText } from './figure-names.ts';

/** Why a figure is missing, or thin. */
export type DoubtCode =
  | 'autocorrelation'
  | 'breakeven_left_out'
  | 'coverage_low'
  | 'drawdown_open'
  | 'equity_not_positive'
  | 'fees_of_no_trip'
  | 'few_returns'
  | 'few_trades'
  | 'interval_left_out'
  | 'likely_percent'
  | 'no_drawdown'
  | 'no_loss'
  | 'no_time_span'
  | 'no_trades'
  | 'no_trading_record'
  | 'no_variance'
  | 'no_win'
  | 'not_above_benchmark'
  | 'not_deflated'
  | 'not_finite'
  | 'nothing_below_mar'
  | 'nothing_quoted'
  | 'nothing_sent'
  | 'scarce_returns'
  | 'short_span'
  | 'still_held'
  | 'too_short'
  | 'trials_unknown'
  | 'unbought_sold';

/** Why a figure is missing or thin, for scripts and for people. */
export interface MetricWarning {
  readonly code: DoubtCode;
  readonly message: string;
  /** The figures that it is about, by their names among the metrics; the message has them in plain words. */
  readonly figures: readonly string[];
}

const WITHOUT = '; not given: ';

/** Returns what a warning rests on, without the figures that are left out for it. */
export function factOf({ message }: Pick<MetricWarning, 'message'>): string {
  return message.split(WITHOUT)[0]!;
}

/**
 * How thin data are met: in a backtest a figure that the data cannot support is left out; whoever has a series of their own
 * analysed is told, and gets what is mathematically defined.
 */
export type Strictness = 'backtest' | 'analyze';

/** Collects the doubts about the figures of one series. */
export interface Doubts {
  readonly warnings: readonly MetricWarning[];
  /** Says why something is missing, or what to know about it. */
  tell(code: DoubtCode, message: string, figures: readonly string[]): void;
  /** Says that the data are too thin for some figures, and returns whether they are given all the same. */
  thin(code: DoubtCode, fact: string, figures: readonly string[]): boolean;
}

/** Returns an empty collection of doubts. */
export function createDoubts(strictness: Strictness): Doubts {
  const warnings: MetricWarning[] = [];
  const tell = (code: DoubtCode, message: string, figures: readonly string[]): void => { warnings.push({ code, message, figures }); };
  return {
    warnings,
    tell,
    thin: (code, fact, figures) => {
      const given = strictness === 'analyze';
      tell(code, `${fact}${given ? '; to be taken with caution: ' : WITHOUT}${figuresText(figures)}`, figures);
      return given;
    },
  };
}
