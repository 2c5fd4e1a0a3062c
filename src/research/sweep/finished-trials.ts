import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { recordSimulation } from '../../config/config-record.ts';
import { recordLimits } from '../../config/risk-limits.ts';
import { layerFolders, PROJECT_DIR } from '../../core/code-files.ts';
import { recordStrategyLimits, recordValue } from '../../config/value-record.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { canonicalJson, stringifyJson } from '../../core/json.ts';
import { appendCompletely } from '../../recording/files/durable-write.ts';
import { contentIdentity } from '../../recording/identity.ts';
import type { ResearchInput } from '../research-input.ts';
import { stopwatch } from '../stopwatch.ts';
import { importedPackages, packagesIn, sourceTexts, strategyText } from '../trials/strategy-source.ts';
import type { DoneTrial } from '../trials/trial.ts';

/**
 * Everything besides its own parameters that the result of a trial depends on. The grid is not part of it, so that a
 * wider grid continues from a narrower one.
 */
interface TrialBasis {
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

/** The layers that affect results: commands, services and the daemon do not. */
const DECIDING = ['backtest', 'core', 'engine', 'market', 'recording', 'research', 'solana', 'strategy', 'trading'];

/** Returns the basis of the trials of a research input. Throws STRATEGY_INVALID when a strategy's file is missing. */
export async function trialBasis(
  { setup, recording }: Pick<ResearchInput, 'setup' | 'recording'>,
): Promise<TrialBasis> {
  const { tokens, limits, balances, model, seed, currency, firstAt, lastAt, strategies, places } = setup;
  const codes = await Promise.all(strategies.map(({ use }) => strategyText(use, places)));
  const engine = layerFolders(DECIDING).flatMap((folder) => [basename(folder), ...sourceTexts(folder)]);
  const basis = {
    recording: sha256(canonicalJson([contentIdentity(recording), recording.part])),
    configuration: sha256(canonicalJson({
      tokens, limits: recordLimits(limits), balances: Object.fromEntries(balances), model: recordSimulation(model),
      seed, currency, firstAt, lastAt,
      strategies: strategies.map(({ name, rawParams, budget, warmupMs, limits: own }) => ({
        name, params: rawParams, budget: recordValue(budget), warmup_ms: warmupMs, ...recordStrategyLimits(own),
      })),
    })),
    strategies: sha256(codes.map(({ text }) => text).join('\n')),
    engine: sha256(engine.join('\n')),
    packages: sha256([...codes.flatMap(({ packages }) => packages), ...enginePackages(engine)].join('\n')),
    node: `${process.version} ${process.arch}`,
  };
  return { key: sha256(canonicalJson(basis)).slice(0, 16), ...basis };
}

/** The packages that the code of Gannet imports which decides, with their dependencies in turn. */
function enginePackages(texts: readonly string[]): string[] {
  const from = join(PROJECT_DIR, 'package.json');
  const { version } = JSON.parse(readFileSync(from, 'utf8')) as { readonly version: string };
  return [`gannet ${version}`, ...importedPackages([{ from, specifiers: packagesIn(texts.join('\n')) }])];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The results of trials, kept over interruptions: one line of JSON each, in one file for each basis. */
export interface FinishedTrials {
  readonly file: string;
  /** The known results by trial. */
  readonly known: ReadonlyMap<string, DoneTrial>;
  /** Keeps a result. When the disk refuses it, no further result is kept, and a warning says so. */
  keep(result: DoneTrial): void;
  readonly warnings: readonly string[];
  close(): void;
}

/** At most so much work is lost when the machine crashes, and none when only the process does. */
const SYNC_EVERY_MS = 1_000;

/**
 * Opens the file of a basis under the state directory. Damaged lines are ignored. `fresh` discards the existing
 * results. Throws USAGE when the file cannot be written.
 */
export function openFinishedTrials(
  stateDir: string, { key, ...basis }: TrialBasis,
  { fresh, sync = fsyncFile }: { readonly fresh: boolean; readonly sync?: ((file: string) => void) | undefined },
): FinishedTrials {
  const dir = join(stateDir, 'sweeps');
  const file = join(dir, `${key}.ndjson`);
  let descriptor: number | undefined;
  let text = '';
  try {
    mkdirSync(dir, { recursive: true });
    // Opened for appending, because another process may keep its trials in the same file.
    descriptor = openSync(file, 'a');
    if (fresh) ftruncateSync(descriptor);
    text = readFileSync(file, 'utf8');
    if (text === '') appendCompletely(descriptor, `${stringifyJson({ format_version: 1, ...basis })}\n`);
    // Ends a line that a crash truncated, without harm to another process that writes the same file.
    else if (!text.endsWith('\n')) appendCompletely(descriptor, '\n');
  } catch (cause) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw new GannetError(
      'USAGE', `finished trials cannot be kept in ${dir}: ${messageOf(cause)}; give another folder with --state-dir`,
      { cause },
    );
  }
  const warnings: string[] = [];
  let syncedAt = stopwatch();
  const attempt = (work: (open: number) => void): void => {
    if (descriptor === undefined) return;
    try {
      work(descriptor);
    } catch (error) {
      warnings.push(
        `finished trials are no longer kept: ${messageOf(error)}; after an interruption they run again`,
      );
      closeSync(descriptor);
      descriptor = undefined;
    }
  };
  return {
    file,
    known: new Map(text.split('\n').slice(1).flatMap((line) => resultIn(line) ?? []).map((result) =>
      [result.id, result])),
    warnings,
    keep: (result) => {
      attempt((open) => {
        appendCompletely(open, lineOf(result));
        if (stopwatch() - syncedAt < SYNC_EVERY_MS) return;
        sync(file);
        syncedAt = stopwatch();
      });
    },
    close: () => {
      attempt((open) => {
        sync(file);
        closeSync(open);
        descriptor = undefined;
      });
    },
  };
}

/** Makes what was written to a file durable. */
function fsyncFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const CHECK_LENGTH = 9;

/** A line begins with its checksum, because nothing else protects it. */
function lineOf(result: DoneTrial): string {
  const body = stringifyJson(result);
  return `${checkOf(body)} ${body}\n`;
}

function resultIn(line: string): DoneTrial | undefined {
  const body = line.slice(CHECK_LENGTH);
  return body !== '' && line.startsWith(checkOf(body)) ? (JSON.parse(body) as DoneTrial) : undefined;
}

function checkOf(body: string): string {
  return crc32(body).toString(16).padStart(CHECK_LENGTH - 1, '0');
}
