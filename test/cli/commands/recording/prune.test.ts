import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runsCommand } from '../../../../src/cli/commands/recording/list.ts';
import { pruneCommand } from '../../../../src/cli/commands/recording/prune.ts';
import { recordingCommand } from '../../../../src/cli/commands/recording/recording.ts';
import { prune } from '../../../../src/daemon/retention/prune.ts';
import { DAY, HOUR, NOW, makeRun, retention } from '../../../daemon/retention/retention-fixture.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';
import { runCommand } from '../../in-process.ts';

it('old recordings are shown, pinned, and deleted on order', async () => {
  const stateDir = temporaryFolder();
  const at = Math.floor(Date.now() / DAY) * DAY;
  const [old, other, newest] = [90, 80, 2].map((days) => makeRun(stateDir, { at: at - days * DAY, hours: 2 }));
  await old!.writer.close();
  await newest!.writer.close();
  await expect(runCommand(pruneCommand, ['prune'], { stateDir }))
    .rejects.toThrow(expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('--yes') }));
  const kept = await runCommand(recordingCommand, ['recording', 'keep', old!.runId], { stateDir });
  expect(kept.document).toEqual({
    recording: join(stateDir, 'recordings', old!.runId), kept: true, pruned_before: null, has_decisions: true,
  });
  const dry = await runCommand(pruneCommand, ['prune', '--dry-run'], { stateDir });
  expect(dry.document).toMatchObject({
    dry_run: true, after: null, over_budget_bytes: 0, budget_bytes: 1e9,
    pinned: expect.arrayContaining([{ why: 'kept manually', bytes: expect.any(Number) }]),
  });
  const pieces = dry.document['pieces'] as readonly { readonly name: string; readonly reason: string }[];
  expect(new Set(pieces.map(({ name, reason }) => `${name} ${reason}`)))
    .toEqual(new Set([`${other!.runId} age`, `${other!.runId}.log age`, `${old!.runId}.log age`]));
  expect(dry.text).toContain('would be deleted');
  expect(existsSync(other!.recording)).toBe(true);
  await other!.writer.close();
  await runCommand(recordingCommand, ['recording', 'keep', old!.runId, '--off'], { stateDir });
  const done = await runCommand(pruneCommand, ['prune', '--yes'], { stateDir });
  expect([done.code, done.document['dry_run'], existsSync(old!.recording), existsSync(other!.recording)])
    .toEqual([0, false, false, false]);
  expect((await runCommand(pruneCommand, ['prune', '--yes'], { stateDir })).text).toContain('nothing was deleted');
  writeFileSync(join(newest!.recording, 'manifest.json'), '{');
  const recordings = await runCommand(recordingCommand, ['recording', 'list'], { stateDir });
  expect(recordings.document['recordings']).toMatchObject([
    { name: newest!.runId, mode: 'live', kept: false, needed_by: [], fault: expect.any(String) },
  ]);
  const runs = await runCommand(runsCommand, ['runs', 'list'], { stateDir });
  expect(runs.document['runs']).toMatchObject([
    { run_id: newest!.runId, mode: 'live', ended: 'in order', decisions: 1, recording: 'whole', has_decisions: true },
    { run_id: other!.runId, recording: 'pruned', has_decisions: false, kept: false },
    { run_id: old!.runId, recording: 'pruned', has_decisions: false, kept: false },
  ]);
  expect([done.text, recordings.text, runs.text]).toEqual([
    expect.stringContaining('were deleted'), expect.stringContaining('damaged'), expect.stringContaining('pruned'),
  ]);
});

it('a pinned run says what of it was deleted before', async () => {
  const stateDir = temporaryFolder();
  const cut = makeRun(stateDir, { at: NOW - 10 * DAY - 2 * HOUR, hours: 4 });
  const undecided = makeRun(stateDir, { at: NOW - 7 * DAY, hours: 2 });
  const long = makeRun(stateDir, { at: NOW - 6 * DAY, hours: 30 });
  const whole = makeRun(stateDir, { at: NOW - DAY, hours: 2 });
  for (const { writer } of [cut, undecided, long, whole]) await writer.close();
  const part = join(long.dir, 'decisions.1.ndjson.zst');
  writeFileSync(part, '');
  utimesSync(part, new Date(NOW - 6 * DAY), new Date(NOW - 6 * DAY));
  await prune({
    stateDir, recordingDir: join(stateDir, 'recordings'), now: NOW, warmupMs: 0,
    config: retention({ recordings: { max_age: '10d' }, runs: { max_age: '5d' } }),
  });
  const foreign = join(stateDir, 'recordings', 'synthetic-1d-7');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'manifest.json'), '{}');
  const keep = async (name: string, ...flags: string[]): Promise<readonly unknown[]> => {
    const { document, text } = await runCommand(recordingCommand, ['recording', 'keep', name, ...flags], { stateDir });
    return [document['has_decisions'], document['pruned_before'], text.replaceAll(name, 'NAME')];
  };
  expect(await keep(whole.runId)).toEqual([true, null, '  NAME is kept until --off\n']);
  expect(await keep('synthetic-1d-7')).toEqual([null, null, '  NAME is kept until --off\n']);
  expect(await keep(undecided.runId)).toEqual([false, null, [
    '  what is left of NAME is kept until --off',
    '  kept            its recording',
    '  deleted before  its decisions and the copy of its code',
    '  replay          not possible any more\n',
  ].join('\n')]);
  expect(await keep(undecided.runId, '--off')).toEqual([false, null, '  NAME may be deleted again\n']);
  expect(await keep(long.runId)).toEqual([false, null, [
    '  what is left of NAME is kept until --off',
    '  kept            its recording', '                  its newest decisions',
    '  deleted before  its older decisions',
    '  replay          not possible any more\n',
  ].join('\n')]);
  expect(await keep(cut.runId)).toEqual([false, '2026-11-10T12', [
    '  what is left of NAME is kept until --off',
    '  kept            its recording from 2026-11-10 12:00 UTC on',
    '  deleted before  the hours of its recording before 2026-11-10 12:00 UTC',
    '                  its decisions and the copy of its code',
    '  replay          not possible any more\n',
  ].join('\n')]);
  rmSync(whole.recording, { recursive: true });
  expect(await keep(whole.runId)).toEqual([true, null, [
    '  what is left of NAME is kept until --off',
    '  kept            its decisions',
    '  deleted before  its recording',
    '  replay          not possible any more\n',
  ].join('\n')]);
});
