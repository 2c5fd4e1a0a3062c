import { Option } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { wholeNumber } from '../../input/flags.ts';
import { intentsText, intentText } from '../../output/intent-text.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { journalPath, latestTokens } from '../../../daemon/files/find-run.ts';
import type { JournalReader } from '../../../store/journal-reader.ts';
import { openJournalReader } from '../../../store/journal-reader.ts';
import type { IntentState } from '../../../trading/intent.ts';
import { OPEN_STATES, TERMINAL_STATES } from '../../../trading/intent.ts';

interface ListFlags {
  readonly state?: IntentState;
  readonly limit: number;
  readonly paper?: boolean;
}

export const journalCommand: CommandModule = (program, run) => {
  const journal = program.command('journal').description('open and past swaps; works while the daemon runs');
  journal.command('list')
    .description('swaps, newest first')
    .addOption(new Option('--state <state>', 'only swaps in this state').choices([...OPEN_STATES, ...TERMINAL_STATES]))
    .option('--limit <n>', 'the most swaps to list', wholeNumber(1, 999_999), 50)
    .option('--paper', 'swaps of paper trading')
    .action(run(async ({ terminal, options }: CommandContext, { state, limit, paper }: ListFlags) => {
      const intents = reading(options.stateDir, paper, (reader) => reader.list({ state, limit }));
      terminal.result(intents, () => intentsText(intents, latestTokens(options.stateDir)));
      return EXIT.done;
    }));
  journal.command('show <id>')
    .description('one swap with all its transitions')
    .option('--paper', 'a swap of paper trading')
    .action(run(async ({ terminal, options }: CommandContext, id: string, { paper }: Pick<ListFlags, 'paper'>) => {
      const story = reading(options.stateDir, paper, (reader) => reader.show(id));
      if (story === undefined) throw new GannetError(
        'INTENT_UNKNOWN', `the journal has no swap ${printable(id, 100)}; "gannet journal list" lists its swaps`,
      );
      terminal.result(story, () => intentText(story, latestTokens(options.stateDir)));
      return EXIT.done;
    }));
};

/** Reads the journal of a state directory and closes it. Throws RUN_NOT_FOUND when there is none. */
function reading<Result>(
  stateDir: string, paper: boolean | undefined, read: (reader: JournalReader) => Result,
): Result {
  const path = journalPath(stateDir, paper === true ? 'paper' : 'live');
  const reader = openJournalReader(path);
  if (reader === undefined) {
    throw new GannetError('RUN_NOT_FOUND', `there is no journal ${path}: nothing was traded `
      + `${paper === true ? 'on paper ' : ''}with this state `
      + `directory${paper === true ? '' : ', or only on paper (--paper)'}`);
  }
  try {
    return read(reader);
  } finally {
    reader.close();
  }
}
