import { strategyLimits } from '../../config/run-config.ts';
import { pluralize } from '../../core/text.ts';
import type { Grid, GridPoint } from '../sweep/grid.ts';
import { paramsAt, pointsOf } from '../sweep/grid.ts';
import type { UnparsedStrategy } from './run-trial.ts';
import { trialStrategies } from './run-trial.ts';
import type { Trial, TrialParams } from './trial.ts';
import { trialOf } from './trial.ts';
import { GannetError } from '../../core/errors.ts';
import { yieldToInterrupt } from '../../recording/interrupt.ts';
import type { ResearchInput } from '../research-input.ts';

/** A combination to run. */
export interface PlannedTrial {
  readonly point: GridPoint;
  readonly trial: Trial;
}

/** A combination that cannot run: a strategy's schema refuses it, or the recording lacks its feeds. */
export interface RefusedPoint {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly reason: string;
}

/** The trials of a grid. */
export interface TrialPlan {
  /** In the order of the grid. */
  readonly trials: readonly PlannedTrial[];
  readonly refused: readonly RefusedPoint[];
}

/** The context in which combinations are parsed. */
interface PlanningContext {
  readonly config: Pick<ResearchInput['config'], 'strategies'>;
  readonly setup: Pick<ResearchInput['setup'], 'tokens'>;
  readonly recording: Pick<ResearchInput['recording'], 'feeds'>;
}

/** The maximum number of draws for each sample, in case nearly all combinations are refused. */
const MOST_DRAWS = 20;
/** The interrupt is checked after so many combinations. */
const INTERRUPT_EVERY = 500;

/**
 * Returns the trials of a grid. A random search draws until it has its samples, or until none are left. Throws
 * CONFIG_INVALID when every combination is refused, and INTERRUPTED.
 */
export async function planTrials(
  grid: Grid, { config, setup, recording }: PlanningContext, interrupt?: AbortSignal,
): Promise<TrialPlan> {
  const { axes, search } = grid;
  const wanted = search.kind === 'grid' ? Infinity : search.samples;
  const strategies = config.strategies.map((strategy): UnparsedStrategy => {
    const { maxAgeMs: _age, maxExposure: _exposure, exits: _exits, swap: _swap, budget, ...rest } = strategy;
    return { ...rest, budget, limits: strategyLimits(strategy) };
  });
  const planned: PlannedTrial[] = [];
  const refused: RefusedPoint[] = [];
  for (const point of pointsOf(grid)) {
    const drawn = planned.length + refused.length;
    if (planned.length === wanted || drawn >= wanted * MOST_DRAWS) break;
    if (drawn % INTERRUPT_EVERY === INTERRUPT_EVERY - 1) await yieldToInterrupt(interrupt);
    const trial = trialOf({ params: paramsAt(axes, point) });
    const read = trialStrategies(trial, strategies, { tokens: setup.tokens, feeds: recording.feeds });
    if (typeof read === 'string') refused.push({ point, params: trial.params, reason: read });
    else planned.push({ point, trial });
  }
  const [first] = refused;
  if (planned.length === 0 && first !== undefined)
    throw new GannetError('CONFIG_INVALID', refused.length === 1 ? `the only combination is refused: ${first.reason}`
      : `all ${pluralize(refused.length, 'combination')} are refused; the first: ${first.reason}`);
  return { trials: planned, refused };
}
