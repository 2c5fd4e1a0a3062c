import { figuresText } from './figure-text.ts';

/** Why a figure is missing, or thin. */
export type WarningCode =
  | 'autocorrelation'
  | 'breakeven_left_out'
  | 'coverage_low'
  | 'drawdown_open'
  | 'equity_not_positive'
  | 'fees_of_no_trip'
  | 'few_days'
  | 'few_returns'
  | 'few_trades'
  | 'interval_left_out'
  | 'likely_percent'
  | 'no_benchmark'
  | 'no_drawdown'
  | 'no_entry_price'
  | 'no_loss'
  | 'no_time_span'
  | 'no_trade_order'
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
  readonly code: WarningCode;
  readonly message: string;
  /** The affected figures, by their names among the metrics; the message contains their names for people. */
  readonly figures: readonly string[];
}

const WITHOUT = '; not given: ';

/** Returns the reason of a warning, without the figures that are left out. */
export function factOf({ message }: Pick<MetricWarning, 'message'>): string {
  return message.split(WITHOUT)[0]!;
}

/**
 * How figures on thin data are treated. A backtest leaves them out. The analysis of an external series gives every
 * figure that is mathematically defined, with a warning.
 */
export type Strictness = 'backtest' | 'analyze';

/** Collects the warnings about the figures of one series. */
export interface WarningCollector {
  readonly all: readonly MetricWarning[];
  /** Adds the reason why figures are missing or unreliable. */
  add(code: WarningCode, message: string, figures: readonly string[]): void;
  /** Adds that the data are too thin for some figures, and returns whether they are given nevertheless. */
  addThinData(code: WarningCode, fact: string, figures: readonly string[]): boolean;
}

/** Returns an empty collector. */
export function createWarningCollector(strictness: Strictness): WarningCollector {
  const warnings: MetricWarning[] = [];
  const add: WarningCollector['add'] = (code, message, figures) => { warnings.push({ code, message, figures }); };
  return {
    all: warnings,
    add,
    addThinData: (code, fact, figures) => {
      const given = strictness === 'analyze';
      add(code, `${fact}${given ? '; unreliable: ' : WITHOUT}${figuresText(figures)}`, figures);
      return given;
    },
  };
}
