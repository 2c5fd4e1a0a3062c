import type { Observable } from 'rxjs';
import type { ChainNodes } from '../../chain/chain.ts';
import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import type { ServiceManager } from '../../core/process-supervisor.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { LiveExecutor } from '../../execution/live-executor.ts';
import type { FeedSpec } from '../../market/feed.ts';
import type { Mint } from '../../market/token.ts';
import type { ServiceAccess } from '../../service/access.ts';
import type { SwapV2 } from '../../service/endpoints/swap-v2.ts';
import type { PollingFeed } from '../../service/feeds/feeds.ts';
import type { SignerDescription } from '../../signer/channel/channel-protocol.ts';
import type { SignerClient } from '../../signer/channel/client.ts';
import type { HistoryStore } from '../../store/history.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { WriteBehindJournal } from '../../store/write-behind-journal.ts';
import type { JudgeToken } from '../../trading/engine-command.ts';
import type { Executor, OpenIntent } from '../../trading/executor.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { RestoredStates } from '../../trading/strategy-state.ts';
import type { ControlTokens } from '../control/control-tokens.ts';
import type { OrderAudit, WideningOrder } from '../control/order-audit.ts';
import type { WriteBehindRunFiles } from '../files/run-files.ts';
import type { RunManifest } from '../files/run-manifest.ts';
import type { StrategyHosts } from '../hosts/host-generations.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { LoadAgain, Reloading } from '../reload/reloader.ts';
import type { Log } from '../reporting/log.ts';
import type { Reporter } from '../reporting/reporter.ts';
import type { DiskGuard, DiskMarks } from '../watch/disk-guard.ts';
import type { StateWatch } from '../watch/state-watch.ts';
import type { StopFile } from '../watch/stop-file.ts';
import type { WalletKeeper } from '../watch/ledger-reconciliation.ts';
import type { PageSources } from '../page/page-view.ts';
import type { RunStory } from '../page/run-story.ts';
import type { Connections } from './connections.ts';
import type { Warmup } from './recorded-warm-up.ts';
import type { Recovered, StateSetup } from './recover.ts';
import type { InputRecorder } from './run-recorder.ts';

/** Resources to close at the end, the last opened first. A failure to close one does not affect the others. */
export class Resources {
  readonly #log: Log;
  readonly #open: { readonly name: string; readonly close: () => void | Promise<void> }[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, close: () => void | Promise<void>): void {
    this.#open.push({ name, close });
  }

  async close(): Promise<void> {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      try {
        await next.close();
      } catch (error) {
        this.#log('error', `the ${next.name} could not be closed`, { error });
      }
    }
  }
}

/** What a daemon is started with. */
export interface DaemonOptions {
  readonly config: RunConfig;
  readonly connections: Connections;
  /** The tokens of the control API. */
  readonly controlTokens: ControlTokens;
  /** The token for signals; undefined where the configuration has no signals. */
  readonly signalsToken?: string | undefined;
  readonly stateDir: string;
  /** The signer's own folder, for a backup before an upgrade. */
  readonly countersDir: string;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly runId: string;
  readonly durationMs: Millis | undefined;
  readonly maxIntents: number | undefined;
  /** The signer process that started this one; undefined without one. */
  readonly signer?: SignerClient | undefined;
  /** The processes of its strategies; undefined where all run in this one. */
  readonly hosts?: StrategyHosts | undefined;
  /** Reads the configuration as at the start, its strategies by `reader`; undefined where nothing is reloaded. */
  readonly loadConfig?: LoadAgain | undefined;
  /** The free space that the disk needs; absent for the default marks. */
  readonly diskMarks?: DiskMarks | undefined;
  /** The operator accepts a journal and counters that lack entries. */
  readonly acceptNewJournal?: boolean | undefined;
  /** Aborted when the operator ends the run. */
  readonly interrupt: AbortSignal;
  /** What supervises the process; undefined without one. */
  readonly serviceManager?: ServiceManager | undefined;
}

/** All that differs between live and paper: the executor, its journal and its money. */
export interface ModeParts {
  /** A paper run has no unknown outcomes, so it resolves none. */
  readonly executor: Executor & Partial<Pick<LiveExecutor, 'resolve'>>;
  readonly journal: WriteBehindJournal;
  readonly recovered: Recovered;
  /** Undefined for paper runs, which have no wallet on a chain. */
  readonly walletKeeper: WalletKeeper | undefined;
  /** Whether the books begin again, because those of the journal are of a chain that is gone. */
  readonly isNewLedger: boolean;
  readonly address: string | undefined;
  readonly signer: SignerDescription | undefined;
  /** Messages for the start, for people: what earlier runs left, and what is gone. */
  readonly notices: readonly string[];
  /** Orders of this start after which more may be lost than before. */
  readonly widenings: readonly WideningOrder[];
}

/** What the parts of both modes are opened with. */
export interface ModeScope {
  readonly options: DaemonOptions;
  readonly setup: StateSetup;
  readonly resources: Resources;
  readonly diskGuard: DiskGuard;
  readonly stateWatch: StateWatch;
  readonly audit: OrderAudit;
  /** What has happened in the run, for the page. */
  readonly story: RunStory;
  readonly metrics: RunMetrics;
}

/** What a session is made of. */
export interface SessionOptions {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  /** Whether swaps move real money: live, and not on the embedded chain. */
  readonly isRealMoney: boolean;
  readonly clock: Clock;
  readonly state: EngineState;
  /** Positions of one that is stopped are held unless it says otherwise. */
  readonly strategies: readonly (StrategyInstance & Pick<StrategyConfig, 'onStop'>)[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly open: readonly OpenIntent[];
  readonly restored: RestoredStates;
  /** Returns the recorded warm-up before `until`; undefined where no strategy wants one. */
  readonly prepareWarmup: (until: Millis) => Warmup | undefined;
  readonly executor: ModeParts['executor'];
  /** The processes of its strategies; undefined where all run in this one. */
  readonly hosts?: StrategyHosts | undefined;
  /** What strategies are reloaded with; undefined where they are not. */
  readonly reloading?: Reloading | undefined;
  readonly createFeed: (specs: readonly FeedSpec[]) => PollingFeed;
  /** Prices manual orders; undefined without a service. */
  readonly quotes?: Pick<SwapV2, 'order'> | undefined;
  /** The nodes of the chain; undefined without one. */
  readonly chainNodes?: Pick<ChainNodes, 'stats'> | undefined;
  /** The service, for people. */
  readonly serviceText?: string | undefined;
  /** The wallet that signs; undefined on paper. */
  readonly wallet?: string | undefined;
  /** Each change of access to the service. */
  readonly access$: Observable<ServiceAccess>;
  /** The results of token checks; the subscription starts them. */
  readonly tokenChecks$: Observable<JudgeToken>;
  /** Told which tokens strategies watch beside their inputs, after each change. */
  readonly onWatched?: ((mints: readonly Mint[]) => void) | undefined;
  /** Told which tokens strategies watch by their inputs, after each reload. */
  readonly onInputs?: ((mints: readonly Mint[]) => void) | undefined;
  /** Compares the ledger with the chain; undefined without a chain. */
  readonly walletKeeper: WalletKeeper | undefined;
  readonly diskGuard: DiskGuard;
  /** Absent where no files are written. */
  readonly stateWatch?: Pick<StateWatch, 'watch'> | undefined;
  /** How far the service's clock is ahead of ours; undefined while unknown. */
  readonly clockAheadMs: () => Millis | undefined;
  readonly page: PageSources;
  /** The number of crashed runs before this one, where it is so high that this run starts in safe mode. */
  readonly crashes: number | undefined;
  readonly recorder: (InputRecorder & { stop(): boolean }) | undefined;
  readonly journal: Pick<JournalStore,
    'saveSnapshot' | 'walletAdjusted' | 'fillValued' | 'listIntents' | 'showIntent' | 'intentsOfKey' | 'settledSwaps'
    | 'ledgerStarts' | 'listAdjustments'>;
  /** Samples of equity and prices for people; undefined where none are kept. */
  readonly history?: HistoryStore | undefined;
  readonly isNewLedger: boolean;
  readonly stopFile: StopFile;
  readonly audit: OrderAudit;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly files: WriteBehindRunFiles;
  readonly manifest: RunManifest;
  readonly recording: string | undefined;
  /** Ends the run after this many finished intents. */
  readonly maxIntents: number | undefined;
}
