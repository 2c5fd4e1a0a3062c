import type { Observable } from 'rxjs';
import type { Clock, Millis } from '../core/time.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { ServiceAccess } from '../service/access.ts';
import type { PollingFeed } from '../service/feeds/feeds.ts';
import type { JournalStore } from '../store/journal.ts';
import type { JudgeToken } from '../trading/command.ts';
import type { OpenIntent } from '../trading/executor.ts';
import type { EngineState } from '../trading/state.ts';
import type { StrategyLegacy } from '../trading/strategy-state.ts';
import type { Recorder } from './chronicle.ts';
import type { DiskGuard } from './disk-guard.ts';
import type { Log } from './log.ts';
import type { RunManifest } from './manifest.ts';
import type { ModeParts } from './mode-parts.ts';
import type { Reporter } from './reporter.ts';
import type { PatientRunFiles } from './patient-run-files.ts';
import type { StateWatch } from './state-watch.ts';
import type { StopFile } from './stop-file.ts';
import type { WalletKeeper } from './wallet-keeper.ts';
import type { Warmup } from './warm-up.ts';

/** What a run is made of. */
export interface SessionOptions {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  /** Whether its swaps move real money: live, and not on the embedded chain. */
  readonly isRealMoney: boolean;
  readonly clock: Clock;
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly open: readonly OpenIntent[];
  readonly legacy: StrategyLegacy;
  /** Returns what strategies want to see again of the time before `until`; undefined where none of them does. */
  readonly prepareWarmup: (until: Millis) => Warmup | undefined;
  readonly executor: ModeParts['executor'];
  readonly createFeed: (specs: readonly FeedSpec[]) => PollingFeed;
  /** Whether the service lets this run in: each change. */
  readonly access$: Observable<ServiceAccess>;
  /** What looks at tokens came to; begins with the run. */
  readonly tokenLooks$: Observable<JudgeToken>;
  /** Holds the ledger against the chain; undefined where there is none. */
  readonly walletKeeper: WalletKeeper | undefined;
  readonly diskGuard: DiskGuard;
  /** Absent where nothing is written to a disk. */
  readonly stateWatch?: Pick<StateWatch, 'watch'> | undefined;
  /** By how much the service's clock is ahead of ours; undefined where it did not say. */
  readonly clockAheadMs: () => Millis | undefined;
  /** How many runs before this one ended in a crash, where they are so many that this one trades nothing by itself. */
  readonly crashes: number | undefined;
  readonly recorder: (Recorder & { stop(): boolean }) | undefined;
  readonly journal: Pick<JournalStore, 'saveSnapshot' | 'walletAdjusted' | 'listIntents' | 'showIntent'>;
  readonly stopFile: StopFile;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly files: PatientRunFiles;
  readonly manifest: RunManifest;
  readonly recording: string | undefined;
  /** Ends the run after this many finished intents. */
  readonly maxIntents: number | undefined;
}
