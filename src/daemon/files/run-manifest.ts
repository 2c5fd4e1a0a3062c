import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigRecord } from '../../config/config-record.ts';
import { redactedConfig } from '../../config/config-record.ts';
import type { IsolationConfig, RunConfig } from '../../config/run-config.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Intent, IntentState, Outcome } from '../../trading/intent.ts';
import type { WarmupWindow } from '../../trading/engine-command.ts';
import type { StateSnapshot } from '../../trading/engine-state.ts';
import type { RestoredStates } from '../../trading/strategy-state.ts';

const RUN_FORMAT = 1;

/** What strategies were shown before they started: with it, a replay shows them the same. */
export interface WarmupRecord extends WarmupWindow {
  /** How much of the past each strategy was shown, in milliseconds. */
  readonly strategies: Readonly<Record<string, Millis>>;
}

/** The code of a run's strategies. */
interface StrategyCodeRecord {
  readonly isolation: IsolationConfig['kind'];
  /**
   * The SHA-256 of each strategy's code, its file with those that it imports from beside it; a manual swap has none.
   */
  readonly sha256: Readonly<Record<string, string>>;
}

/** A moment in a run: after this many stamps, at this time. */
export interface RunMoment {
  readonly after_seq: number;
  readonly at: Millis;
}

/** How a run began and how it ended. Replay needs this and the recording, nothing else. It holds no secret. */
export interface RunManifest {
  readonly format_version: number;
  readonly run_id: string;
  readonly mode: 'live' | 'paper' | 'backtest';
  readonly node: string;
  readonly arch: string;
  readonly config: ConfigRecord;
  /** Where the code of strategies ran, and what that code was. Absent in runs of older versions, and in backtests. */
  readonly strategy_code?: StrategyCodeRecord | undefined;
  /** Where the engine's clock starts. */
  readonly clock_start: Millis;
  readonly snapshot: StateSnapshot;
  /** Amounts as strings. */
  readonly open_intents: readonly { readonly intent: Intent; readonly state: IntentState }[];
  /** Strategy states from earlier runs, by name. Absent in runs of older versions, like the next two members. */
  readonly strategy_states?: Readonly<Record<string, string>> | undefined;
  /** Outcomes that strategies have not seen yet, amounts as strings. Strategies receive them when they start. */
  readonly unseen_outcomes?: readonly Outcome[] | undefined;
  /** Null where no strategy was warmed up. */
  readonly warmup?: WarmupRecord | null | undefined;
  /** Whether each input got events at its own interval. Absent in older runs, where each input got every event. */
  readonly own_intervals?: boolean | undefined;
  /** The recording's folder, relative to the run's own; null without a recording. */
  readonly recording: string | null;
  readonly strategies_started: RunMoment | null;
  readonly strategies_stopped: RunMoment | null;
  readonly ended: RunEnd | null;
}

export interface RunEnd extends RunMoment {
  readonly decisions: number;
  readonly decision_hash: string;
}

/** Returns the manifest of a run that starts. */
export function createManifest(run: {
  readonly config: RunConfig;
  readonly mode: RunManifest['mode'];
  readonly runId: string;
  readonly startAt: Millis;
  readonly snapshot: StateSnapshot;
  readonly open: RunManifest['open_intents'];
  readonly restored: RestoredStates;
  readonly recording: string | undefined;
  readonly strategyCode?: StrategyCodeRecord | undefined;
}): RunManifest {
  return {
    format_version: RUN_FORMAT,
    run_id: run.runId,
    mode: run.mode,
    node: process.version,
    arch: process.arch,
    config: redactedConfig(run.config),
    strategy_code: run.strategyCode,
    clock_start: run.startAt,
    snapshot: run.snapshot,
    open_intents: run.open,
    strategy_states: run.restored.states,
    unseen_outcomes: run.restored.unseen,
    warmup: null,
    own_intervals: true,
    recording: run.recording ?? null,
    strategies_started: null,
    strategies_stopped: null,
    ended: null,
  };
}

/** Writes the manifest into a run's folder, whole or not at all, with its own SHA-256 as the last member. */
export function writeManifest(runDir: string, manifest: RunManifest): void {
  const path = join(runDir, 'manifest.json');
  try {
    writeFileSync(`${path}.new`, sealed(stringifyJson(manifest, 2)), { mode: 0o600 });
  } catch (error) {
    // A partial file takes room that other files need on a full disk.
    rmSync(`${path}.new`, { force: true });
    throw error;
  }
  renameSync(`${path}.new`, path);
}

/** Reads a run's manifest. Throws RUN_NOT_FOUND on a damaged one or another format. */
export function readManifest(runDir: string): RunManifest {
  const path = join(runDir, 'manifest.json');
  const { json } = readJsonFile(path);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new GannetError('RUN_NOT_FOUND',
      `${path}: expected the members of a run's manifest, found other JSON; restore the file from a copy`);
  }
  const { sha256: _, ...manifest } = json as RunManifest & { readonly sha256?: unknown };
  if (manifest.format_version !== RUN_FORMAT) {
    throw new GannetError('RUN_NOT_FOUND',
      `${path} has format ${manifest.format_version}; this version reads format ${RUN_FORMAT}`);
  }
  return manifest;
}

/**
 * Returns a warning where a manifest was changed after the run wrote it; undefined otherwise, and for versions without
 * a hash.
 */
export function manifestChange(runDir: string): string | undefined {
  const path = join(runDir, 'manifest.json');
  const { text, json } = readJsonFile(path);
  const hasHash = typeof json === 'object' && json !== null && 'sha256' in json;
  if (!hasHash || text === sealed(unsealed(text))) return undefined;
  return `${path} is not what the run wrote: its text does not match the SHA-256 at its end`;
}

const CLOSING = '\n}';

/** Returns the text of a JSON object with its own SHA-256 as the last member: no byte of it can change unseen. */
function sealed(text: string): string {
  const body = text.slice(0, -CLOSING.length);
  return `${body},\n  "sha256": "${createHash('sha256').update(body).digest('hex')}"${CLOSING}\n`;
}

function unsealed(text: string): string {
  return text.slice(0, text.lastIndexOf(',\n')) + CLOSING;
}

function readJsonFile(path: string): { readonly text: string; readonly json: unknown } {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, json: parseJson(text) };
  } catch (cause) {
    throw new GannetError('RUN_NOT_FOUND', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
