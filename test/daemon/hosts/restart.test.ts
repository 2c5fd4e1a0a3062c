import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import type { StrategyHosts } from '../../../src/daemon/hosts/host-generations.ts';
import type { Millis } from '../../../src/core/time.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import { attachRun, begin, hosts, loadDeed, show, told } from './hosts-fixture.ts';

/** A clock that runs faster than the machine's by a factor for waits of a second and more. */
const FAST = 50;
const hurried: typeof systemClock = {
  now: () => systemClock.now(),
  schedule: <T>(work: Parameters<typeof systemClock.schedule<T>>[0], delay?: Millis, state?: T) =>
    systemClock.schedule<T>(work, delay === undefined || delay < 1_000 ? delay : delay / FAST, state),
};

const open: StrategyHosts[] = [];
afterEach(async () => { await Promise.all(open.splice(0).map((one) => one.close())); });

function opened(clock = systemClock): StrategyHosts {
  const processes = hosts(clock);
  open.push(processes);
  return processes;
}

const startsOf = (orders: ReturnType<typeof attachRun>['orders']): string[] => orders
  .filter((order) => order.name === 'start-strategy').map((order) => order.strategy);

/** Whether a process runs; one that has ended waits for whom it was left to. */
function isRunning(pid: string): boolean {
  return existsSync(`/proc/${pid}`)
    && !/^State:\s+Z/m.test(execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' }));
}

describe('the processes of strategies', () => {
  it('leave no descriptor open when they have ended', async () => {
    const open: number[] = [];
    for (let round = 0; round < 3; round++) {
      const processes = opened();
      await loadDeed(processes, 'nothing');
      await processes.close();
      // A socket is closed a turn after its end.
      await new Promise((resolve) => { setTimeout(resolve, 20); });
      open.push(readdirSync('/proc/self/fd').length);
    }
    // What the first one opens for good does not count.
    expect(open[2]).toBeLessThanOrEqual(open[0]!);
  });

  it('are started again at once where one was killed from outside, and blame no strategy', async () => {
    const processes = opened(hurried);
    const strategies = {
      first: await loadDeed(processes, 'nothing', 'first'), second: await loadDeed(processes, 'nothing', 'second'),
    };
    const { orders, alerts } = attachRun(processes, strategies);
    for (const strategy of Object.values(strategies)) begin(strategy);
    const [before] = processes.pids();
    for (let kills = 0; kills < 2; kills++) {
      const [pid] = processes.pids();
      orders.length = 0;
      process.kill(pid!, 'SIGKILL');
      await expect.poll(() => startsOf(orders)).toEqual(['first', 'second']);
    }
    expect(processes.pids()).not.toEqual([before]);
    expect(alerts).toEqual([]);
    expect(orders.filter(({ name }) => name === 'stop-strategy')).toEqual(['first', 'second']
      .map((strategy) => expect.objectContaining({
        strategy, code: 'STRATEGY_NEIGHBOUR', reason: expect.stringContaining('SIGKILL') as string,
      }) as unknown));
  });

  it('are asked again where one is killed while strategies are read before the run', async () => {
    const processes = opened();
    const first = await loadDeed(processes, 'nothing', 'first');
    const reading = loadDeed(processes, 'nothing', 'second');
    const [before] = processes.pids();
    process.kill(before!, 'SIGKILL');
    const second = await reading;
    expect(processes.pids()).not.toContain(before);
    for (const strategy of [first, second]) {
      expect(begin(strategy)).toHaveProperty('effects');
      expect(show(strategy, 10)).toHaveProperty('effects');
    }
  });

  it('do not start a strategy again whose proposals are complete, and tell it nothing more', async () => {
    const processes = opened();
    const strategies = {
      done: await loadDeed(processes, 'completion', 'done'), other: await loadDeed(processes, 'nothing', 'other'),
    };
    const { orders } = attachRun(processes, strategies);
    for (const strategy of Object.values(strategies)) begin(strategy);
    expect(told(show(strategies.done, 1))).toEqual(['1 events, 500000000 left, 1 open, 1', 'complete']);
    process.kill(processes.pids()[0]!, 'SIGKILL');
    await expect.poll(() => startsOf(orders)).toEqual(['other']);
    expect(told(show(strategies.done, 2))).toEqual([]);
    expect(told(show(strategies.other, 2))).toEqual(['1 events, 500000000 left, 1 open, 2']);
  });

  it('stop the neighbours of a strategy that ends its process, and start them again within a second', async () => {
    const processes = opened();
    const strategies = {
      culprit: await loadDeed(processes, 'loop', 'culprit'), other: await loadDeed(processes, 'nothing', 'other'),
    };
    const { orders } = attachRun(processes, strategies);
    for (const strategy of Object.values(strategies)) begin(strategy);
    show(strategies.culprit, 1);
    expect(told(show(strategies.culprit, 2))).toEqual(expect.objectContaining({ code: 'STRATEGY_TIMEOUT' }));
    // Shown before the daemon's next turn: it is stopped by this call.
    expect(told(show(strategies.other, 2))).toEqual({
      code: 'STRATEGY_NEIGHBOUR',
      reason: expect.stringContaining('ended with strategy culprit: it took longer') as string,
    });
    const endedAt = performance.now();
    await expect.poll(() => startsOf(orders), { interval: 5 }).toContain('other');
    expect(told(show(strategies.other, 3))).toEqual(['1 events, 500000000 left, 1 open, 3']);
    await expect.poll(() => startsOf(orders).sort()).toEqual(['culprit', 'other']);
    expect(performance.now() - endedAt).toBeGreaterThan(900);
  });

  it('keep a strategy stopped after its third end, with an alert, until an operator releases it', async () => {
    const processes = opened(hurried);
    const strategies = {
      culprit: await loadDeed(processes, 'rejection', 'culprit'), other: await loadDeed(processes, 'nothing', 'other'),
    };
    const { orders, alerts } = attachRun(processes, strategies);
    for (const strategy of Object.values(strategies)) begin(strategy);
    const [pid] = processes.pids();
    const offend = (): void => {
      show(strategies.culprit, 1);
      expect(told(show(strategies.culprit, 2))).toEqual(expect.objectContaining({ code: 'STRATEGY_ASYNC' }));
    };
    for (let ends = 1; ends <= 3; ends++) {
      offend();
      if (ends < 3) await expect.poll(() => startsOf(orders)).toHaveLength(ends);
    }
    await expect.poll(() => alerts).toEqual([{
      kind: 'alert', level: 'critical',
      message: expect.stringMatching(/^strategy culprit was stopped 3 times within 10m and stays stopped: /) as string,
      data: { code: 'STRATEGY_HELD', strategy: 'culprit' },
    }]);
    // Its process and its neighbour went on all the time.
    expect(told(show(strategies.other, 9))).toEqual(['1 events, 500000000 left, 1 open, 9']);
    expect(processes.pids()).toEqual([pid]);
    processes.release('culprit');
    await expect.poll(() => startsOf(orders)).toHaveLength(3);
    offend();
  });

  it('start nothing again when the run has ended, and are gone when they are closed', async () => {
    const processes = opened();
    const strategies = { one: await loadDeed(processes, 'loop', 'one') };
    const { orders, detach } = attachRun(processes, strategies);
    begin(strategies.one);
    detach();
    show(strategies.one, 1);
    show(strategies.one, 2);
    const [pid] = processes.pids();
    await processes.close();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(orders).toEqual([]);
  });

  it('end with a daemon that was killed, also in the middle of an endless loop', async () => {
    const code = `
      const { hosts, loadDeed, begin, show } = await import('${new URL('./hosts-fixture.ts', import.meta.url).href}');
      const processes = hosts();
      const idle = await loadDeed(processes, 'nothing', 'idle');
      const busy = await loadDeed(processes, 'loop', 'busy', 'per-strategy');
      console.log(processes.pids().join(' '));
      begin(busy); show(busy, 1); show(busy, 2);
    `;
    const daemon = spawn(
      process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    for await (const line of createInterface({ input: daemon.stdout })) {
      const pids = line.split(' ');
      expect(pids.length).toBe(2);
      daemon.kill('SIGKILL');
      await expect.poll(() => pids.filter(isRunning)).toEqual([]);
      break;
    }
  });
});
