import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { wholeNumber } from '../../input/flags.ts';
import { bytesText } from '../../output/figures.ts';
import { VERSION } from '../../../core/code-files.ts';
import { GannetError } from '../../../core/errors.ts';
import { commandOrigin } from '../../../daemon/control/order-origin.ts';
import { openOrderAudit } from '../../../daemon/control/order-audit.ts';
import { newRunId } from '../../../daemon/files/find-run.ts';
import type { BackupManifest } from '../../../daemon/state/backup.ts';
import { backupsFolder, makeBackup, pruneBackups, verifyBackup } from '../../../daemon/state/backup.ts';
import { refuseUnfinishedRestore } from '../../../daemon/state/restore-plan.ts';
import { restoreBackup } from '../../../daemon/state/restore.ts';
import type { StatePlaces } from '../../../daemon/state/state-files.ts';
import { isFile, refuseNewerState, stateInfo, writtenBy } from '../../../daemon/state/state-files.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { COUNTERS_FILE, countersFolder } from '../../../signer/counters/spend-counters.ts';
import { lockState } from '../../../store/locks.ts';

interface BackupFlags {
  readonly out?: string;
  readonly keep?: number;
}

export const stateCommand: CommandModule = (program, run) => {
  const state = program.command('state')
    .description('backs up, verifies and restores the journal and the signer’s counters');
  state.command('backup')
    .description('copies the state, and checks the copy; works while the daemon runs')
    .option(
      '--out <dir>',
      'the folder of the copy, created if missing (default: a new one in backups of the state directory)',
    )
    .option('--keep <count>', 'deletes all but the newest backups in backups of the state directory',
      wholeNumber(1, 10_000))
    .action(run(backup));
  state.command('verify <dir>')
    .description('checks every file of a backup: size, hash, database, and that this version reads it')
    .action(run(verify));
  state.command('restore <dir>')
    .description('puts a backup in the place of the state, which is moved aside; refused while a daemon runs')
    .action(run(restore));
  state.command('info')
    .description('shows the version that wrote the state directory, and the format of each file')
    .action(run(info));
};

function placesOf({ options: { stateDir }, environment }: CommandContext): StatePlaces {
  return { stateDir: resolve(stateDir), countersDir: countersFolder(stateDir, environment, process.cwd()) };
}

async function backup(context: CommandContext, { out, keep }: BackupFlags): Promise<ExitCode> {
  const places = placesOf(context);
  if (out !== undefined && keep !== undefined) throw new GannetError(
    'USAGE', '--keep deletes backups in "backups" of the state directory alone: leave out --out, or --keep',
  );
  refuseUnfinishedRestore(places.stateDir);
  const folder = resolve(out ?? join(backupsFolder(places.stateDir), newRunId(systemClock)));
  const { files, made_at: madeAt } = await makeBackup(places, folder, systemClock);
  const deleted = keep === undefined ? [] : pruneBackups(dirname(folder), keep);
  context.terminal.result({ out: folder, made_at: madeAt, files, deleted }, () => [
    `  copied to ${folder} and checked:\n`,
    ...filesText(files),
    ...(deleted.length === 0 ? [] : [`  deleted ${deleted.length} older backup${deleted.length === 1 ? '' : 's'}\n`]),
    ...(files.some(({ file }) => file === COUNTERS_FILE) ? [] : [
      '  without counters of the signer: there are none, or they belong to another user, who copies them\n']),
    `  to restore: stop the daemon, then "gannet state restore ${folder}"\n`,
  ].join(''));
  return EXIT.done;
}

function filesText(files: BackupManifest['files']): string[] {
  return files.map(({ file, bytes, format }) =>
    `    ${file}  ${bytesText(bytes)}${format === null ? '' : `  format ${format}`}\n`);
}

async function verify({ terminal }: CommandContext, dir: string): Promise<ExitCode> {
  const folder = resolve(dir);
  const { files, made_at: madeAt, gannet_version: version } = await verifyBackup(folder);
  terminal.result({ dir: folder, valid: true, made_at: madeAt, gannet_version: version, files }, () => [
    `  ${folder} is whole: made by Gannet ${version} at ${instantText(madeAt)}\n`, ...filesText(files),
    '  The signer checks the tags of its counters when it opens them.\n',
  ].join(''));
  return EXIT.done;
}

const instantText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

const RESTORE_WIDENS = 'the journal is an earlier one, which does not know the swaps made since';

async function restore(context: CommandContext, dir: string): Promise<ExitCode> {
  const places = placesOf(context);
  const { stateDir } = places;
  const folder = resolve(dir);
  const lock = lockState(stateDir, systemClock);
  try {
    const restored = await restoreBackup(places, folder, { clock: systemClock });
    openOrderAudit({ stateDir, runId: null, clock: systemClock, log: () => undefined }).write({
      action: 'state-restore', origin: commandOrigin('gannet state restore'), reason: restored.source,
      widens: RESTORE_WIDENS,
    });
    const isOther = restored.source !== folder;
    context.terminal.result({ ...restored, finished_earlier: isOther }, () => [
      isOther ? `  finished the interrupted restore of ${restored.source}; for ${folder}, run the command again\n`
        : `  restored from ${folder}:\n`,
      ...restored.restored.map((path) => `    ${path}\n`),
      ...(restored.aside.length === 0 ? [] : ['  the files that were there before are in:\n']),
      ...restored.aside.map((path) => `    ${path}\n`),
      ...(isFile(join(folder, 'journal.sqlite')) ? [NEXT_STEP] : []),
    ].join(''));
    return EXIT.done;
  } finally {
    lock.release();
  }
}

const NEXT_STEP = '  next: the journal does not know the swaps made after the backup, so a start is refused with '
  + 'JOURNAL_LOST. Check the wallet’s transactions since then, lower budgets where purchases must not be made again, '
  + 'and start once with "gannet run --accept-new-journal": the ledger is compared with the chain before any strategy '
  + 'runs. The signer’s caps count as used for a day.\n';

async function info(context: CommandContext): Promise<ExitCode> {
  const places = placesOf(context);
  if (!existsSync(places.stateDir)) throw new GannetError('RUN_NOT_FOUND', `${places.stateDir} does not exist`);
  const said = writtenBy(places.stateDir);
  const files = stateInfo(places);
  context.terminal.result(
    { version: VERSION, written_by: said?.gannet_version ?? null, readable_since: said?.readable_since ?? null, files },
    () => [
      `  written by  ${said === undefined ? 'a version before 0.2.0, or none yet' : `Gannet ${said.gannet_version}`}\n`,
      `  this one is Gannet ${VERSION}\n`,
      ...files.map(({ file, bytes, format, readable, fault }) => `    ${file}  ${bytesText(bytes)}  ${
        fault === null ? `format ${format}` : `cannot be read: ${fault}`} (up to ${readable} is read)\n`),
    ].join(''),
  );
  refuseUnfinishedRestore(places.stateDir);
  refuseNewerState(places);
  return EXIT.done;
}
