import { describe, expect, it, onTestFinished } from 'vitest';
import { alertsSchema, resolveAlerts } from '../../../src/config/operations/alerts-config.ts';
import type { Amount } from '../../../src/core/amount.ts';
import type { Clock, Millis } from '../../../src/core/time.ts';
import type { FeedState, SessionState, StrategyState } from '../../../src/daemon/control/session-state.ts';
import { AbsenceWatch } from '../../../src/daemon/watch/absence.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { AlertProposal } from '../../../src/trading/proposal.ts';
import { PURCHASE } from '../../market/events.ts';
import { intentOf } from '../../store/sample-intents.ts';
import { START, start } from '../session-fixture.ts';

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60_000;
const HOUR: Millis = 3_600_000;
const DAY: Millis = 86_400_000;

type Change<T> = { -readonly [member in keyof T]: T[member] };

/** A run whose feeds answer at their intervals until a test stops them. */
class QuietRun {
  readonly clock = new VirtualClock(START);
  readonly alerts: AlertProposal[] = [];
  readonly logged: string[] = [];
  readonly feedStates: Change<FeedState>[] = [];
  readonly silent = new Set<string>();
  engineTakes = true;
  /** What the machine's counter lags behind the clock, in which it did not run. */
  sleptMs = 0;
  breaks = false;
  readonly sessionState = {
    phase: 'trading', seq: 1, pauses: [], waits_for: [],
    strategies: [{ name: 'dip', standing: 'trading' }],
  } as unknown as Change<SessionState>;

  watch(section: object, feeds: Readonly<Record<string, Millis>>, expectedMs?: ReadonlyMap<string, Millis>):
    AbsenceWatch {
    for (const [feed, every] of Object.entries(feeds)) {
      this.feedStates.push({
        feed, watches: feed, every_ms: every, last_answer_at: null, answers: 0,
      } as unknown as Change<FeedState>);
    }
    const watch = new AbsenceWatch({
      alerts: resolveAlerts(alertsSchema.parse(section)), clock: this.clock, expectedMs,
      log: (_level, message) => { this.logged.push(message); }, running: () => this.clock.now() - this.sleptMs,
    });
    watch.attach({
      state: () => {
        if (this.breaks) throw new Error('the journal is closed');
        return this.sessionState;
      },
      feeds: () => this.feedStates,
      alert: (alert) => { this.alerts.push(alert); },
    });
    onTestFinished(() => { watch.close(); });
    return watch;
  }

  /** Lets time pass; each feed answers when its interval is over. */
  pass(ms: Millis): void {
    for (const end = this.clock.now() + ms; this.clock.now() < end;) {
      const at = Math.min(end, this.clock.now() + 5 * SECOND);
      this.clock.advanceTo(at);
      for (const state of this.feedStates) {
        if (this.silent.has(state.feed) || at - (state.last_answer_at ?? START) < state.every_ms) continue;
        Object.assign(state, { last_answer_at: at, answers: state.answers + 1 });
        if (this.engineTakes) this.sessionState.seq += 1;
      }
    }
  }

  get told(): string[] {
    return this.alerts.map(({ level, data, message }) =>
      `${level} ${String(data?.['code'])}${data?.['over'] === true ? ' over' : ''}: ${message}`);
  }

  get codes(): string[] {
    return this.told.map((line) => line.slice(0, line.indexOf(':')));
  }
}

const QUOTES = { 'quote:SOL USDC': 5 * SECOND, 'quote:BONK USDC': 10 * SECOND };

describe('an absence raises one alert, and its end another', () => {
  it('NO_TICK: no feed answers, in place of one alert for each feed', () => {
    const run = new QuietRun();
    run.watch({}, QUOTES);
    run.pass(HOUR);
    run.silent.add('quote:SOL USDC').add('quote:BONK USDC');
    run.pass(5 * MINUTE - 10 * SECOND);
    expect(run.told).toEqual([]);
    run.pass(HOUR);
    expect(run.codes).toEqual(['critical NO_TICK']);
    expect(run.told[0]).toMatch(/no feed has answered since 2026-09-21 \d\d:\d\d:\d\d UTC: .*Check the network/);
    run.silent.clear();
    run.pass(HOUR);
    expect(run.codes).toEqual(['critical NO_TICK', 'info NO_TICK over']);
    expect(run.told[1]).toMatch(/feeds answer again, after 1h\d+m/);
  });

  it('FEED_SILENT: some feeds do not answer, named together', () => {
    const run = new QuietRun();
    run.watch({ silent_feed: '10m' }, { ...QUOTES, 'quote:mSOL USDC': SECOND });
    run.pass(MINUTE);
    run.silent.add('quote:SOL USDC').add('quote:BONK USDC');
    run.pass(10 * MINUTE + 30 * SECOND);
    expect(run.codes).toEqual(['warning FEED_SILENT']);
    expect(run.told[0]).toContain('2 feeds without an answer since');
    run.pass(HOUR);
    run.silent.delete('quote:BONK USDC');
    run.pass(HOUR);
    expect(run.codes).toEqual(['warning FEED_SILENT', 'info FEED_SILENT over']);
    expect(run.told[1]).toContain('a feed answers again: quote:BONK USDC');
    run.silent.clear();
    run.pass(HOUR);
    expect(run.told[2]).toContain('quote:SOL USDC');
    run.silent.add('quote:SOL USDC');
    run.pass(HOUR);
    expect(run.codes.slice(3)).toEqual(['warning FEED_SILENT']);
  });

  it('NO_DECISION: no proposal although a strategy may trade, and none is waited for while none may', () => {
    const run = new QuietRun();
    const watch = run.watch({ no_decision: '6h' }, QUOTES);
    run.pass(5 * HOUR);
    watch.reporter.denied({} as never, {} as never);
    run.pass(5 * HOUR);
    expect(run.told).toEqual([]);
    run.pass(2 * HOUR);
    expect(run.codes).toEqual(['warning NO_DECISION']);
    watch.reporter.denied({} as never, {} as never);
    run.pass(MINUTE);
    expect(run.told[1]).toMatch(/^info NO_DECISION over: a strategy has decided, after 7h/);
    run.pass(7 * HOUR);
    run.sessionState.strategies = [{ name: 'dip', standing: 'halted' } as StrategyState];
    run.pass(MINUTE);
    expect(run.told[3]).toMatch(/^info NO_DECISION over: no strategy may trade now/);
    run.pass(DAY);
    expect(run.told).toHaveLength(4);
  });

  it.each([
    ['after so many approved swaps', { intents: 4, after: 'off' }, 4, MINUTE],
    ['after three over too long a time', { intents: 100, after: '1h' }, 3, 25 * MINUTE],
  ] as const)('NOTHING_LANDED: %s', (_name, limits, count, everyMs) => {
    const run = new QuietRun();
    const watch = run.watch({ nothing_landed: limits }, QUOTES);
    const decide = (): void => { watch.reporter.decided({} as never, {} as never); };
    const end = (state: string): void => { watch.reporter.intent({} as never, { state } as never); };
    for (let swap = 1; swap < count; swap++) {
      decide();
      run.pass(everyMs);
      end('abandoned');
    }
    expect(run.told).toEqual([]);
    decide();
    run.pass(everyMs);
    expect(run.codes).toEqual(['critical NOTHING_LANDED']);
    expect(run.told[0]).toContain(`${count} swaps were approved since`);
    end('confirmed');
    run.pass(MINUTE);
    expect(run.codes.slice(1)).toEqual(['info NOTHING_LANDED over']);
    for (let swap = 0; swap < 200; swap++) {
      decide();
      end('confirmed');
      run.pass(MINUTE);
    }
    expect(run.told).toHaveLength(2);
  });

  it('RECOVERY_SLOW: the run does not trade, with what it waits for', () => {
    const run = new QuietRun();
    Object.assign(run.sessionState, { phase: 'recovering', waits_for: ['the outcome of dip-7 (unknown)'] });
    const watch = run.watch({}, QUOTES);
    run.pass(4 * MINUTE);
    expect(run.told).toEqual([]);
    expect(watch.fault()).toBe('the run is recovering');
    run.pass(HOUR);
    expect(run.codes).toEqual(['critical RECOVERY_SLOW']);
    expect(run.told[0]).toContain('still recovering; it waits for the outcome of dip-7 (unknown)');
    run.sessionState.phase = 'trading';
    run.pass(MINUTE);
    expect(run.told[1]).toMatch(/^info RECOVERY_SLOW over: the run trades, after 1h/);
    expect(watch.fault()).toBeUndefined();
  });

  it('ENGINE_SILENT: feeds answer, and the engine takes nothing', () => {
    const run = new QuietRun();
    const watch = run.watch({}, QUOTES);
    run.pass(HOUR);
    run.engineTakes = false;
    run.pass(3 * MINUTE);
    expect(run.codes).toEqual(['critical ENGINE_SILENT']);
    expect(watch.fault()).toBe('the engine takes no input');
    run.engineTakes = true;
    run.pass(MINUTE);
    expect(run.codes.slice(1)).toEqual(['info ENGINE_SILENT over']);
  });

  it('LOOP_BLOCKED and MACHINE_SLEPT: once for several interruptions, and no feed counts as silent', () => {
    const run = new QuietRun();
    run.watch({}, QUOTES);
    run.pass(HOUR);
    run.clock.jumpTo(run.clock.now() + 20 * SECOND);
    run.pass(MINUTE);
    expect(run.codes).toEqual(['warning LOOP_BLOCKED']);
    expect(run.told[0]).toMatch(/this process did not run for 19s, from .* to .*: its event loop was blocked/);
    run.clock.jumpTo(run.clock.now() + 40 * SECOND);
    run.pass(9 * MINUTE);
    expect(run.told).toHaveLength(1);
    run.pass(5 * MINUTE);
    expect(run.told[1]).toMatch(/^info LOOP_BLOCKED over: .* interrupted 2 times, for up to 39s/);
    run.sleptMs = 8 * HOUR;
    run.silent.add('quote:BONK USDC');
    run.clock.jumpTo(run.clock.now() + 8 * HOUR);
    run.pass(12 * MINUTE);
    expect(run.codes.slice(2)).toEqual(['warning MACHINE_SLEPT', 'info MACHINE_SLEPT over']);
    expect(run.told[2]).toContain('this machine did not run for 8h');
  });
});

describe('no absence', () => {
  it.each([
    ['with slow feeds of prediction markets', { 'prediction-event:e1': 6 * HOUR, 'quote:SOL USDC': HOUR }, {}],
    ['with signals alone', { 'signal:entry': SECOND }, {}],
    ['of a halted run', QUOTES, { strategies: [{ name: 'dip', standing: 'halted' }] }],
    ['of a strategy that has ended', QUOTES, { strategies: [{ name: 'dip', standing: 'stopped' }] }],
    ['of a paused strategy', QUOTES, { pauses: [{ strategy: 'dip' }] }],
  ] as const)('raises no alert in ten days %s', (_name, feeds, changes) => {
    const run = new QuietRun();
    Object.assign(run.sessionState, changes);
    if ('signal:entry' in feeds) run.silent.add('signal:entry');
    run.watch({ no_decision: 'signal:entry' in feeds || 'strategies' in changes || 'pauses' in changes ? '6h' : 'off' },
      feeds);
    if ('signal:entry' in feeds) run.sessionState.strategies = [];
    run.pass(10 * DAY);
    expect(run.told).toEqual([]);
  });

  it('counts the interval at which a feed is really polled', () => {
    const run = new QuietRun();
    const feeds = { 'quote:SOL USDC': HOUR, 'quote:BONK USDC': 5 * SECOND };
    run.watch({}, feeds, new Map([['quote:SOL USDC', HOUR]]));
    run.feedStates[0]!.every_ms = HOUR;
    run.pass(DAY);
    expect(run.told).toEqual([]);
  });

  it('is raised for a feed that nothing watches any longer, or where every alert is off', () => {
    const run = new QuietRun();
    run.watch({ silent_feed: '1m' }, QUOTES);
    run.silent.add('quote:BONK USDC');
    run.pass(30 * SECOND);
    run.feedStates.pop();
    run.pass(HOUR);
    expect(run.told).toEqual([]);
    const off = new QuietRun();
    off.watch({
      no_tick: 'off', silent_feed: 'off', nothing_landed: 'off', slow_recovery: 'off', engine_silent: 'off',
      blocked: 'off',
    }, QUOTES);
    off.silent.add('quote:SOL USDC').add('quote:BONK USDC');
    off.pass(HOUR);
    off.clock.jumpTo(off.clock.now() + HOUR);
    off.sessionState.phase = 'recovering';
    off.pass(HOUR);
    expect(off.told).toEqual([]);
  });

  it('follows from a fault of the watch, which is logged once and goes on', () => {
    const run = new QuietRun();
    run.watch({}, QUOTES);
    run.breaks = true;
    run.pass(HOUR);
    expect(run.logged.filter((line) => line.includes('the journal is closed')).length).toBe(1);
    run.breaks = false;
    run.silent.add('quote:SOL USDC').add('quote:BONK USDC');
    run.pass(HOUR);
    expect(run.codes).toEqual(['critical NO_TICK']);
  });
});

describe('the alerts of a real session', () => {
  const watched = (session: Awaited<ReturnType<typeof start>>['session'], clock: Clock, section: object): void => {
    const watch = new AbsenceWatch({
      alerts: resolveAlerts(alertsSchema.parse(section)), clock, log: () => undefined, running: () => clock.now(),
    });
    watch.attach(session.controlPort);
    onTestFinished(() => { watch.close(); });
  };

  it('reach its reporters, and are neither decisions nor inputs', async () => {
    const left = { intent: intentOf(7, { amountIn: PURCHASE as Amount }), state: 'submitted' } as const;
    const daemon = await start({ open: [left], leftover: 'nothing yet' });
    const clock = new VirtualClock(START);
    watched(daemon.session, clock, { slow_recovery: '1m' });
    const { seq, decision_hash: hash } = daemon.session.controlPort.state();
    clock.advanceTo(START + 2 * MINUTE);
    expect(daemon.alerts.filter((line) => line.includes('and is still recovering'))).toHaveLength(1);
    expect(daemon.session.controlPort.state()).toMatchObject({ seq, decision_hash: hash });
    expect(daemon.story.alerts.map(({ code }) => code)).toContain('RECOVERY_SLOW');
  });
});
