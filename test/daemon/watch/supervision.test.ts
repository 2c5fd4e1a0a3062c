import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ServiceManager } from '../../../src/core/process-supervisor.ts';
import { superviseRun } from '../../../src/daemon/watch/supervision.ts';
import type { SessionState } from '../../../src/daemon/control/session-state.ts';
import type { AlertProposal } from '../../../src/trading/proposal.ts';

type Told = Parameters<ServiceManager['tell']>[0];

function supervised(watchdogMs: number | undefined) {
  const clock = new VirtualTimeScheduler();
  const told: (Told & { readonly at: number })[] = [];
  const logs: string[] = [];
  const alerts: AlertProposal[] = [];
  const run = { phase: 'trading', standing: 'trading', reasons: [] as string[], isStalled: false, isClosed: false };
  const manager: ServiceManager = {
    watchdogMs, tell: (state) => { told.push({ at: clock.now(), ...state }); }, close: () => { run.isClosed = true; },
  };
  const supervision = superviseRun({ manager, clock, log: (_level, message) => { logs.push(message); } });
  supervision.attach({
    alert: (alert) => { alerts.push(alert); },
    health: { isStalled: () => run.isStalled, waits: () => [] },
    state: () => ({
      phase: run.phase, standing: run.standing, standing_reasons: run.reasons, decisions: 3, intents: { open: [] },
    }) as unknown as SessionState,
  });
  const passTo = (at: number): void => {
    clock.maxFrames = at;
    clock.flush();
  };
  return { supervision, run, told, logs, alerts, passTo };
}

describe('the supervision of a run', () => {
  it('says that the run is ready before it recovers, then its state three times in a span of the watchdog', () => {
    const { supervision, run, told, passTo } = supervised(60_000);
    Object.assign(run, { phase: 'recovering', standing: 'recovering', reasons: ['waits for the outcome of dca-1'] });
    passTo(20_000);
    Object.assign(run, { phase: 'trading', standing: 'exits-only', reasons: [] });
    passTo(40_000);
    Object.assign(run, { phase: 'draining', standing: 'draining', reasons: ['no word of it'] });
    passTo(60_000);
    expect(told).toEqual([
      { at: 0, ready: true },
      { at: 0, well: true, stopping: false, status: 'trading, 3 decisions, 0 open swaps' },
      { at: 20_000, well: true, stopping: false, status: 'recovering: waits for the outcome of dca-1' },
      { at: 40_000, well: true, stopping: false, status: 'exits only, 3 decisions, 0 open swaps' },
      { at: 60_000, well: true, stopping: true, status: 'draining' },
    ]);
    supervision.close();
    expect([told.at(-1), run.isClosed]).toEqual([{ at: 60_000, stopping: true }, true]);
    passTo(200_000);
    expect(told).toHaveLength(6);
  });

  it('does not say that the run is well while its inbox is stalled, and alerts once', () => {
    const { run, told, logs, alerts, passTo } = supervised(30_000);
    passTo(10_000);
    run.isStalled = true;
    passTo(30_000);
    run.isStalled = false;
    passTo(40_000);
    expect(told.filter(({ ready }) => ready === undefined).map(({ well }) => well))
      .toEqual([true, true, false, false, true]);
    expect(logs).toEqual([expect.stringContaining('events or timers have waited for minutes')]);
    expect(alerts).toMatchObject([{ level: 'critical', data: { code: 'INBOX_STALLED' } }]);
  });

  it('tells its state also where the manager has no watchdog', () => {
    const { told, passTo } = supervised(undefined);
    passTo(45_000);
    expect(told.map(({ at }) => at)).toEqual([0, 0, 20_000, 40_000]);
  });
});
