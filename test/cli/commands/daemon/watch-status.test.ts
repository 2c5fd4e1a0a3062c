import { describe, expect, it } from 'vitest';
import { statusCommand } from '../../../../src/cli/commands/daemon/status.ts';
import { runCommand } from '../../in-process.ts';
import { controlFixture, startTestApi } from '../../../daemon/control-fixture.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';

describe('gannet status --watch', () => {
  it('waits for a daemon, shows each state, survives a restart, and ends with 0 at Ctrl-C', async () => {
    const stateDir = temporaryFolder();
    const fixture = controlFixture(stateDir);
    const stop = new AbortController();
    let api: Awaited<ReturnType<typeof startTestApi>> | undefined;
    const restart = async (): Promise<void> => {
      await api?.close();
      api = await startTestApi({ stateDir, controlPort: () => fixture.controlPort });
    };
    const steps = [
      restart, async () => undefined, async () => { await api?.close(); api = undefined; }, restart,
      async () => { stop.abort(); },
    ];
    const answer = await runCommand(statusCommand, ['status', '--watch', '500ms'], {
      stateDir, interrupt: stop.signal, onPrint: () => { void steps.shift()?.(); },
    });
    expect(answer.documents.map(({ phase }) => phase)).toEqual(['waiting', 'trading', 'trading', 'waiting', 'trading']);
    expect(answer.documents[0]!['reason']).toMatch(/no daemon runs/);
    expect(answer.text).toMatch(/^ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/);
    expect(answer.code).toBe(0);
  });

  it.each(['soon', '10ms'])('refuses the interval %s', async (interval) => {
    await expect(runCommand(statusCommand, ['status', '--watch', interval], { stateDir: temporaryFolder() }))
      .rejects.toThrow(/expected (?:a duration|at least 500 ms)/);
  });
});
