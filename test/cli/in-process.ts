import { join } from 'node:path';
import { Command } from 'commander';
import { BOXED_ACTIONS, prepareCall } from '../../src/cli/boxed/boxed-action.ts';
import { backtestDecisions } from '../../src/cli/commands/research/backtest-process.ts';
import type { CommandContext, CommandModule, RunCommand } from '../../src/cli/command.ts';
import { stringifyJson } from '../../src/core/json.ts';
import { openTrialLog } from '../../src/store/trial-log.ts';

/** The result of a command. */
export interface Answer {
  readonly code: number;
  readonly document: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The text on standard error. */
  readonly told: string;
  /** The text on standard output beside the result. */
  readonly printed: string;
  /** All results, of a command that prints several. */
  readonly documents: readonly Answer['document'][];
}

/** Runs a boxed command in this process, where its own strategies are all that it runs. */
export const runHere: CommandContext['runBoxed'] = async (context, call) => {
  const act = await BOXED_ACTIONS[call.command]();
  const openLog = (): ReturnType<typeof openTrialLog> => openTrialLog(join(context.options.stateDir, 'trials.sqlite'));
  const prepared = prepareCall(context.options, call);
  return act({ ...context, host: {
    workers: undefined, openTrialLog: openLog, syncTrials: undefined,
    backtestDecisions: (until) => backtestDecisions({
      file: prepared.file!, recordingDir: prepared.recordingDir!, timerange: prepared.timerange, until,
      interrupt: context.interrupt,
    }),
  } }, prepared);
};

/** Runs a command in this process without its process-wide effects; errors are thrown. */
export async function runCommand(command: CommandModule, args: readonly string[], {
  stateDir, interrupt = new AbortController().signal, json = true, onPrint = () => undefined,
}: {
  readonly stateDir: string; readonly interrupt?: AbortSignal; readonly json?: boolean;
  /** Called after each output. */
  readonly onPrint?: () => void;
}): Promise<Answer> {
  let answer: Pick<Answer, 'document' | 'text'> | undefined;
  let code = -1;
  let told = '';
  let printed = '';
  const documents: Answer['document'][] = [];
  const context: CommandContext = {
    terminal: {
      json, colour: false, err: (text) => { told += text; },
      result: (document, text) => {
        answer = { document: JSON.parse(stringifyJson(document)) as Readonly<Record<string, unknown>>, text: text() };
        documents.push(answer.document);
        onPrint();
      },
      out: (text) => {
        printed += text;
        onPrint();
      },
    },
    options: {
      json, config: undefined, stateDir, baseUrl: undefined, rpcUrl: undefined, apiKeyEnv: undefined,
      logLevel: 'warn',
    }, environment: {}, withheld: [], connectSigner: undefined, interrupt, runBoxed: runHere,
  };
  const run: RunCommand = (action) => async (...given) => {
    code = await (action as (...all: readonly unknown[]) => Promise<number>)(context, ...given);
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  command(program, run);
  for (const subcommand of program.commands) subcommand.exitOverride().configureOutput({ writeErr: () => undefined });
  await program.parseAsync(['node', 'gannet', ...args]);
  return { code, told, printed, documents, ...answer! };
}
