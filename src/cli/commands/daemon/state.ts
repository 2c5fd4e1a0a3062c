import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { bytesText } from '../../output/figures.ts';
import { GannetError, messageOf } from '../../../core/errors.ts';
import { journalPath, newRunId } from '../../../daemon/files/find-run.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { COUNTERS_FILE, countersFolder } from '../../../signer/counters/spend-counters.ts';
import type { CopiedFile } from '../../../store/state-copy.ts';
import { copyDatabase, copyJournal } from '../../../store/state-copy.ts';

interface BackupFlags {
  readonly out?: string;
}

export const stateCommand: CommandModule = (program, run) => {
  const state = program.command('state').description('backs up the journal and the signer’s counters');
  state.command('backup')
    .description('copies the journal and the signer’s counters, and checks the copy; works while the daemon runs')
    .option(
      '--out <dir>',
      'the folder of the copy, created if missing (default: a new one in backups of the state directory)',
    )
    .action(run(backup));
};

async function backup({ options, environment, terminal }: CommandContext, { out }: BackupFlags): Promise<ExitCode> {
  const { stateDir } = options;
  const folder = resolve(out ?? join(stateDir, 'backups', newRunId(systemClock)));
  makeFolder(folder);
  const files: CopiedFile[] = [];
  for (const mode of ['live', 'paper'] as const) {
    const path = journalPath(stateDir, mode);
    files.push(...await copyJournal(path, join(folder, basename(path))));
  }
  // The counters are copied last: they may hold more swaps than the journal, but never fewer.
  const folders = [countersFolder(stateDir, environment, process.cwd()), stateDir];
  const counters = folders.map((place) => join(place, COUNTERS_FILE)).find((path) => existsSync(path));
  const copied = counters === undefined ? undefined : await copyDatabase(counters, join(folder, COUNTERS_FILE));
  if (copied !== undefined) files.push(copied);
  if (files.length === 0) throw new GannetError(
    'RUN_NOT_FOUND', `${stateDir} holds neither a journal nor counters: nothing was traded with this state directory`,
  );
  terminal.result({ out: folder, files }, () => [
    `  copied to ${folder} and checked:\n`,
    ...files.map(({ file, bytes }) => `    ${file}  ${bytesText(bytes)}\n`),
    '  to restore: stop the daemon, delete the files of these names with their -wal and -shm files, and copy these '
      + 'there\n',
  ].join(''));
  return EXIT.done;
}

/** Only the owner may read the folder: it holds amounts and signed transactions. */
function makeFolder(folder: string): void {
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
  } catch (cause) {
    throw new GannetError(
      'USAGE', `the folder ${folder} cannot be created: ${messageOf(cause)}; name another with --out`, { cause },
    );
  }
}
