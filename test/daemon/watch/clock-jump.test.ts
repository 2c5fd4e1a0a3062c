import { describe, expect, it, onTestFinished } from 'vitest';
import type { Millis } from '../../../src/core/time.ts';
import { watchClock } from '../../../src/daemon/watch/system-clock.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { START, start } from '../session-fixture.ts';

const HOUR: Millis = 3_600_000;
const isSorted = (times: readonly Millis[]): boolean =>
  times.every((at, index) => index === 0 || at >= times[index - 1]!);

describe('a clock jump during a run', () => {
  it('eight hours ahead: timers fire once, open swaps stay, tokens are checked again, with an alert', async () => {
    const daemon = await start();
    expect(daemon.executed).toEqual(['ticker-1']);
    const before = daemon.stamps.length;
    daemon.wall.aheadMs = 8 * HOUR;
    await daemon.pass(5_000);
    const leaps = daemon.stamps.slice(before)
      .filter(({ input }) => input.kind === 'command' && input.name === 'leap-time');
    expect(leaps).toHaveLength(1);
    expect(daemon.state.intents.size).toBe(1);
    daemon.land();
    expect(daemon.state.intents.size).toBe(0);
    await daemon.pass(30_000);
    expect(daemon.executed.length).toBeGreaterThan(1);
    expect(daemon.executed.length).toBeLessThan(4);
    expect(daemon.stamps.filter(({ at, input }) =>
      at > START + 8 * HOUR && input.kind === 'command' && input.name === 'judge-token').length).toBeGreaterThan(0);
    await daemon.pass(60_000);
    expect(daemon.alerts)
      .toContainEqual(expect.stringMatching(/^critical: the clock of this run is 8h ahead of the service’s/));
    expect(daemon.alerts.filter((line) => !line.includes('clock'))).toEqual([]);
    expect(isSorted(daemon.stamps.map(({ at }) => at))).toBe(true);
  });

  it('eight hours back: stamps continue, rates and days stay, and swaps go on as before', async () => {
    const daemon = await start();
    daemon.wall.aheadMs = -8 * HOUR;
    await daemon.pass(5_000);
    daemon.land();
    await daemon.pass(20_000);
    expect(daemon.executed).toEqual(['ticker-1', 'ticker-2']);
    for (let swap = 0; swap < 6; swap++) {
      daemon.land();
      await daemon.pass(20_000);
    }
    // Four in an hour, whatever the wall says.
    expect(daemon.executed).toHaveLength(4);
    expect(isSorted(daemon.stamps.map(({ at }) => at))).toBe(true);
    expect(daemon.stamps.at(-1)!.at).toBeGreaterThan(START + 100_000);
    expect(daemon.stamps.filter(({ input }) => input.kind === 'command' && input.name === 'leap-time')).toEqual([]);
    expect([...daemon.state.protections.watches.values()].filter(({ fired }) => fired !== undefined)).toEqual([]);
  });

  it('a clock set back since the last run raises an alert, and later swaps count as of now', async () => {
    const daemon = await start({ approvals: [START + 7 * HOUR, START + 8 * HOUR] });
    expect(daemon.alerts).toEqual([
      expect.stringMatching(/^warning: the clock of this machine was set back by 8h or more since the last run/),
    ]);
    expect(daemon.state.swapRate.times.slice(0, 2)).toEqual([START, START]);
    await daemon.pass(60_000);
    expect(daemon.executed.length).toBeGreaterThan(0);
    expect((await start({ approvals: [START + 2_000] })).alerts).toEqual([]);
  });

  it('a wrong clock raises an alert at the start, and another one when it is right again', () => {
    const told: string[] = [];
    const clock = new VirtualClock(START);
    let ahead: Millis | undefined = 3 * HOUR;
    const watching = watchClock({
      clock, aheadMs: () => ahead, alert: ({ level, message }) => { told.push(`${level}: ${message}`); },
    });
    onTestFinished(() => { watching.unsubscribe(); });
    expect(told).toEqual([expect.stringMatching(/^critical: the clock of this run is 3h behind the service’s.*NTP/)]);
    for (const [value, words] of [
      [undefined, undefined], [3 * HOUR, undefined], [-40_000, /^warning: .* ahead of/], [900, /^info: .*agrees/],
      [-29_000, undefined],
    ] as const) {
      ahead = value;
      const before = told.length;
      clock.advanceTo(clock.now() + 60_000);
      expect(told.slice(before)).toEqual(words === undefined ? [] : [expect.stringMatching(words)]);
    }
  });
});
