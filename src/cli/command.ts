import type { Command } from 'commander';
import type { LogLevel } from '../daemon/log.ts';
import type { SignerClient } from '../signer/client.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

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

/** What a command works with: nothing else of the process is its business. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
  /** The environment with `.env` beneath it, and no wallet's key in it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The names of the variables that were kept out of it, since only the signer may see them. */
  readonly withheld: readonly string[];
  /** Connects to the signer that this process was started beside; undefined where there is none. */
  readonly connectSigner: (() => SignerClient) | undefined;
  /** Aborted at the first interrupt; a second one ends the process. */
  readonly interrupt: AbortSignal;
}

/** Adds a command to the program. */
export type CommandModule = (program: Command, run: RunCommand) => void;

/** Wraps an action: builds its context, tells its errors, sets the exit code. */
export type RunCommand = <Args extends readonly unknown[]>(
  action: (context: CommandContext, ...args: Args) => Promise<ExitCode>,
) => (...args: [...Args, ...unknown[]]) => Promise<void>;
