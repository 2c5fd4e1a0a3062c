import { counted } from '../../core/counted.ts';
import type { Grid, GridPoint } from '../sweep/grid.ts';
import { paramsAt, pointsOf } from '../sweep/grid.ts';
import type { UnparsedStrategy } from './run-trial.ts';
import { trialStrategies } from './run-trial.ts';
import type { Trial, TrialParams } from './trial.ts';
import { trialOf } from './trial.ts';
import { GannetError } from '../../core/errors.ts';
import { interruption } from '../../recording/interrupt.ts';
import type { ResearchInput } from '../research-input.ts';

/** A combination that is run. */
export interface PlannedTrial {
  readonly point: GridPoint;
  readonly trial: Trial;
}

/** A combination that is none: a strategy's schema says no, or the recording lacks what it would watch. */
export interface RefusedPoint {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly reason: string;
}

/** What becomes of a grid. */
export interface TrialPlan {
  /** In the order of the grid. */
  readonly trials: readonly PlannedTrial[];
  readonly refused: readonly RefusedPoint[];
}

/** What combinations are read by. */
interface PlanningContext {
  readonly config: Pick<ResearchInput['config'], 'strategies'>;
  readonly setup: Pick<ResearchInput['setup'], 'tokens'>;
  readonly recording: Pick<ResearchInput['recording'], 'feeds'>;
}

/** So many draws for each sample: where nearly all combinations are refused, drawing ends. */
const MOST_DRAWS = 20;
/** Between two looks at whether anybody still waits. */
const INTERRUPT_EVERY = 500;

/**
 * Returns the trials of a grid; a random search draws until it has its samples, or there are no more to be had. Throws
 * CONFIG_INVALID where every combination is refused, and INTERRUPTED.
 */
export async function planTrials(
  grid: Grid, { config, setup, recording }: PlanningContext, interrupt?: AbortSignal,
): Promise<TrialPlan> {
  const { axes, search } = grid;
  const wanted = search.kind === 'grid' ? Infinity : search.samples;
  const strategies = config.strategies.map(({ maxAgeMs, maxExposure, budget, ...rest }): UnparsedStrategy =>
    ({ ...rest, budget, limits: { maxAgeMs, maxExposure } }));
  const planned: PlannedTrial[] = [];
  const refused: RefusedPoint[] = [];
  for (const point of pointsOf(grid)) {
    const drawn = planned.length + refused.length;
    if (planned.length === wanted || drawn >= wanted * MOST_DRAWS) break;
    if (drawn % INTERRUPT_EVERY === INTERRUPT_EVERY - 1) {
      await new Promise((resolve) => { setImmediate(resolve); });
      if (interrupt?.aborted === true) throw interruption();
    }
    const trial = trialOf({ params: paramsAt(axes, point) });
    const read = trialStrategies(trial, strategies, { tokens: setup.tokens, feeds: recording.feeds });
    if (typeof read === 'string') refused.push({ point, params: trial.params, reason: read });
    else planned.push({ point, trial });
  }
  const [first] = refused;
  if (planned.length === 0 && first !== undefined)
    throw new GannetError('CONFIG_INVALID', refused.length === 1 ? `the only combination is refused: ${first.reason}`
      : `all ${counted(refused.length, 'combination')} are refused; the first: ${first.reason}`);
  return { trials: planned, refused };
}
