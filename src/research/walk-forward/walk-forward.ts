import { assert } from '../../core/assert.ts';
import type { Assessment } from '../metrics/metrics.ts';
import type { ObjectiveName } from '../trials/objectives.ts';
import { OBJECTIVES } from '../trials/objectives.ts';
import type { Benchmarks, RunSeries } from '../metrics/run-figures.ts';
import { assessRun, benchmarksOf, seriesOf } from '../metrics/run-figures.ts';
import type { RunRecord } from '../../backtest/record/run-record.ts';
import type { Repetition, Trial, TrialParams, TrialPool, TrialResult } from '../trials/trial.ts';
import { repetitionOf, trialOf } from '../trials/trial.ts';
import type { Stability } from './stability.ts';
import { stabilityOf, walkForwardEfficiency } from './stability.ts';
import type { FoldOutcome } from './fold-outcome.ts';
import { choose, judged, noChoice } from './fold-outcome.ts';
import type { Fold } from './folds.ts';
import { joinRecords } from './joined-record.ts';

/** The terms of a walk-forward. */
interface WalkForwardTerms {
  readonly folds: readonly Fold[];
  /** The parameter sets to choose from in each fold. */
  readonly sets: readonly TrialParams[];
  readonly objective: ObjectiveName;
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
}

/** A trial of the walk-forward. */
interface WalkedTrial {
  readonly trial: Trial;
  readonly result: TrialResult;
}

/** The out-of-sample periods as one run. */
export interface JoinedRun {
  readonly record: RunRecord;
  readonly series: RunSeries;
  readonly assessment: Assessment;
  readonly benchmarks: Benchmarks;
}

/** The result of a walk-forward. */
export interface WalkForwardResult {
  readonly folds: readonly FoldOutcome[];
  /** Undefined when no fold ran out of sample. */
  readonly joined: JoinedRun | undefined;
  /** Folds that count in the figures below. */
  readonly judged: number;
  /** The judged folds with a gain out of sample. */
  readonly positive: number;
  readonly efficiency: number | undefined;
  readonly stability: Stability;
  /** The first choice that was not repeatable in a thread without later rows; undefined when all were. */
  readonly deviation: Repetition | undefined;
  readonly trials: readonly WalkedTrial[];
}

/** Opens a pool: with any number of threads to choose, or with one to judge. */
export type OpenPool = (purpose: 'choose' | 'judge') => Promise<TrialPool>;

/**
 * Chooses parameters by each fold's in-sample rows alone, and runs the choice on the following rows. No trial receives
 * rows after its period, and a choice is judged in a thread that never ran later rows. Every trial begins with the
 * configured money. Throws INTERRUPTED.
 */
export async function walkForward(openPool: OpenPool, terms: WalkForwardTerms): Promise<WalkForwardResult> {
  const { folds, sets } = terms;
  const objective = OBJECTIVES[terms.objective];
  const all = folds.length * (sets.length + 2);
  let done = 0;
  const run = async (
    purpose: 'choose' | 'judge', wanted: readonly Trial[],
  ): Promise<ReadonlyMap<string, TrialResult>> => {
    const results = await resultsOf(openPool, {
      purpose, wanted, onResult: () => { terms.onProgress?.(Math.min(++done, all), all); },
    });
    return new Map(wanted.map(({ id }) => [id, results.get(id)!]));
  };

  const tried = folds.map((fold) => sets.map((params) => trialOf({ params, period: fold.inSample })));
  const before = await run('choose', tried.flat());
  const choices = tried.map((own) => choose(own.map(({ id }) => before.get(id)!), sets, objective));

  const judging = folds.map((fold, i) => {
    const choice = choices[i];
    return choice === undefined ? undefined
      : trialOf({ params: choice.params, period: fold.outOfSample, keep: 'record' });
  });
  // Each choice runs again before it is judged, to show whether a strategy keeps state.
  const after = await run('judge', folds.flatMap((_, i) =>
    (judging[i] === undefined ? [] : [tried[i]![choices[i]!.place]!, judging[i]])));

  const outcomes = folds.map((fold, i): FoldOutcome => {
    const results = tried[i]!.map(({ id }) => before.get(id)!);
    const [choice, trial] = [choices[i], judging[i]];
    if (choice === undefined || trial === undefined) {
      return {
        fold, tried: results, choice: undefined, outOfSample: undefined, status: 'no_choice',
        reason: noChoice(results, { label: objective.label, name: terms.objective }),
      };
    }
    const result = after.get(trial.id)!;
    return {
      fold, tried: results, choice, outOfSample: result.kind === 'done' ? result : undefined,
      ...judged({ fold, choice, result }),
    };
  });
  const made = [
    ...tried.flat().map((trial) => ({ trial, result: before.get(trial.id)! })),
    ...judging.flatMap((trial) => (trial === undefined ? [] : [{ trial, result: after.get(trial.id)! }])),
  ];
  return {
    ...summed(outcomes),
    folds: outcomes,
    trials: made,
    deviation: choices.flatMap((choice) =>
      (choice === undefined ? [] : [repetitionOf(choice.inSample, after.get(choice.inSample.id)!)]))
      .find(({ isSame }) => !isSame),
  };
}

async function resultsOf(openPool: OpenPool, { purpose, wanted, onResult }: {
  readonly purpose: 'choose' | 'judge';
  readonly wanted: readonly Trial[];
  readonly onResult: () => void;
}): Promise<ReadonlyMap<string, TrialResult>> {
  const results = new Map<string, TrialResult>();
  if (wanted.length === 0) return results;
  const pool = await openPool(purpose);
  try {
    for await (const result of pool.run(wanted)) {
      results.set(result.id, result);
      onResult();
    }
  } finally {
    await pool.close();
  }
  for (const { id } of wanted) assert(results.has(id), () => `trial ${id} was run`);
  return results;
}

/** The summary of all folds; the joined run contains every fold that ran. */
function summed(
  outcomes: readonly FoldOutcome[],
): Pick<WalkForwardResult, 'joined' | 'judged' | 'positive' | 'efficiency' | 'stability'> {
  const counted = outcomes.flatMap(({ fold, status, choice, outOfSample }) => {
    const [inShare, outShare] =
      [choice?.inSample.metrics.total_return ?? null, outOfSample?.metrics.total_return ?? null];
    if (status !== 'judged' || inShare === null || outShare === null) return [];
    return [{
      inSample: { share: inShare, spanMs: fold.inSample.to - fold.inSample.from },
      outOfSample: { share: outShare, spanMs: fold.outOfSample.to - fold.outOfSample.from },
    }];
  });
  return {
    joined: joinedOf(outcomes),
    judged: counted.length,
    positive: counted.filter(({ outOfSample }) => outOfSample.share > 0).length,
    efficiency: walkForwardEfficiency(counted),
    stability: stabilityOf(outcomes.flatMap(({ choice }) => (choice === undefined ? [] : [choice.params]))),
  };
}

function joinedOf(outcomes: readonly FoldOutcome[]): JoinedRun | undefined {
  const ran = outcomes.flatMap(({ fold, outOfSample, status }) =>
    (outOfSample?.record === undefined || status === 'no_rows' ? []
      : [{ number: fold.number, from: fold.outOfSample.from, record: outOfSample.record }]));
  if (ran.length === 0) return undefined;
  const record = joinRecords(ran);
  return {
    record, series: seriesOf(record, record.strategies), assessment: assessRun(record),
    benchmarks: benchmarksOf(record),
  };
}
