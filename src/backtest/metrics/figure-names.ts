/** What each figure is called by people, by its name among the metrics. */
export const FIGURE_NAMES = {
  total_return: 'total return',
  cagr: 'growth a year (CAGR)',
  volatility: 'volatility a year',
  sharpe: 'Sharpe ratio a year',
  sortino: 'Sortino ratio a year',
  calmar: 'Calmar ratio',
  max_drawdown: 'deepest drawdown',
  max_drawdown_absolute: 'largest drawdown',
  drawdown_start: 'the beginning of the deepest drawdown',
  drawdown_trough: 'its lowest point',
  drawdown_recovered: 'its end',
  ulcer_index: 'ulcer index',
  win_rate: 'round trips won',
  profit_factor: 'profit factor',
  expectancy: 'expectancy of a round trip',
  payoff_ratio: 'payoff ratio',
  exposure: 'exposure',
  turnover: 'turnover a year',
  fees_paid: 'fees paid',
  realized_slippage_bps: 'slippage, bps',
  landing_rate: 'transactions that landed',
  skewness: 'skewness',
  kurtosis: 'kurtosis',
  psr: 'P(Sharpe > 0)',
  min_track_record_length: 'returns to be sure',
  dsr: 'deflated Sharpe ratio',
  trials: 'trials',
} as const;

/** Returns figures for people, from their names among the metrics: "Calmar ratio and expectancy of a round trip". */
export function figuresText(names: readonly string[]): string {
  const known: Readonly<Record<string, string>> = FIGURE_NAMES;
  const texts = names.map((name) => known[name] ?? name);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)!}`;
}
