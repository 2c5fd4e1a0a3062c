import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runsCommand } from '../../../../src/cli/commands/recording/list.ts';
import { pruneCommand } from '../../../../src/cli/commands/recording/prune.ts';
import { recordingCommand } from '../../../../src/cli/commands/recording/recording.ts';
import { DAY, makeRun } from '../../../daemon/retention/retention-fixture.ts';
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
  expect(kept.document).toEqual({ recording: join(stateDir, 'recordings', old!.runId), kept: true });
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
