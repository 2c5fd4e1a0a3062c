import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { CommandContext, CommandModule, RunCommand } from '../../command.ts';
import { addList } from './list.ts';
import { addGenerate, addImport } from './make-recording.ts';
import { EXIT } from '../../exit-codes.ts';
import { ensureWritable, refuseImpossibleFolder } from '../../input/files.ts';
import { bytesText } from '../../output/figures.ts';
import { progressLine } from '../../output/progress.ts';
import { infoText } from '../../output/recording-info-text.ts';
import { GannetError } from '../../../core/errors.ts';
import { pluralize } from '../../../core/text.ts';
import { findRecording } from '../../../daemon/files/find-run.ts';
import { infoOf } from '../../../recording/check/info.ts';
import type { Inspection } from '../../../recording/check/inspect.ts';
import { inspectRecording } from '../../../recording/check/inspect.ts';
import type { RecordingIssue } from '../../../recording/check/row-checks.ts';
import { compactRecording } from '../../../recording/compression/compact.ts';
import { exportJsonl } from '../../../recording/export/jsonl.ts';
import type { ExportedTable } from '../../../recording/export/parquet.ts';
import { freeFolderName } from '../../../recording/files/new-folder.ts';
import type { RecordingKind } from '../../../recording/format.ts';
import { RECORDING_KINDS } from '../../../recording/format.ts';
import { interruption, runInterruptibly } from '../../../recording/interrupt.ts';
import type { Recording } from '../../../recording/reader.ts';
import { openRecordingInChunks } from '../../../recording/reader.ts';

const WHICH = 'its folder, or the id of the run that made it';

export const recordingCommand: CommandModule = (program, run) => {
  const group = program.command('recording')
    .description('shows, checks and converts recordings, and generates synthetic ones');

  addList(group, run);
  addInfo(group, run);
  addVerify(group, run);
  addCompact(group, run);
  addExport(group, run);
  addImport(group, run);
  addGenerate(group, run);
};

function addInfo(group: Command, run: RunCommand): void {
  group.command('info').argument('<recording>', WHICH)
    .description('shows the contents of a recording: kinds, feeds, time, gaps, sizes, versions')
    .action(run(async (context: CommandContext, name: string) => {
      const { terminal, interrupt } = context;
      const info = await runInterruptibly(infoOf(await opened(context, name)), interrupt);
      terminal.result(info, () => infoText(info));
      return EXIT.done;
    }));
}

function addVerify(group: Command, run: RunCommand): void {
  group.command('verify').argument('<recording>', WHICH)
    .description('checks every byte and every row, and names every fault')
    .action(run(async ({ terminal, options, interrupt }: CommandContext, name: string) => {
      const directory = findRecording(options.stateDir, name);
      const inspection = await runInterruptibly(inspectRecording(directory), interrupt);
      terminal.result(verdict(directory, inspection), () => verdictText(inspection));
      return inspection.issues.length === 0 ? EXIT.done : EXIT.failed;
    }));
}

function addCompact(group: Command, run: RunCommand): void {
  group.command('compact').argument('<recording>', WHICH)
    .description('compresses segments that a killed writer left uncompressed')
    .action(run(async ({ terminal, options, interrupt }: CommandContext, name: string) => {
      const directory = findRecording(options.stateDir, name);
      const { segments, bytesBefore, bytesAfter, left } = await compactRecording(directory, interrupt);
      if (left > 0) throw interruption();
      terminal.result({ recording: directory, segments, bytes_before: bytesBefore, bytes_after: bytesAfter }, () => (
        segments === 0 ? '  nothing to compress\n'
          : `  ${pluralize(segments, 'segment')}: ${bytesText(bytesBefore)} became ${bytesText(bytesAfter)}\n`));
      return EXIT.done;
    }));
}

function addExport(group: Command, run: RunCommand): void {
  group.command('export').argument('<recording>', WHICH)
    .description('writes every input as a line of JSON, or each kind as a Parquet file')
    .addOption(new Option('--to <format>', 'the format').choices(['jsonl', 'parquet']).makeOptionMandatory())
    .option('--out <path>', 'jsonl: the output file; parquet: the output folder (default: one in exports of the state '
      + 'directory). No file is overwritten; a missing folder is created')
    .addOption(new Option('--kind <kinds...>', 'only these kinds').choices(RECORDING_KINDS))
    .action(run((context: CommandContext, name: string, flags: ExportFlags) =>
      (flags.to === 'jsonl' ? toJsonl(context, name, flags) : toParquet(context, name, flags))));
}

/** Opens a recording and checks every byte. Rejects with INTERRUPTED. */
function opened({ options, interrupt }: CommandContext, name: string): Promise<Recording> {
  return runInterruptibly(openRecordingInChunks(findRecording(options.stateDir, name)), interrupt);
}

interface ExportFlags {
  readonly to: 'jsonl' | 'parquet';
  readonly out?: string;
  readonly kind?: readonly RecordingKind[];
}

async function toJsonl(context: CommandContext, name: string, { out, kind }: ExportFlags): Promise<typeof EXIT.done> {
  const { terminal, interrupt } = context;
  if (out === undefined) throw new GannetError('USAGE', '--to jsonl needs an output file: --out FILE');
  ensureWritable(out, '--out');
  const recording = await opened(context, name);
  const progress = progressLine(terminal, 'events');
  const done = await exportJsonl(recording, {
    file: out, kinds: kind, interrupt, onEvents: (events) => { progress.show(events, recording.events); },
  }).finally(progress.end);
  terminal.result({ file: out, ...done }, () =>
    `  ${pluralize(done.events, 'event')} in ${bytesText(done.bytes)}: ${out}\n`);
  return EXIT.done;
}

async function toParquet(context: CommandContext, name: string, { out, kind }: ExportFlags): Promise<typeof EXIT.done> {
  const { terminal, options, interrupt } = context;
  if (out !== undefined) refuseImpossibleFolder(out, '--out');
  const { exportParquet } = await import('../../../recording/export/parquet.ts');
  const recording = await opened(context, name);
  const directory = out ?? freeFolderName(join(options.stateDir, 'exports'), basename(recording.directory));
  const progress = progressLine(terminal, 'events');
  const files = await exportParquet(recording, {
    directory, kinds: kind, interrupt, onEvents: (events) => { progress.show(events, recording.events); },
  }).finally(progress.end);
  const sum = (of: (file: ExportedTable) => number): number => files.reduce((total, file) => total + of(file), 0);
  const done = { directory, events: sum(({ events }) => events), bytes: sum(({ bytes }) => bytes), files };
  terminal.result(done, () =>
    files.map(({ file, rows, bytes }) => `  ${pluralize(rows, 'row')} in ${bytesText(bytes)}: ${file}\n`).join('')
      || `  no rows: ${directory}\n`);
  return EXIT.done;
}

function issueJson({ code, file, row, at, message }: RecordingIssue): object {
  return { code, file, row: row ?? null, time: at === undefined ? null : new Date(at).toISOString(), message };
}

function verdict(directory: string, { closed, files, events, issues, warnings }: Inspection): object {
  return {
    recording: directory, valid: issues.length === 0, closed: closed ?? null, files, events,
    issues: issues.map(issueJson), warnings: warnings.map((warning) => ({ ...issueJson(warning), code: undefined })),
  };
}

const MOST_SHOWN = 50;

function shown(all: readonly RecordingIssue[], mark: string): string[] {
  return [
    ...all.slice(0, MOST_SHOWN).map(({ message }) => `  ${mark} ${message}\n`),
    ...(all.length > MOST_SHOWN ? [`  ${mark} and ${all.length - MOST_SHOWN} more\n`] : []),
  ];
}

function verdictText({ closed, files, events, issues, warnings }: Inspection): string {
  const end = issues.length === 0
    ? `  complete: ${pluralize(events, 'event')} `
      + `in ${pluralize(files, 'segment')}`
      + `${closed === true ? '' : '; not closed: it is still being written, or its writer was killed'}\n`
    : `  DAMAGED: ${issues.length === 1 ? 'one fault' : `${issues.length} faults`}\n`;
  return [...shown(issues, '✗'), ...shown(warnings, '!'), end].join('');
}
