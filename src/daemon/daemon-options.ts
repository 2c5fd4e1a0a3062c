import type { RunConfig } from '../config/run-config.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SignerClient } from '../signer/client.ts';
import type { DiskMarks } from './disk-guard.ts';
import type { Log } from './log.ts';
import type { Reporter } from './reporter.ts';
import type { World } from './world.ts';

/** What a run is made of. */
export interface DaemonOptions {
  readonly config: RunConfig;
  readonly world: World;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly runId: string;
  readonly durationMs: Millis | undefined;
  readonly maxIntents: number | undefined;
  /** The signer process that this one was started beside; undefined where there is none. */
  readonly signer?: SignerClient | undefined;
  /** How much room there must be on the disk; the usual marks where absent. */
  readonly diskMarks?: DiskMarks | undefined;
  /** An operator's word: a journal and counters that lack what was written into them are taken as they are. */
  readonly acceptNewJournal?: boolean | undefined;
  /** Aborted when the operator wants it to end. */
  readonly interrupt: AbortSignal;
}
