import { createHash } from 'node:crypto';
import type { Trial } from '../../backtest/trial.ts';
import { rawParamsIn } from '../../backtest/trial.ts';
import { recordLimits, recordValue } from '../../config/limits-record.ts';
import { recordSimulation } from '../../config/simulation-record.ts';
import { canonicalJson } from '../../core/json.ts';
import type { TokenTable } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import { withTokens } from '../../strategy/params.ts';
import { strategyHash } from './strategy-text.ts';
import type { ThreadSetup, ThreadStrategy } from './thread-setup.ts';
import { strategyCode } from './thread-setup.ts';

/** What a trial is told apart by, however often and on whatever rows it is run. */
export interface TrialIdentity {
  readonly id: string;
  /** The parameters of each strategy, as canonical JSON. */
  readonly params: string;
}

/**
 * Returns what tells the trials of a configuration apart: the strategies' code and parameters, their budgets and limits,
 * and how fills are simulated. Names, seeds and what a parameter is by default change none: it is the same trial again.
 */
export async function trialIdentities(setup: ThreadSetup): Promise<(trial: Pick<Trial, 'params' | 'model'>) => TrialIdentity> {
  const tokens = tokenTable(setup.tokens);
  const coded = await Promise.all(setup.strategies.map((strategy) => withCode(strategy, setup.places)));
  const common = {
    currency: setup.currency.mint,
    balances: Object.fromEntries(setup.balances),
    limits: recordLimits(setup.limits),
    strategies: coded.map(({ code, own: { budget, limits: { maxAgeMs, maxExposure }, warmupMs } }) => (
      { code, budget: recordValue(budget), max_age_ms: maxAgeMs, max_exposure: recordValue(maxExposure), warmup_ms: warmupMs })),
  };
  return ({ params: changed, model = setup.model }) => {
    const params = coded.map(({ strategy, own }) => effective(strategy, rawParamsIn({ params: changed }, own), tokens));
    const text = canonicalJson({ ...common, params, model: recordSimulation(model) });
    return {
      id: createHash('sha256').update(text).digest('hex').slice(0, 32),
      params: canonicalJson(Object.fromEntries(coded.map(({ own: { name } }, i) => [name, params[i]]))),
    };
  };
}

async function withCode(own: ThreadStrategy, places: ThreadSetup['places']): Promise<{ readonly own: ThreadStrategy; readonly strategy: Strategy; readonly code: string }> {
  return { own, strategy: await strategyCode(own.use, places), code: await strategyHash(own.use, places) };
}

/** As the strategy takes them, so that a default is the same written or left out; as they are written where it takes them for more than data. */
function effective({ params }: Strategy, raw: object, tokens: TokenTable): unknown {
  const parsed = withTokens(tokens, () => params.safeParse(raw));
  return parsed.success && isPlain(parsed.data) ? parsed.data : raw;
}

function isPlain(value: unknown): boolean {
  if (value === null || ['boolean', 'string', 'bigint', 'undefined'].includes(typeof value)) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  return typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}
