/** The authors' test harness: a strategy in virtual time on the real engine, for any test runner. */
export { testStrategy } from './strategy-run.ts';
export type { FeedName, StrategyRun } from './strategy-run.ts';
export { paramErrors } from './test-setup.ts';
export type { BesideOptions, EntryOptions, TestOptions } from './test-setup.ts';
export type { MarketValue } from './market-values.ts';
export type { TimelineEntry } from './timeline.ts';
export type { SwapAnswer, SwapAnswers, SwapEnd } from './swap-answers.ts';
export type { AlertRecord, DenialRecord, OutcomeRecord, RunRecord, SwapRecord } from './run-records.ts';
