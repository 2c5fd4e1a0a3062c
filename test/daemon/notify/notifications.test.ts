import { closeSync, existsSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { ChannelConfig } from '../../../src/config/notifications/channel-config.ts';
import { tokenTable } from '../../../src/market/token.ts';
import type { Delivery, Message } from '../../../src/daemon/notify/notification.ts';
import { openNotifications } from '../../../src/daemon/notify/notifications.ts';
import { outboxPath, readOutbox } from '../../../src/daemon/notify/outbox-store.ts';
import type { RunSummary } from '../../../src/daemon/reporting/counters.ts';
import type { RunStart } from '../../../src/daemon/reporting/reporter.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { HOUR, MINUTE, NOON, alert, channelConfig } from './notify-fixture.ts';

const SECRET = 'a-secret-of-the-service';
const NODE_KEY = 'the-key-of-the-second-node';
const SENT: Delivery = { kind: 'sent' };
const STAMP = { seq: 1, at: NOON };
const START = {
  runId: 'r', mode: 'paper', isRealMoney: false, service: 'embedded', strategies: [{ name: 'dip' }],
  balances: ['1 SOL'],
} as unknown as RunStart;
const SUMMARY = {
  durationMs: HOUR, intents: { confirmed: 2 }, open: [], alerts: 1, trading: 'active',
} as unknown as RunSummary;

/** Runs promises that are settled, and those that follow. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** The notifications of a run in virtual time, over a channel that answers as told. */
function fixture(
  stateDir: string, clock: VirtualClock,
  { answer = () => SENT, config = {}, runId = 'run-1' }: {
    answer?: (message: Message) => Delivery | Promise<Delivery>; config?: Partial<ChannelConfig>; runId?: string;
  } = {},
) {
  const got: Message[] = [];
  const logs: string[] = [];
  const run = openNotifications({
    stateDir, clock, runId, signalsToken: undefined,
    controlTokens: { operator: 'o'.repeat(40), viewer: 'v'.repeat(40) },
    log: (level, message) => { logs.push(`${level} ${message}`); },
    config: {
      notifications: [channelConfig(config)], strategies: [], tokens: tokenTable([]), service: { apiKey: SECRET },
      chain: { rpcUrl: 'embedded', furtherRpcUrls: [`https://second.example/${NODE_KEY}`] },
      alerts: {},
    } as never,
  }, () => ({
    send: (message) => {
      got.push(message);
      return Promise.resolve(answer(message));
    },
    close: () => Promise.resolve(),
  }));
  const advance = async (ms: number): Promise<void> => {
    const end = clock.now() + ms;
    for (let at = clock.nextAt(); at <= end; at = clock.nextAt()) {
      clock.advanceTo(at);
      await settled();
    }
    clock.advanceTo(end);
    await settled();
  };
  const close = async (): Promise<void> => {
    const closing = run.close!();
    await settled();
    await advance(10_000);
    await closing;
  };
  return { run, got, logs, advance, close, titles: () => got.map(({ title }) => title) };
}

describe('the notifications of a run', () => {
  it('are on the disk before they are sent, and gone when they are taken', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOON);
    const seen: unknown[] = [];
    const { run, advance, got, close } = fixture(dir, clock, {
      answer: () => {
        seen.push(readOutbox(outboxPath(dir))!.messages.map(({ title, isSending }) => [title, isSending]));
        return SENT;
      },
    });
    run.notifier.notify(alert('a'));
    expect(got).toEqual([]);
    await advance(1);
    expect(seen).toEqual([[['a', true]]]);
    expect(readOutbox(outboxPath(dir))!.messages).toEqual([]);
    await close();
  });

  it('survive an outage and a kill: tried again by the next run, each once', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOON);
    const down = fixture(dir, clock, {
      answer: () => ({ kind: 'failed', fault: 'no connection', mayHaveArrived: false }),
    });
    for (const name of ['a', 'b', 'c']) down.run.notifier.notify(alert(name, { level: 'critical' }));
    await down.advance(20 * MINUTE);
    expect(down.got.length).toBeGreaterThan(5);
    expect(down.logs.filter((line) => line.includes('no connection'))).toHaveLength(1);
    // Killed: nothing is closed.
    const up = fixture(dir, clock, { runId: 'run-2' });
    await up.advance(HOUR);
    expect(up.titles().filter((title) => title.length === 1).sort()).toEqual(['a', 'b', 'c']);
    expect(up.titles()).toContainEqual(expect.stringContaining('the last run (run-1) ended without a word'));
    await up.close();
  });

  it('log a refusal once with what to do, and try again in an hour', async () => {
    const clock = new VirtualClock(NOON);
    let isRight = false;
    const { run, advance, logs, got, close } = fixture(temporaryFolder(), clock, {
      answer: () => (isRight ? SENT : { kind: 'refused', of: 'channel', fault: '401', remedy: 'check the token' }),
    });
    run.notifier.notify(alert('a'));
    await advance(3 * HOUR + MINUTE);
    expect(got).toHaveLength(4);
    expect(logs).toEqual([expect.stringMatching(/^error .*401.*check the token/)]);
    isRight = true;
    await advance(HOUR);
    expect(logs.at(-1)).toBe('info notifications: ops takes messages again');
    await close();
  });

  it('wait for no channel: one that never answers holds neither the run nor its end', async () => {
    const clock = new VirtualClock(NOON);
    const { run, advance, close, got } = fixture(temporaryFolder(), clock, {
      answer: () => new Promise<Delivery>((resolve) => {
        clock.schedule(() => { resolve({ kind: 'failed', fault: 'late', mayHaveArrived: true }); }, 8_000);
      }),
    });
    for (let n = 0; n < 50; n++) run.notifier.notify(alert(`a${n}`));
    await advance(1);
    expect(got).toHaveLength(1);
    await close();
    expect(clock.now() - NOON).toBeLessThan(15_000);
  });

  it('never throw or block where the file is locked, broken or impossible, and are sent all the same', async () => {
    const locked = temporaryFolder();
    const clock = new VirtualClock(NOON);
    const first = fixture(locked, clock);
    await first.advance(1);
    const other = new DatabaseSync(outboxPath(locked));
    other.exec('BEGIN IMMEDIATE');
    first.run.notifier.notify(alert('a'));
    await first.advance(1);
    expect(first.titles()).toEqual(['a']);
    expect(first.logs.filter((line) => line.includes('cannot be kept on the disk'))).toHaveLength(1);
    other.exec('ROLLBACK');
    other.close();
    await first.close();
    expect(readOutbox(outboxPath(locked))!.channels.get('ops')).toMatchObject({ sent: 2 });

    const broken = temporaryFolder();
    writeFileSync(outboxPath(broken), 'no database at all, but long enough to be read as one'.repeat(50));
    const second = fixture(broken, clock);
    second.run.notifier.notify(alert('b'));
    await second.advance(1);
    expect(second.titles()).toEqual(['b']);
    expect(existsSync(`${outboxPath(broken)}.broken`)).toBe(true);
    await second.close();

    const absent = join(temporaryFolder(), 'file');
    writeFileSync(absent, '');
    const third = fixture(absent, clock);
    third.run.notifier.notify(alert('c'));
    await third.advance(1);
    expect(third.titles()).toEqual(['c']);
    await third.close();
  });

  it('hold the run for a moment while another process has the file, and are all on the disk later', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOON);
    const { run, advance, logs, got, close } = fixture(dir, clock, { answer: () =>
      ({ kind: 'failed', fault: 'f', mayHaveArrived: false }) });
    await advance(1);
    const other = new DatabaseSync(outboxPath(dir));
    other.exec('BEGIN EXCLUSIVE');
    const startedAt = performance.now();
    for (let n = 0; n < 200; n++) {
      run.notifier.notify(alert(`a${n}`, { level: 'critical', strategy: 'loud' }));
      await advance(1);
    }
    // One attempt to write waits for 20 ms, and the next one is made after 30 s.
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(logs.filter((line) => line.includes('cannot be kept on the disk'))).toHaveLength(1);
    other.exec('ROLLBACK');
    other.close();
    await advance(MINUTE);
    expect(got.length).toBeGreaterThan(1);
    expect(readOutbox(outboxPath(dir))!.messages).toHaveLength(200);
    await close();
  });

  it('of an earlier run are sent where the file was locked at the start, as soon as it is free', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOON);
    const down = fixture(dir, clock, { answer: () => ({ kind: 'failed', fault: 'f', mayHaveArrived: false }) });
    down.run.notifier.notify(alert('old', { level: 'critical' }));
    await down.close();
    const other = new DatabaseSync(outboxPath(dir));
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const { run, advance, titles, logs, close } = fixture(dir, clock, { runId: 'run-2' });
    run.notifier.notify(alert('new', { level: 'critical' }));
    await advance(5 * MINUTE);
    expect(titles()).toEqual(['new']);
    expect(logs).toEqual([expect.stringContaining('cannot be kept on the disk')]);
    other.exec('ROLLBACK');
    other.close();
    await advance(5 * MINUTE);
    expect(titles()).toEqual(expect.arrayContaining(['new', 'old']));
    expect(titles()).toHaveLength(3);
    expect(readOutbox(outboxPath(dir))!.messages).toEqual([]);
    await close();
  });

  it('are all written again where the file breaks while the run goes on', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOON);
    const { run, advance, logs } = fixture(dir, clock, { answer: () =>
      ({ kind: 'refused', of: 'channel', fault: '401', remedy: 'r' }) });
    for (let n = 0; n < 50; n++) run.notifier.notify(alert(`a${n}`, { level: 'critical', text: 'x'.repeat(2_000) }));
    await advance(1);
    expect(readOutbox(outboxPath(dir))!.messages).toHaveLength(50);
    for (const end of ['', '-wal', '-shm']) {
      const file = openSync(outboxPath(dir) + end, 'r+');
      writeSync(file, Buffer.alloc(statSync(outboxPath(dir) + end).size, 'garbage '), 0);
      closeSync(file);
    }
    run.notifier.notify(alert('later', { level: 'critical' }));
    await advance(2 * MINUTE);
    expect(logs.filter((line) => line.includes('was broken: it is now'))).toHaveLength(1);
    // Killed: nothing is closed.
    expect(readOutbox(outboxPath(dir))!.messages.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['a0', 'a49', 'later']));
    expect(readOutbox(outboxPath(dir))!.messages).toHaveLength(51);
  });

  it('show no secret of the run', async () => {
    const clock = new VirtualClock(NOON);
    const { run, advance, got, close } = fixture(temporaryFolder(), clock);
    run.reporter!.alert(STAMP, undefined, {
      kind: 'alert', level: 'critical', message: `refused ${SECRET} by /${NODE_KEY}`,
      data: { code: 'X', url: `https://a/?k=${SECRET}` },
    });
    await advance(1);
    expect(got).toHaveLength(1);
    for (const secret of [SECRET, NODE_KEY]) expect(JSON.stringify(got)).not.toContain(secret);
    await close();
  });
});

describe('what a run tells', () => {
  it('is its start, alerts, changes of trading, and its end with the reason', async () => {
    const clock = new VirtualClock(NOON);
    const { run, advance, got, close } = fixture(temporaryFolder(), clock);
    const reporter = run.reporter!;
    reporter.started(STAMP, START);
    reporter.alert(STAMP, 'dip', {
      kind: 'alert', level: 'warning', message: 'price gap', data: { code: 'GAP', n: 1n },
    });
    reporter.trading(STAMP, { strategy: undefined, state: 'halted', by: 'operator', reason: 'lunch' });
    reporter.state(STAMP, 'draining', 'stopped by the operator');
    reporter.summary(STAMP, SUMMARY);
    await advance(1);
    await close();
    const told = got.map(({ level, topic, strategy, title }) => [level, topic, strategy, title]);
    expect(told).toHaveLength(4);
    expect(told).toEqual(expect.arrayContaining([
      ['info', 'state', undefined, 'started on paper: 1 strategy'],
      ['warning', 'alerts', 'dip', 'price gap'],
      ['warning', 'state', undefined, 'everything is halted: no entry, no exit; source: the operator (lunch)'],
      ['info', 'state', undefined, 'the run has ended: stopped by the operator'],
    ]));
    expect(got.find(({ topic }) => topic === 'alerts')).toMatchObject({
      facts: { code: 'GAP', n: '1' }, text: expect.stringContaining('State: trading is active. "gannet status"'),
    });
  });

  it('is critical where the run ends in an error or does not start at all', async () => {
    const clock = new VirtualClock(NOON);
    const dir = temporaryFolder();
    const failed = fixture(dir, clock);
    await failed.close();
    expect(failed.got).toMatchObject([{ level: 'critical', title: 'the daemon could not start' }]);
    // A loop of restarts is one message with a number.
    const again = fixture(dir, clock, { runId: 'run-2' });
    await again.close();
    expect(again.got).toEqual([]);
    clock.advanceTo(clock.now() + HOUR);
    const died = fixture(dir, clock, { runId: 'run-3' });
    died.run.reporter!.started(STAMP, START);
    await died.advance(1);
    await died.close();
    expect(died.got.map(({ level, title }) => [level, title]))
      .toContainEqual(['critical', 'the run has ended in an error']);
  });
});

it('is taken without touching disk or channel in the turn of the run, and a flood is bounded', async () => {
  const dir = temporaryFolder();
  const clock = new VirtualClock(NOON);
  const { run, got, logs, advance, close, titles } = fixture(dir, clock);
  await advance(1);
  for (let n = 0; n < 10_000; n++) run.notifier.notify(alert(`a${n}`, { level: 'info', strategy: 'loud' }));
  run.notifier.notify(alert('signer gone', { level: 'critical' }));
  expect(readOutbox(outboxPath(dir))!.messages).toEqual([]);
  expect(got).toEqual([]);
  await advance(1);
  expect(titles()).toContain('signer gone');
  expect(readOutbox(outboxPath(dir))!.messages.length).toBeLessThanOrEqual(500);
  expect(logs).toEqual(['warn notifications: 8000 of one moment were too many, and were dropped']);
  await close();
});
