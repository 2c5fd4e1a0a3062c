import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordLimits, recordValue } from '../../config/limits-record.ts';
import { recordSimulation } from '../../config/simulation-record.ts';
import { canonicalJson } from '../../core/json.ts';
import { contentIdentity } from '../../recording/identity.ts';
import { PROJECT_DIR } from '../project.ts';
import { importedPackages } from '../research/imported-packages.ts';
import { sourceTexts } from '../research/source-texts.ts';
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
  /** Of the packages that the strategies and the engine import, with their versions. */
  readonly packages: string;
  readonly node: string;
}

/** What decides: commands, services and the daemon do not. */
const DECIDING = ['backtest', 'core', 'engine', 'market', 'recording', 'strategy', 'trading'];

/** Returns what the trials of a subject depend on. Throws STRATEGY_INVALID where a strategy's file is gone. */
export async function trialBasis({ setup, recording }: Pick<Subject, 'setup' | 'recording'>): Promise<TrialBasis> {
  const { tokens, limits, balances, model, seed, currency, firstAt, lastAt, strategies, places } = setup;
  const codes = await Promise.all(strategies.map(({ use }) => strategyText(use, places)));
  const basis = {
    recording: sha256(canonicalJson([contentIdentity(recording), recording.truncatedAt])),
    configuration: sha256(canonicalJson({
      tokens, limits: recordLimits(limits), balances: Object.fromEntries(balances), model: recordSimulation(model), seed, currency, firstAt, lastAt,
      strategies: strategies.map(({ name, rawParams, budget, warmupMs, limits: { maxAgeMs, maxExposure } }) => (
        { name, params: rawParams, budget: recordValue(budget), warmup_ms: warmupMs, max_age_ms: maxAgeMs, max_exposure: recordValue(maxExposure) })),
    })),
    strategies: sha256(codes.map(({ text }) => text).join('\n')),
    engine: sha256(DECIDING.flatMap((layer) => [layer, ...sourceTexts(join(PROJECT_DIR, 'src', layer))]).join('\n')),
    packages: sha256([...codes.flatMap(({ packages }) => packages), ...enginePackages()].join('\n')),
    node: `${process.version} ${process.arch}`,
  };
  return { key: sha256(canonicalJson(basis)).slice(0, 16), ...basis };
}

/** All that Gannet depends on, with what that depends on in turn: which of it the engine takes is not worth finding out. */
function enginePackages(): string[] {
  const from = join(PROJECT_DIR, 'package.json');
  const { version, dependencies } = JSON.parse(readFileSync(from, 'utf8')) as { readonly version: string; readonly dependencies: object };
  return [`gannet ${version}`, ...importedPackages([{ from, specifiers: Object.keys(dependencies) }])];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
