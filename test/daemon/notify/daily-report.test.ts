import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Millis } from '../../../src/core/time.ts';
import { DailyReport } from '../../../src/daemon/notify/daily-report.ts';
import type { Notification } from '../../../src/daemon/notify/notification.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { controlFixture } from '../control-fixture.ts';

const HOUR: Millis = 3_600_000;

function startReports(
  { stateDir = temporaryFolder(), at = '08:00', zone = 'UTC', from, sent = [] as Notification[] }: {
    readonly stateDir?: string; readonly at?: string; readonly zone?: string; readonly from: string;
    readonly sent?: Notification[];
  },
) {
  const clock = new VirtualClock(Date.parse(from));
  const control = controlFixture(temporaryFolder());
  const logged: string[] = [];
  const report = new DailyReport({
    config: { at, zone }, stateDir, clock, log: (_level, message) => { logged.push(message); },
    notifier: { notify: (notification) => { sent.push(notification); } },
  });
  report.attach(control.controlPort);
  onTestFinished(() => { report.close(); });
  return {
    report, clock, sent, stateDir, logged, control,
    titles: () => sent.map(({ title }) => title),
    /** Lets time pass to an instant, an hour at a time. */
    until: async (to: string) => {
      for (const end = Date.parse(to); clock.now() < end;) {
        clock.advanceTo(Math.min(end, clock.now() + HOUR));
        await vi.waitFor(() => { expect(report.isSending).toBe(false); }, { timeout: 10_000, interval: 2 });
      }
    },
  };
}

describe('the daily report', () => {
  it('comes once a day at its time with profit, equity, swaps, costs, refusals, alerts and disk', async () => {
    const { report, sent, titles, until } = startReports({ from: '2026-06-01T09:00:00Z' });
    await until('2026-06-02T07:00:00Z');
    expect(sent).toEqual([]);
    report.reporter.denied({} as never, { code: 'DAILY_LOSS' } as never);
    report.reporter.denied({} as never, { code: 'DAILY_LOSS' } as never);
    for (const [state, feeLamports] of [['confirmed', 5_000n], ['expired', 0n], ['submitted', undefined]] as const)
      report.reporter.intent({} as never, { state, feeLamports } as never);
    const alert = { kind: 'alert', message: 'text', data: { code: 'NO_TICK' } } as const;
    report.reporter.alert({} as never, undefined, { ...alert, level: 'critical' });
    report.reporter.alert({} as never, undefined, { ...alert, level: 'info' });
    report.reporter.alert({} as never, 'dip', { ...alert, level: 'warning' });
    await until('2026-06-02T08:20:00Z');
    await until('2026-06-04T12:00:00Z');
    expect(titles()).toEqual(['02', '03', '04'].map((day) => `daily report of 2026-06-${day}`));
    const [first, second] = sent;
    expect(first).toMatchObject({ topic: 'reports', level: 'info', key: 'daily-report:2026-06-02' });
    expect(first!.text).toMatch(/^state: trading \(live\), up .*\nequity: /);
    for (const line of [
      'profit: no swap yet', 'swaps: 1 confirmed, 1 expired; network fees 0.000005 SOL',
      'refused proposals: 2 DAILY_LOSS',
      'alerts: 1 NO_TICK, 1 of strategies', 'diver ',
    ]) expect(first!.text).toContain(line);
    expect(first!.text).toMatch(/\ndisk: 0\.\d MB in the state directory, [\d.]+ GB free$/);
    expect(second!.text).toContain('refused proposals: none');
  });

  it('comes once over restarts, and late once with its date where the daemon was down', async () => {
    const stateDir = temporaryFolder();
    const sent: Notification[] = [];
    const first = startReports({ stateDir, sent, from: '2026-06-01T07:59:00Z' });
    await first.until('2026-06-02T08:01:00Z');
    first.report.close();
    const again = startReports({ stateDir, sent, from: '2026-06-02T08:02:00Z' });
    await again.until('2026-06-02T20:00:00Z');
    again.report.close();
    const late = startReports({ stateDir, sent, from: '2026-06-05T07:00:00Z' });
    await late.until('2026-06-05T07:30:00Z');
    expect(late.titles()).toEqual([
      'daily report of 2026-06-01', 'daily report of 2026-06-02',
      'daily report of 2026-06-04 (late: it was due at 08:00 UTC)',
    ]);
    await late.until('2026-06-05T09:00:00Z');
    expect(late.titles().slice(3)).toEqual(['daily report of 2026-06-05']);
  });

  it.each([
    ['spring, where 02:30 does not exist', '2026-03-28T12:00:00Z', '2026-03-31T00:00:00Z', ['29', '30'], '03'],
    ['autumn, where 02:30 comes twice', '2026-10-24T12:00:00Z', '2026-10-27T00:00:00Z', ['25', '26'], '10'],
  ])('comes once a day when the clocks change in %s', async (_name, from, to, days, month) => {
    const { titles, until } = startReports({ from, at: '02:30', zone: 'Europe/Berlin' });
    await until(to);
    expect(titles().map((title) => title.slice(0, 26)))
      .toEqual(days.map((day) => `daily report of 2026-${month}-${day}`));
  });

  it('follows after a file that is broken or of a wrong clock, with a line in the log', async () => {
    const stateDir = temporaryFolder();
    writeFileSync(`${stateDir}/daily-report.json`, '{"version":1,"day":"soon"}');
    const broken = startReports({ stateDir, from: '2026-06-01T09:00:00Z' });
    await broken.until('2026-06-02T09:00:00Z');
    expect(broken.titles()).toEqual(['daily report of 2026-06-02']);
    expect(broken.logged).toEqual([expect.stringContaining('daily-report.json cannot be read')]);
    broken.report.close();
    writeFileSync(`${stateDir}/daily-report.json`, '{"version":1,"day":"2031-01-01"}');
    const ahead = startReports({ stateDir, from: '2026-06-03T09:00:00Z' });
    await ahead.until('2026-06-04T09:00:00Z');
    expect(ahead.titles()).toEqual(['daily report of 2026-06-04']);
    expect(JSON.parse(readFileSync(`${stateDir}/daily-report.json`, 'utf8')))
      .toEqual({ version: 1, day: '2026-06-04' });
  });

  it('is sent once even where its day cannot be kept', async () => {
    const stateDir = `${temporaryFolder()}/gone`;
    mkdirSync(stateDir);
    const { titles, until, logged } = startReports({ stateDir: `${stateDir}/missing`, from: '2026-06-01T07:00:00Z' });
    await until('2026-06-02T12:00:00Z');
    expect(titles()).toEqual(['daily report of 2026-06-01', 'daily report of 2026-06-02']);
    expect(logged.filter((line) => line.includes('cannot be written')).length).toBeGreaterThan(0);
  });
});
