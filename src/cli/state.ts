import { chmodSync, mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { GannetError, messageOf } from '../core/errors.ts';
import { newRunId } from '../daemon/run-id.ts';
import { systemClock } from '../daemon/system-clock.ts';
import { COUNTERS_FILE } from '../signer/counters.ts';
import type { CopiedFile } from '../store/state-copy.ts';
import { copyDatabase, copyJournal } from '../store/state-copy.ts';
import { bytesText } from './bytes-text.ts';
import type { CommandContext, CommandModule } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { journalPath } from './run-directories.ts';

interface BackupFlags {
  readonly out?: string;
}

export const stateCommand: CommandModule = (program, run) => {
  const state = program.command('state').description('what a state directory must not lose: the journal and the signer’s counters');
  state.command('backup')
    .description('copies the journal and the signer’s counters as of one moment and checks the copy; also while the daemon runs')
    .option('--out <dir>', 'the folder of the copy, made where it is missing (default: a new one in backups of the state directory)')
    .action(run(backup));
};

async function backup({ options, terminal }: CommandContext, { out }: BackupFlags): Promise<ExitCode> {
  const { stateDir } = options;
  const folder = resolve(out ?? join(stateDir, 'backups', newRunId(systemClock)));
  makeFolder(folder);
  const files: CopiedFile[] = [];
  for (const mode of ['live', 'paper'] as const) {
    const path = journalPath(stateDir, mode);
    files.push(...await copyJournal(path, join(folder, basename(path))));
  }
  // After the journal: the counters may know more swaps than it does, and never fewer.
  const counters = await copyDatabase(join(stateDir, COUNTERS_FILE), join(folder, COUNTERS_FILE));
  if (counters !== undefined) files.push(counters);
  if (files.length === 0) throw new GannetError('RUN_NOT_FOUND', `${stateDir} holds neither a journal nor counters: nothing was traded with this state directory`);
  terminal.result({ out: folder, files }, () => [
    `  copied to ${folder} and checked:\n`,
    ...files.map(({ file, bytes }) => `    ${file}  ${bytesText(bytes)}\n`),
    '  to restore: stop the daemon, delete the files of these names and their -wal and -shm, and copy these in their place\n',
  ].join(''));
  return EXIT.done;
}

/** For the owner alone: amounts and signed transactions are in it. */
function makeFolder(folder: string): void {
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
  } catch (cause) {
    throw new GannetError('USAGE', `the folder ${folder} cannot be made: ${messageOf(cause)}; name another with --out`, { cause });
  }
}
