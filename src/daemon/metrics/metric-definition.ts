import type { Millis } from '../../core/time.ts';
import type { RecordingWriter } from '../../recording/writer.ts';
import type { GovernorStats } from '../../service/rate/rate-governor.ts';
import type { SessionState } from '../control/session-state.ts';
import type { NodeStats } from '../../chain/node-health.ts';
import type { ChannelStats } from '../notify/outbox.ts';
import type { Distribution } from './distribution.ts';
import type { SickReason, WaitReason } from './health.ts';
import type { RunEvents } from './run-events.ts';
import type { RunFigures } from './run-figures.ts';

/** Everything that one scrape shows, read at one moment. */
export interface Reading {
  readonly now: Millis;
  readonly version: string;
  readonly mode: string;
  readonly runId: string;
  /** When the run was opened. */
  readonly startedAt: Millis;
  /** Undefined before the session exists. */
  readonly state: SessionState | undefined;
  readonly figures: RunFigures | undefined;
  readonly waits: readonly WaitReason[];
  readonly sick: readonly SickReason[];
  readonly events: RunEvents;
  readonly requests: Readonly<Record<string, GovernorStats>>;
  readonly nodes: readonly NodeStats[];
  readonly channels: readonly ChannelStats[];
  /** Seconds, since the scrape before. */
  readonly loopDelay: { readonly p50: number; readonly p99: number };
  readonly cpuSeconds: number;
  readonly memory: readonly { readonly process: string; readonly bytes: number }[];
  readonly journal: { readonly seconds: Distribution; readonly failures: number; readonly isBehind: boolean };
  /** Undefined where the run records nothing. */
  readonly recording: ReturnType<RecordingWriter['stats']> | undefined;
  readonly disks: readonly { readonly disk: string; readonly bytes: number }[];
  readonly lastScrapeSeconds: number;
}

/** One series of a metric. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetricText {
  readonly name: string;
  /** In plain words, with the meaning of the value. */
  readonly help: string;
}

/** A metric: what it is called, and how it is read. */
export type MetricDefinition = MetricText & (
  | {
    readonly type: 'gauge' | 'counter'; readonly labels: readonly string[];
    readonly read: (reading: Reading) => readonly Sample[];
  }
  | { readonly type: 'histogram'; readonly labels: readonly []; readonly read: (reading: Reading) => Distribution }
);

/** Returns the series of a gauge or counter without labels; none where there is no value. */
export function single(value: number | null | undefined): Sample[] {
  return value === undefined || value === null ? [] : [{ value }];
}

/** Returns a series of each word, 1 for those that hold and 0 for the others. */
export function enumerated(label: string, words: readonly string[], holds: (word: string) => boolean): Sample[] {
  return words.map((word) => ({ labels: { [label]: word }, value: holds(word) ? 1 : 0 }));
}
