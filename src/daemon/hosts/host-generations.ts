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
export interface StagedHosts {
  /** Loads the other versions. */
  readonly reader: StrategyReader;
  /** From now on, this strategy runs here and no longer in its earlier process. */
  adopt(name: string): void;
  /** Ends what was loaded and not adopted. */
  close(): Promise<void>;
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
  /** Those that run strategies. */
  #all: HostGeneration[];
  readonly #staged = new Set<HostGeneration>();
  #run: HostedRun | undefined;
  readonly #detach = new Map<HostGeneration, () => void>();

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
    for (const generation of this.#all) this.#detach.set(generation, generation.attach(run));
    return () => { for (const detach of this.#detach.values()) detach(); };
  }

  release(strategy: string | undefined): void {
    for (const generation of this.#all) generation.release(strategy);
  }

  pids(): number[] {
    return this.#all.flatMap((generation) => generation.pids());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all, ...this.#staged].map((generation) => generation.close()));
  }

  stage(): StagedHosts {
    const staged = this.#open();
    this.#staged.add(staged);
    const adopted = new Set<string>();
    return {
      reader: staged,
      adopt: (name) => {
        assert(this.#run, 'strategies are reloaded in a run');
        for (const earlier of this.#all) if (earlier !== staged) earlier.forget((other) => other === name);
        for (const empty of this.#all.filter(({ isEmpty }) => isEmpty)) this.#end(empty);
        adopted.add(name);
        if (adopted.size > 1) return;
        this.#all.push(staged);
        this.#detach.set(staged, staged.attach(onlyOf(adopted, this.#run)));
      },
      close: async () => {
        this.#staged.delete(staged);
        if (adopted.size === 0) await staged.close();
        else staged.forget((name) => name === undefined || !adopted.has(name));
      },
    };
  }

  /** Ends processes in which no strategy runs any longer. */
  #end(generation: HostGeneration): void {
    this.#all = this.#all.filter((other) => other !== generation);
    this.#detach.get(generation)?.();
    this.#detach.delete(generation);
    void generation.close();
  }
}

/** Returns a run that takes orders for the adopted strategies alone: under the other names, earlier versions go on. */
function onlyOf(adopted: ReadonlySet<string>, run: HostedRun): HostedRun {
  return {
    ...run,
    stopOrder: (strategy, ending) => (adopted.has(strategy) ? run.stopOrder(strategy, ending) : undefined),
    accept: (order) => { if ('strategy' in order && adopted.has(order.strategy ?? '')) run.accept(order); },
  };
}
