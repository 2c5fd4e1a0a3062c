import { createHash } from 'node:crypto';
import type { ObjectiveName } from '../../backtest/objectives.ts';
import { OBJECTIVES } from '../../backtest/objectives.ts';
import type { TrialParams } from '../../backtest/trial.ts';
import type { WalkForwardResult } from '../../backtest/walk-forward.ts';
import type { FoldPlan } from '../../backtest/walk-forward/folds.ts';
import type { WalkForwardReport } from '../../backtest/walk-forward/report.ts';
import { walkForwardVerdict } from '../../backtest/walk-forward/verdict.ts';
import { redactedConfig } from '../../config/config-record.ts';
import { counted } from '../../core/counted.ts';
import { stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import { parametersOf } from '../backtest-report.ts';
import type { Subject } from '../research/subject.ts';

/** What a walk-forward came to, to be told. */
export interface WalkForwardAnswer {
  readonly subject: Subject;
  readonly plan: FoldPlan;
  readonly sets: readonly TrialParams[];
  readonly objective: ObjectiveName;
  readonly anchored: boolean;
  readonly inSampleMs: Millis;
  readonly outOfSampleMs: Millis;
  readonly result: WalkForwardResult;
  /** Made on the rows that it is judged by; undefined where they could not be counted. */
  readonly trials: TrialCount | undefined;
  readonly warnings: readonly string[];
}

/** Returns what the report of an answer is made of. */
export function reportInput({ subject: { config, setup, recording }, sets, objective, anchored, inSampleMs, outOfSampleMs, result, warnings, plan }: WalkForwardAnswer): WalkForwardReport {
  const record = redactedConfig(config);
  return {
    subject: config.strategies.map(({ name }) => name).join(', '),
    terms: `${counted(plan.folds.length, 'fold')} · chosen among ${sets.length} by the ${OBJECTIVES[objective].label}, over ${anchored ? `all before, at least ${formatDuration(inSampleMs)}` : `the ${formatDuration(inSampleMs)} before`} · judged by ${formatDuration(outOfSampleMs)}`,
    warnings, verdict: walkForwardVerdict(result), result, sets, objective,
    currency: setup.currency.symbol,
    parameters: parametersOf(record),
    hashes: [
      ['configuration', createHash('sha256').update(stringifyJson(record)).digest('hex')],
      ['recording', recording.manifest.digestsSha256 ?? 'was never closed'],
      ['made by', `Node ${process.version}, ${process.arch}`],
    ],
  };
}
