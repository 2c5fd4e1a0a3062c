import type { ApartStrategy } from '../../engine/host/strategy-call.ts';
import type { Token } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import type { PlainValue } from '../config-tree.ts';
import type { IsolationConfig } from '../run-config.ts';

// What the configuration asks about strategies. Their code is their authors', so it may run in another process: every
// answer is a text, which `readAnswer` reads as what a stranger sent.

/** The code of a strategy, and how much its process may use. */
export interface StrategyCode {
  /** As in the file, for people. */
  readonly use: string;
  /** Absolute. */
  readonly file: string;
  /** Whether the file is one of the project's own `strategies/`, or another one. */
  readonly origin: 'project' | 'path';
  readonly isolation: IsolationConfig;
}

/** The question what a strategy watches with its parameters. */
export interface StrategyQuestion {
  /** As in the file: plain JSON. Undefined where they cannot be read, and only the code is asked for. */
  readonly params: PlainValue | undefined;
  /** The tokens of the configuration, which parameters name. */
  readonly tokens: readonly Token[];
  /** The name of the instance; undefined where it has the strategy's own. */
  readonly name: string | undefined;
  /** Of the run. */
  readonly seed: number;
}

/** What a strategy's code says about itself. */
export interface StrategyReading {
  /** A `StrategyAnswer` as JSON text, not checked yet. */
  readonly answer: string;
  /** The strategy with its parameters, where its code runs in this process and takes them. */
  readonly here?: { readonly strategy: Strategy; readonly params: unknown } | undefined;
  /** The instance of it with these parameters, where its code runs apart and takes them. */
  readonly apart?: ApartStrategy | undefined;
}

/** A strategy whose code is being loaded. */
export interface LoadingStrategy {
  /**
   * Returns what the code says, once for each instance of it. `ended` is why its process was ended before it answered,
   * for people. Rejects with nothing that the code threw.
   */
  read(question: StrategyQuestion): Promise<StrategyReading | { readonly ended: string }>;
}

/** Loads the code of strategies. */
export interface StrategyReader {
  /** Begins to load the code of a strategy and returns at once: what fails is the answer to the first question. */
  load(code: StrategyCode): LoadingStrategy;
}
