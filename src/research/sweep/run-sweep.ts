import { limitWarnings } from '../trials/denial-summary.ts';
import { deflated } from '../metrics/deflated-sharpe.ts';
import type { ObjectiveName } from '../trials/objectives.ts';
import { bestFirst, OBJECTIVES } from '../trials/objectives.ts';
import type { Repetition, TrialResult } from '../trials/trial.ts';
import { notRepeatable, repetitionOf } from '../trials/trial.ts';
import type { Grid } from './grid.ts';
import { neighbourhoodOf } from './neighbourhood.ts';
import type { BestRow, FailedPoint, SweepEffort, SweepOutcome } from './sweep-outcome.ts';
import type { SweepRow } from './grid.ts';
import { sweepRow } from './grid.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { WorkerBox } from '../box/workers.ts';
import { stopwatch } from '../stopwatch.ts';
import type { PlannedTrial, TrialPlan } from '../trials/plan-trials.ts';
import { planTrials } from '../trials/plan-trials.ts';
import type { ResearchInput } from '../research-input.ts';
import { researchWarnings } from '../research-input.ts';
import type { TrialCounter } from '../trials/trial-counter.ts';
import type { RecordingTrialPool } from '../trials/trial-pool.ts';
import { createTrialPool, defaultWorkers } from '../trials/trial-pool.ts';
import type { FinishedTrials } from './finished-trials.ts';

/** The terms of a sweep. */
interface SweepOptions {
  readonly input: ResearchInput;
  readonly grid: Grid;
  readonly objective: ObjectiveName;
  /** Number of processes; by default as many as the machine runs at once. */
  readonly workers?: number | undefined;
  readonly limitMs?: Millis | undefined;
  /** The maximum size of the recording in memory; by default a quarter of the machine's. */
  readonly mostSharedBytes?: number | undefined;
  readonly finished: FinishedTrials;
  readonly counter: TrialCounter;
  readonly interrupt: AbortSignal;
  /** Starts the processes; by default this process does. */
  readonly box?: WorkerBox | undefined;
  readonly onProgress?: (done: number, all: number) => void;
}

/**
 * Runs the trials of a grid that are not known yet, and returns the outcome of all. Throws INTERRUPTED with the number
 * of finished trials.
 */
export async function runSweep(terms: SweepOptions): Promise<SweepOutcome> {
  const { input, grid, finished, counter, interrupt } = terms;
  const plan = await planTrials(grid, input, interrupt);
  const results = new Map<string, TrialResult>();
  for (const { trial: { id } } of plan.trials) {
    const known = finished.known.get(id);
    if (known !== undefined) results.set(id, known);
  }
  const resumed = results.size;
  const { effort, repetition } = await runRest(plan, { results, terms });
  const { rows, failed } = sorted(plan, results, terms.objective);
  const counted = counter.count(rows.map(({ params, result }) => ({ trial: { params }, result })));
  const [first] = ranked(rows, terms.objective);
  const best = first === undefined || first.value === null ? undefined
    : bestRow(first, rows, { terms, counted, isRepeatable: repetition?.isSame });
  return {
    subject: input.config.strategies.map(({ name }) => name).join(', '),
    currency: input.setup.currency, grid, objective: terms.objective, rows, refused: plan.refused, failed, best,
    counted,
    effort: { ...effort, resumed, file: finished.file },
    warnings: [
      ...(repetition?.isSame === false ? [notRepeatable('the best parameters', repetition)] : []),
      ...researchWarnings(input), ...limitWarnings(rows.map(({ result }) => result), 'trial'), ...counter.warnings,
      ...finished.warnings, ...effort.warnings,
    ],
    isMadeUp: input.setup.isMadeUp,
  };
}

/** Returns rows best first; equal ones in the order of the grid, those without an objective last. */
export function ranked(rows: readonly SweepRow[], objective: ObjectiveName): SweepRow[] {
  const byResult = new Map(rows.map((row) => [row.result, row]));
  return bestFirst(rows.map(({ result }) => result), OBJECTIVES[objective]).map((result) => byResult.get(result)!);
}

interface RestOptions {
  readonly results: Map<string, TrialResult>;
  readonly terms: SweepOptions;
}

type Effort = Omit<SweepEffort, 'resumed' | 'file'> & { readonly warnings: readonly string[] };

/**
 * Runs the unknown trials, and repeats the best one, even if all are known, because kept results do not say whether
 * they are repeatable.
 */
async function runRest(
  { trials }: TrialPlan, { results, terms }: RestOptions,
): Promise<{ readonly effort: Effort; readonly repetition: Repetition | undefined }> {
  const waiting = trials.filter(({ trial: { id } }) => !results.has(id)).map(({ trial }) => trial);
  const workers = Math.min(terms.workers ?? defaultWorkers(), Math.max(1, waiting.length));
  const isKnown = waiting.length === 0;
  if (isKnown && trials.length <= 1)
    return { effort: { ran: 0, workers, seconds: 0, events: 0, warnings: [] }, repetition: undefined };
  const { input: { setup, recording }, finished, limitMs, mostSharedBytes, interrupt, onProgress, box } = terms;
  const startedAt = stopwatch();
  let pool: RecordingTrialPool | undefined;
  let events = 0;
  try {
    pool = await createTrialPool(setup, { workers, interrupt, recording, limitMs, mostSharedBytes, box });
    for await (const result of pool.run(waiting)) {
      results.set(result.id, result);
      if (result.kind === 'done') {
        // Failed trials run again next time, because the machine may only have been busy.
        finished.keep(result);
        events += result.events;
      }
      onProgress?.(results.size, trials.length);
    }
    const seconds = isKnown ? 0 : (stopwatch() - startedAt) / 1_000;
    const warnings = !pool.isHeld && !isKnown
      ? ['the recording takes more than a quarter of this machine’s memory: each trial read it from the disk'] : [];
    return {
      effort: { ran: waiting.length, workers, seconds, events, warnings },
      repetition: await repeatBest(pool, { trials, results, terms }),
    };
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'INTERRUPTED') throw error;
    throw new GannetError(
      'INTERRUPTED',
      `interrupted: ${results.size} of ${trials.length} trials are done and kept in ${finished.file}; the same command `
        + 'goes on from there',
      { details: { done: results.size, trials: trials.length }, cause: error },
    );
  } finally {
    await pool?.close();
  }
}

/**
 * Repeats the best trial in a new thread, because state in a strategy's module would reach later trials of one thread.
 * Undefined for a single trial.
 */
async function repeatBest(pool: RecordingTrialPool, { trials, results, terms: { objective } }: {
  readonly trials: readonly PlannedTrial[]; readonly results: ReadonlyMap<string, TrialResult>;
  readonly terms: SweepOptions;
}): Promise<Repetition | undefined> {
  const done = trials.flatMap(({ trial: { id } }) => {
    const result = results.get(id);
    return result?.kind === 'done' ? [result] : [];
  });
  const [best] = bestFirst(done, OBJECTIVES[objective]);
  const planned = trials.find(({ trial: { id } }) => id === best?.id);
  if (best === undefined || planned === undefined || trials.length === 1) return undefined;
  return repetitionOf(best, await pool.runAlone(planned.trial));
}

function sorted(
  { trials }: TrialPlan, results: ReadonlyMap<string, TrialResult>, objective: ObjectiveName,
): { readonly rows: readonly SweepRow[]; readonly failed: readonly FailedPoint[] } {
  const rows: SweepRow[] = [];
  const failed: FailedPoint[] = [];
  for (const { point, trial: { id, params } } of trials) {
    const result = results.get(id)!;
    if (result.kind === 'done') rows.push(sweepRow({ point, params, result }, OBJECTIVES[objective]));
    else failed.push({ point, params, reason: result.reason });
  }
  return { rows, failed };
}

function bestRow(best: SweepRow, rows: readonly SweepRow[], { terms: { grid, objective }, counted, isRepeatable }: {
  readonly terms: SweepOptions; readonly counted: TrialCount | undefined; readonly isRepeatable: boolean | undefined;
}): BestRow {
  const { metrics, returns } = best.result;
  return {
    ...best, isRepeatable,
    metrics: counted === undefined ? metrics : deflated(metrics, returns, counted),
    neighbourhood: neighbourhoodOf(best, rows, { axes: grid.axes, better: OBJECTIVES[objective].better }),
  };
}
