import type { ConfigRecord } from '../config/config-record.ts';
import { redactedConfig } from '../config/config-record.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { Millis } from '../core/time.ts';
import type { Intent, IntentState, Outcome } from '../trading/intent.ts';
import type { StateSnapshot } from '../trading/state.ts';
import type { StrategyLegacy } from '../trading/strategy-state.ts';
import type { WarmupRecord } from './warm-up.ts';

export const RUN_FORMAT = 1;

/** A moment in a run: after this many stamps, at this time. */
export interface RunMoment {
  readonly after_seq: number;
  readonly at: Millis;
}

/** Everything a run began with, and how it ended: with the recording, all that replay needs. It holds no secret. */
export interface RunManifest {
  readonly format_version: number;
  readonly run_id: string;
  readonly mode: 'live' | 'paper' | 'backtest';
  readonly node: string;
  readonly arch: string;
  readonly config: ConfigRecord;
  /** Where the engine's clock starts. */
  readonly clock_start: Millis;
  readonly snapshot: StateSnapshot;
  /** Amounts as strings. */
  readonly open_intents: readonly { readonly intent: Intent; readonly state: IntentState }[];
  /** What strategies kept from earlier runs, by name. Absent in runs of older versions, as are the next two. */
  readonly strategy_states?: Readonly<Record<string, string>> | undefined;
  /** Last outcomes that strategies had not heard of, amounts as strings: told when they start. */
  readonly unseen_outcomes?: readonly Outcome[] | undefined;
  /** What strategies were shown before they started; null where none was. */
  readonly warmup?: WarmupRecord | null | undefined;
  /** Whether each input was shown events at its own interval. Absent in runs of older versions, which showed every event of a feed to all. */
  readonly own_intervals?: boolean | undefined;
  /** The recording's folder, relative to the run's own; null where none was made. */
  readonly recording: string | null;
  readonly strategies_started: RunMoment | null;
  readonly strategies_stopped: RunMoment | null;
  readonly ended: RunEnd | null;
}

export interface RunEnd extends RunMoment {
  readonly decisions: number;
  readonly decision_hash: string;
}

/** Returns the manifest of a run that begins. */
export function createManifest(run: {
  readonly config: RunConfig;
  readonly mode: RunManifest['mode'];
  readonly runId: string;
  readonly startAt: Millis;
  readonly snapshot: StateSnapshot;
  readonly open: RunManifest['open_intents'];
  readonly legacy: StrategyLegacy;
  readonly recording: string | undefined;
}): RunManifest {
  return {
    format_version: RUN_FORMAT,
    run_id: run.runId,
    mode: run.mode,
    node: process.version,
    arch: process.arch,
    config: redactedConfig(run.config),
    clock_start: run.startAt,
    snapshot: run.snapshot,
    open_intents: run.open,
    strategy_states: run.legacy.states,
    unseen_outcomes: run.legacy.unseen,
    warmup: null,
    own_intervals: true,
    recording: run.recording ?? null,
    strategies_started: null,
    strategies_stopped: null,
    ended: null,
  };
}
