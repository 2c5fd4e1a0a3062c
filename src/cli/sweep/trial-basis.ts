import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordLimits, recordValue } from '../../config/limits-record.ts';
import { recordSimulation } from '../../config/simulation-record.ts';
import { canonicalJson } from '../../core/json.ts';
import { contentIdentity } from '../../recording/identity.ts';
import { PROJECT_DIR } from '../project.ts';
import { strategyText } from '../research/strategy-text.ts';
import type { Subject } from '../research/subject.ts';

/** All that the result of a trial depends on beside its own parameters; the grid is not in it, so that a wider one goes on from a narrower. */
export interface TrialBasis {
  /** Hex, 16 digits: a hash of the rest. */
  readonly key: string;
  readonly recording: string;
  readonly configuration: string;
  readonly strategies: string;
  readonly engine: string;
  readonly node: string;
}

/** What decides: commands, services and the daemon do not. */
const DECIDING = ['backtest', 'core', 'engine', 'market', 'recording', 'strategy', 'trading'];

/** Returns what the trials of a subject depend on. Throws STRATEGY_INVALID where a strategy's file is gone. */
export async function trialBasis({ setup, recording }: Pick<Subject, 'setup' | 'recording'>): Promise<TrialBasis> {
  const { tokens, limits, balances, model, seed, currency, firstAt, lastAt, strategies, places } = setup;
  const basis = {
    recording: sha256(canonicalJson([contentIdentity(recording), recording.truncatedAt])),
    configuration: sha256(canonicalJson({
      tokens, limits: recordLimits(limits), balances: Object.fromEntries(balances), model: recordSimulation(model), seed, currency, firstAt, lastAt,
      strategies: strategies.map(({ name, rawParams, budget, warmupMs, limits: { maxAgeMs, maxExposure } }) => (
        { name, params: rawParams, budget: recordValue(budget), warmup_ms: warmupMs, max_age_ms: maxAgeMs, max_exposure: recordValue(maxExposure) })),
    })),
    strategies: sha256((await Promise.all(strategies.map(({ use }) => strategyText(use, places)))).join('\n')),
    engine: sha256(DECIDING.flatMap((layer) => textsBelow(join(PROJECT_DIR, 'src', layer))).join('\n')),
    node: `${process.version} ${process.arch}`,
  };
  return { key: sha256(canonicalJson(basis)).slice(0, 16), ...basis };
}

function textsBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((path) => `${path.slice(PROJECT_DIR.length)}\n${readFileSync(path, 'utf8')}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
