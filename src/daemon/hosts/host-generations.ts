import type { LoadingStrategy, StrategyCode, StrategyReader } from '../../config/strategies/strategy-reader.ts';
import { assert } from '../../core/assert.ts';
import type { Ending } from '../../engine/host/strategy-call.ts';
import type { Command, StopStrategy } from '../../trading/engine-command.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { Log } from '../reporting/log.ts';

/** The run whose strategies these processes carry. */
export interface HostedRun {
  /** Returns the order to stop a strategy; undefined where it does not run. */
  stopOrder(strategy: string, ending: Ending): StopStrategy | undefined;
  accept(order: Command): void;
  alert(alert: AlertProposal): void;
  readonly log: Log;
}

/** The processes in which strategies run: loads strategies, and starts again what has ended. */
interface HostProcesses extends StrategyReader {
  /** From now on, strategies that are stopped are started again in this run. Returns the end of that. */
  attach(run: HostedRun): () => void;
  /** Lets a strategy that stays stopped start again, as an operator orders; all of them where none is named. */
  release(strategy: string | undefined): void;
  /** The ids of the processes. */
  pids(): number[];
  /** Ends every process. */
  close(): Promise<void>;
}

/** The processes of a run's strategies, each strategy in its newest version. */
export interface StrategyHosts extends HostProcesses {
  /** Prepares processes for other versions of strategies, beside those that run. */
  stage(): StagedHosts;
}

/** Processes for other versions of strategies. */
interface StagedHosts {
  /** Loads the other versions. */
  readonly reader: StrategyReader;
  /** From now on, these strategies run here and no longer in their earlier processes; what else was loaded goes. */
  adopt(names: readonly string[]): void;
  /** Ends the processes, where nothing was adopted. */
  discard(): Promise<void>;
}

/** The processes that were started for one reading of the configuration. */
export interface HostGeneration extends HostProcesses {
  readonly isEmpty: boolean;
  /** Runs these strategies no longer, and ends the processes that are left without any. */
  forget(isForgotten: (name: string | undefined) => boolean): void;
}

/** Strategies that were reloaded run in processes of their own: a process cannot give up code that it has loaded. */
export class HostGenerations implements StrategyHosts {
  readonly #open: () => HostGeneration;
  readonly #first: HostGeneration;
  #all: HostGeneration[];
  #run: HostedRun | undefined;
  #detach: (() => void)[] = [];

  constructor(open: () => HostGeneration) {
    this.#open = open;
    this.#first = open();
    this.#all = [this.#first];
  }

  load(code: StrategyCode): LoadingStrategy {
    return this.#first.load(code);
  }

  attach(run: HostedRun): () => void {
    this.#run = run;
    this.#detach = this.#all.map((generation) => generation.attach(run));
    return () => { for (const detach of this.#detach) detach(); };
  }

  release(strategy: string | undefined): void {
    for (const generation of this.#all) generation.release(strategy);
  }

  pids(): number[] {
    return this.#all.flatMap((generation) => generation.pids());
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((generation) => generation.close()));
  }

  stage(): StagedHosts {
    const staged = this.#open();
    return {
      reader: staged,
      adopt: (names) => {
        assert(this.#run, 'strategies are reloaded in a run');
        const isNamed = (name: string | undefined): boolean => name !== undefined && names.includes(name);
        staged.forget((name) => !isNamed(name));
        for (const earlier of this.#all) earlier.forget(isNamed);
        const empty = this.#all.filter(({ isEmpty }) => isEmpty);
        this.#all = [...this.#all.filter(({ isEmpty }) => !isEmpty), staged];
        for (const generation of empty) void generation.close();
        this.#detach.push(staged.attach(this.#run));
      },
      discard: () => staged.close(),
    };
  }
}
