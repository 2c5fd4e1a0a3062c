import type { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './output/terminal.ts';
import type { TimeRange } from '../recording/reader.ts';
import type { LogLevel } from '../daemon/reporting/log-levels.ts';
import type { SignerClient } from '../signer/channel/client.ts';

/** The options that every command takes. */
export interface GlobalOptions {
  readonly json: boolean;
  readonly config: string | undefined;
  readonly stateDir: string;
  readonly baseUrl: string | undefined;
  readonly rpcUrl: string | undefined;
  readonly apiKeyEnv: string | undefined;
  readonly logLevel: LogLevel;
}

/** What a command gets from the process; it uses nothing else of it. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
  /** The environment, completed from `.env`, without wallet keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The names of the removed variables, which only the signer may see. */
  readonly withheld: readonly string[];
  /** Connects to the signer process that started this one; undefined without a signer. */
  readonly connectSigner: (() => SignerClient) | undefined;
  /** Aborted by the first interrupt; a second one ends the process. */
  readonly interrupt: AbortSignal;
  /** Runs a command in a boxed process. */
  readonly runBoxed: (context: CommandContext, call: BoxedCall) => Promise<ExitCode>;
}

/** A command that runs strategy code, and so runs in a box, with what it may read and write. */
export interface BoxedCall {
  readonly command: BoxedCommand;
  /** The configuration file, where it takes one. */
  readonly file?: string | undefined;
  /** The recording that it reads: a folder, a name, or the id of the run that made it. */
  readonly recording?: string | undefined;
  /** The run that it reads: its id or its folder. */
  readonly run?: string | undefined;
  /** Files that it reads and writes. */
  readonly grid?: string | undefined;
  readonly report?: string | undefined;
  readonly trades?: string | undefined;
  /** The part of the recording that it trades on. */
  readonly timerange?: TimeRange | undefined;
  /** The options of the command line, as plain data. */
  readonly flags: object;
}

/** The commands that run strategy code. */
export type BoxedCommand = 'backtest' | 'sweep' | 'walk-forward' | 'lookahead' | 'replay' | 'strategy-check';

/** Adds a command to the program. */
export type CommandModule = (program: Command, run: RunCommand) => void;

/** Wraps an action: builds its context, reports its errors and sets the exit code. */
export type RunCommand = <Args extends readonly unknown[]>(
  action: (context: CommandContext, ...args: Args) => Promise<ExitCode>,
) => (...args: [...Args, ...unknown[]]) => Promise<void>;

/** Returns the help text of an example. */
export function example(command: string): string {
  return `\nExample:\n  ${command}`;
}
