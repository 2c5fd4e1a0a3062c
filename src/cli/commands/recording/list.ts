import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import type { CommandContext, CommandModule, RunCommand } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { bytesText, count, instant } from '../../output/figures.ts';
import { facts, table } from '../../output/table.ts';
import { messageOf } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { roughDuration } from '../../../core/time.ts';
import { findRecording, runDirOf, runStartOf } from '../../../daemon/files/find-run.ts';
import { prunedRun } from '../../../daemon/files/pruned-run.ts';
import { partsOf } from '../../../daemon/files/rolled-file.ts';
import { DECISIONS_FILE } from '../../../daemon/files/run-files.ts';
import type { ListedRun } from '../../../daemon/retention/inventory.ts';
import { listRuns } from '../../../daemon/retention/inventory.ts';
import { listSegments } from '../../../recording/check/verify.ts';
import { namesIn, sizeOfFolder } from '../../../recording/files/folder-files.ts';
import { MANIFEST_FILE } from '../../../recording/format.ts';
import { totalsOf } from '../../../recording/manifest.ts';
import { KEEP_FILE, prunedBefore } from '../../../recording/pruning.ts';
import { isBeingWritten } from '../../../recording/recording-files.ts';

/** Adds the list of recordings, and the pin that keeps one. */
export function addList(group: Command, run: RunCommand): void {
  group.command('list')
    .description('lists the recordings of the state directory, newest first, with their sizes and who needs them')
    .action(run(async ({ terminal, options }: CommandContext) => {
      const recordings = await recordingsOf(options.stateDir);
      terminal.result({ recordings }, () => (recordings.length === 0 ? '  no recordings\n' : table(withoutEmpty([
        ['recording', 'from, UTC', 'span', 'events', 'size', 'ended', 'kept', 'needed by'],
        ...recordings.map((one) => [
          one.name, instant(one.first_at === null ? undefined : Date.parse(one.first_at)),
          one.span_ms === null ? '' : roughDuration(one.span_ms), count(one.events), bytesText(one.bytes),
          one.fault === null ? `${one.ended}${one.pruned_before === null ? '' : ', pruned'}` : 'damaged',
          one.kept ? 'yes' : '', one.needed_by.join(', '),
        ]),
      ]), { right: [3, 4], below: [6, 7] })));
      return EXIT.done;
    }));
  group.command('keep').argument('<recording>', 'its folder or name, or the id of the run that made it')
    .option('--off', 'no longer keeps it')
    .description('keeps a recording and its run from being deleted by the retention')
    .action(run(async ({ terminal, options }: CommandContext, name: string, { off = false }: { off?: boolean }) => {
      const directory = findRecording(options.stateDir, name);
      const runDir = runDirOf(options.stateDir, basename(directory));
      const folders = [directory, runDir].filter((path) => existsSync(path));
      for (const folder of folders) {
        if (off) rmSync(join(folder, KEEP_FILE), { force: true });
        else writeFileSync(join(folder, KEEP_FILE), '', { mode: 0o600 });
      }
      const left = whatIsLeft(directory, runDir);
      terminal.result({
        recording: left.hasRecording ? directory : null, kept: !off, pruned_before: left.prunedBefore ?? null,
        has_decisions: left.decisions === undefined ? null : left.decisions === 'all',
      }, () => {
        const shown = printable(basename(directory), 200);
        return off ? `  ${shown} may be deleted again\n` : keptText(shown, left);
      });
      return EXIT.done;
    }));
}

/** What there is of a recording and of the run that made it. */
interface Left {
  readonly hasRecording: boolean;
  /** The hour before which the hours of the recording were deleted. */
  readonly prunedBefore: string | undefined;
  /** Undefined for a recording without a run. */
  readonly decisions: 'all' | 'newest' | 'none' | undefined;
}

function whatIsLeft(directory: string, runDir: string): Left {
  const decisions = !prunedRun(runDir).decisions ? 'all'
    : partsOf(join(runDir, DECISIONS_FILE)).length > 0 ? 'newest' : 'none';
  return {
    hasRecording: existsSync(directory), prunedBefore: prunedBefore(directory),
    decisions: existsSync(runDir) ? decisions : undefined,
  };
}

/** Without a part of the recording or of the decisions a replay is refused. */
function keptText(name: string, { hasRecording, prunedBefore: hour, decisions }: Left): string {
  const since = hour === undefined ? undefined : `${hour.replace('T', ' ')}:00 UTC`;
  const deleted = [
    ...(!hasRecording ? ['its recording'] : since === undefined ? [] : [`the hours of its recording before ${since}`]),
    ...(decisions === 'none' ? ['its decisions and the copy of its code']
      : decisions === 'newest' ? ['its older decisions'] : []),
  ];
  if (deleted.length === 0) return `  ${name} is kept until --off\n`;
  const kept = [
    ...(!hasRecording ? [] : since === undefined ? ['its recording'] : [`its recording from ${since} on`]),
    ...(decisions === 'all' ? ['its decisions'] : decisions === 'newest' ? ['its newest decisions'] : []),
  ];
  return `  what is left of ${name} is kept until --off\n`
    + facts([['kept', kept], ['deleted before', deleted], ['replay', 'not possible any more']]);
}

/** Leaves out the last columns where no row has anything in them. */
function withoutEmpty(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const [, ...cells] = rows;
  const used = Math.max(...cells.map((row) => row.findLastIndex((cell) => cell !== '') + 1));
  return rows.map((row) => row.slice(0, used));
}

/** A recording as `--json` lists it. */
interface ListedRecording {
  readonly name: string;
  readonly source: string | null;
  /** The mode of the run that made it. */
  readonly mode: string | null;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly span_ms: number | null;
  readonly events: number;
  readonly bytes: number;
  readonly ended: 'in order' | 'running' | 'cut off';
  readonly pruned_before: string | null;
  readonly kept: boolean;
  /** The runs that were warmed up with it. */
  readonly needed_by: readonly string[];
  readonly fault: string | null;
}

async function recordingsOf(stateDir: string): Promise<readonly ListedRecording[]> {
  const folder = join(stateDir, 'recordings');
  const runs = await listRuns({ stateDir, recordingDir: folder });
  const names = (await namesIn(folder)).filter((name) => existsSync(join(folder, name, MANIFEST_FILE)));
  const found = await Promise.all(names.map((name) => recordingOf(join(folder, name), runs)));
  return found.toSorted((a, b) => startOf(b) - startOf(a));
}

function startOf({ name, first_at: first }: ListedRecording): number {
  return first === null ? runStartOf(name) ?? 0 : Date.parse(first);
}

async function recordingOf(directory: string, runs: readonly ListedRun[]): Promise<ListedRecording> {
  const name = basename(directory);
  const own = runs.find((run) => run.name === name);
  const common = {
    name, mode: own?.manifest?.mode ?? null, bytes: (await sizeOfFolder(directory)).bytes,
    kept: own?.isKept ?? existsSync(join(directory, KEEP_FILE)),
    needed_by: runs.filter(({ manifest }) =>
      manifest?.warmup?.recordings.some(({ recording }) => basename(recording) === name) === true)
      .map((run) => run.name),
  };
  try {
    const { manifest, segments } = listSegments(directory);
    const { events, firstAt, lastAt } = totalsOf(segments);
    return {
      ...common, events, source: manifest.source.kind,
      first_at: firstAt === undefined ? null : new Date(firstAt).toISOString(),
      last_at: lastAt === undefined ? null : new Date(lastAt).toISOString(),
      span_ms: firstAt === undefined || lastAt === undefined ? null : lastAt - firstAt,
      ended: manifest.closed ? 'in order' : isBeingWritten(directory) ? 'running' : 'cut off',
      pruned_before: prunedBefore(directory) ?? null, fault: null,
    };
  } catch (error) {
    return {
      ...common, events: 0, source: null, first_at: null, last_at: null, span_ms: null, ended: 'cut off',
      pruned_before: null, fault: messageOf(error),
    };
  }
}

export const runsCommand: CommandModule = (program, run) => {
  const runs = program.command('runs').description('the daemon’s runs');
  runs.command('list', { isDefault: true })
    .description('lists the daemon’s runs, newest first: mode, span, decisions, size, how they ended, what is left')
    .action(run(async ({ terminal, options }: CommandContext) => {
      const listed = await runsOf(options.stateDir);
      terminal.result({ runs: listed }, () => (listed.length === 0 ? '  no runs\n' : table(withoutEmpty([
        ['run', 'mode', 'span', 'decisions', 'size', 'ended', 'recording', 'kept'],
        ...listed.map((one) => [
          one.run_id, one.mode ?? '', one.span_ms === null ? '' : roughDuration(one.span_ms),
          one.decisions === null ? '' : count(one.decisions), bytesText(one.bytes), one.ended, one.recording,
          one.kept ? 'yes' : '',
        ]),
      ]), { right: [3, 4], below: [7] })));
      return EXIT.done;
    }));
};

/** A run as `--json` lists it. */
interface ShownRun {
  readonly run_id: string;
  readonly mode: string | null;
  readonly started_at: string;
  readonly span_ms: number | null;
  /** Null where it did not end in order. */
  readonly decisions: number | null;
  readonly bytes: number;
  readonly ended: 'in order' | 'running' | 'cut off' | 'damaged';
  /** What is left of its recording. */
  readonly recording: 'whole' | 'in part' | 'pruned' | 'none';
  /** Whether its decisions are still there. */
  readonly has_decisions: boolean;
  readonly kept: boolean;
}

async function runsOf(stateDir: string): Promise<readonly ShownRun[]> {
  const folder = join(stateDir, 'recordings');
  const shown: ShownRun[] = [];
  for (const { name, dir, manifest, isWritten, isKept } of await listRuns({ stateDir, recordingDir: folder })) {
    const pruned = prunedRun(dir);
    const ended = manifest?.ended ?? undefined;
    const made = manifest?.recording ?? undefined;
    const directory = made === undefined ? undefined : join(dir, made);
    shown.push({
      run_id: name, mode: manifest?.mode ?? null, started_at: new Date(runStartOf(name)!).toISOString(),
      span_ms: ended === undefined || manifest === undefined ? null : ended.at - manifest.clock_start,
      decisions: ended?.decisions ?? null, bytes: (await sizeOfFolder(dir)).bytes,
      ended: manifest === undefined ? 'damaged' : ended !== undefined ? 'in order' : isWritten ? 'running' : 'cut off',
      recording: directory === undefined ? 'none' : pruned.recording || !existsSync(directory) ? 'pruned'
        : prunedBefore(directory) === undefined ? 'whole' : 'in part',
      has_decisions: !pruned.decisions, kept: isKept,
    });
  }
  return shown;
}
