import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunConfig } from '../../../src/config/run-config.ts';
import type { Log } from '../../../src/daemon/reporting/log.ts';
import { RetentionService } from '../../../src/daemon/retention/retention-service.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { AlertProposal } from '../../../src/trading/proposal.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { DAY, HOUR, NOW, makeRun, retention } from './retention-fixture.ts';

it('a run deletes old files after its start and each hour, and alerts once that its budget cannot be met', async () => {
  const stateDir = temporaryFolder();
  const [old, newest] = [40, 1].map((days) => makeRun(stateDir, { at: NOW - days * DAY, hours: 2 }));
  await old!.writer.close();
  await newest!.writer.close();
  const clock = new VirtualClock(NOW);
  const alerts: AlertProposal[] = [];
  const lines: string[] = [];
  const log: Log = (level, message) => { lines.push(`${level} ${message}`); };
  const config = {
    retention: retention({ budget: '1kB' }), recording: { enabled: true, dir: join(stateDir, 'recordings') },
    strategies: [],
  } as unknown as RunConfig;
  const service = new RetentionService({ config, stateDir, clock, log });
  service.attach({ alert: (alert) => { alerts.push(alert); } });
  clock.advanceTo(NOW + 19_000);
  expect(existsSync(old!.recording)).toBe(true);
  clock.advanceTo(NOW + 20_000);
  await expect.poll(() => alerts.length).toBe(1);
  expect(existsSync(old!.recording)).toBe(false);
  expect(alerts[0]).toMatchObject({
    level: 'warning', message: expect.stringMatching(/larger than retention\.budget.*\((?:runs|other|logs) \d+ MB/),
  });
  expect(lines).toEqual(['info old files were deleted']);
  // Within the hour nothing happens; the next pruning finds a new old file, and has alerted already.
  writeFileSync(join(stateDir, 'logs', 'other.log'), 'x');
  clock.advanceTo(NOW + HOUR);
  await new Promise((resolve) => { setTimeout(resolve, 50); });
  expect(lines).toHaveLength(1);
  clock.jumpTo(NOW + 400 * DAY);
  await expect.poll(() => existsSync(join(stateDir, 'logs', 'other.log'))).toBe(false);
  await service.close();
  expect(alerts).toHaveLength(1);
});

it('a fault of a pruning is logged once, and nothing else happens', async () => {
  const stateDir = temporaryFolder();
  mkdirSync(join(stateDir, 'runs'), { recursive: true });
  writeFileSync(join(stateDir, 'locks'), 'no folder');
  const clock = new VirtualClock(NOW);
  const lines: string[] = [];
  const config = {
    retention: retention(), recording: { enabled: true, dir: join(stateDir, 'recordings') }, strategies: [],
  } as unknown as RunConfig;
  const log: Log = (level, message) => { lines.push(`${level} ${message}`); };
  const service = new RetentionService({ config, stateDir, clock, log });
  service.attach({ alert: () => { throw new Error('no alert expected'); } });
  for (let hour = 0; hour < 4; hour++) {
    clock.advanceTo(NOW + 20_000 + hour * HOUR);
    await expect.poll(() => lines.length).toBe(1);
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
  await service.close();
  expect(lines).toEqual(['error old files could not be deleted']);
});
