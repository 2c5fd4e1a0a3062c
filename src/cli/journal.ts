import { InvalidArgumentError, Option } from 'commander';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { JournalReader } from '../store/journal-reader.ts';
import { openJournalReader } from '../store/journal-reader.ts';
import type { IntentState } from '../trading/intent.ts';
import { OPEN_STATES, TERMINAL_STATES } from '../trading/intent.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { journeyText, listText } from './intent-text.ts';
import { journalPath, latestTokens } from './run-directories.ts';

interface ListFlags {
  readonly state?: IntentState;
  readonly limit: number;
  readonly paper?: boolean;
}

export const journalCommand: CommandModule = (program, run) => {
  const journal = program.command('journal').description('open and past swaps, as they were written down; also while the daemon runs');
  journal.command('list')
    .description('swaps, newest first')
    .addOption(new Option('--state <state>', 'those in one state alone').choices([...OPEN_STATES, ...TERMINAL_STATES]))
    .option('--limit <n>', 'at most so many', atMost, 50)
    .option('--paper', 'those of trading on paper')
    .action(run(async ({ terminal, options }: CommandContext, { state, limit, paper }: ListFlags) => {
      const intents = reading(options.stateDir, paper, (reader) => reader.list({ state, limit }));
      terminal.result(intents, () => listText(intents, latestTokens(options.stateDir)));
      return EXIT.done;
    }));
  journal.command('show <id>')
    .description('one swap with all that happened to it')
    .option('--paper', 'one of trading on paper')
    .action(run(async ({ terminal, options }: CommandContext, id: string, { paper }: Pick<ListFlags, 'paper'>) => {
      const story = reading(options.stateDir, paper, (reader) => reader.show(id));
      if (story === undefined) throw new GannetError('INTENT_UNKNOWN', `the journal has no swap ${printable(id, 100)}; "gannet journal list" shows what it has`);
      terminal.result(story, () => journeyText(story, latestTokens(options.stateDir)));
      return EXIT.done;
    }));
};

/** Reads the journal of a state directory and closes it. Throws RUN_NOT_FOUND where there is none. */
function reading<Result>(stateDir: string, paper: boolean | undefined, read: (reader: JournalReader) => Result): Result {
  const path = journalPath(stateDir, paper === true ? 'paper' : 'live');
  const reader = openJournalReader(path);
  if (reader === undefined) {
    throw new GannetError('RUN_NOT_FOUND', `there is no journal ${path}: nothing was traded ${paper === true ? 'on paper ' : ''}with this state directory${paper === true ? '' : ', or only on paper (--paper)'}`);
  }
  try {
    return read(reader);
  } finally {
    reader.close();
  }
}

function atMost(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1 to 999999.');
  return Number(text);
}
