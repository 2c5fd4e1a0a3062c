import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { daemonText } from '../../../src/cli/commands/daemon/status.ts';
import type { SessionState } from '../../../src/daemon/control/session-state.ts';
import { runStatusOf, statusReasons, strategyStatuses } from '../../../src/daemon/control/run-status.ts';
import type { Protection, ProtectionAction } from '../../../src/trading/limits.ts';
import type { TradingState } from '../../../src/trading/engine-command.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { controlFixture } from '../control-fixture.ts';

const TRADING_STATES: readonly TradingState[] = ['active', 'reduce-only', 'halted'];
const PHASES = ['starting', 'recovering', 'trading', 'draining', 'ended'];
const ACTIONS: readonly (ProtectionAction | undefined)[] = [undefined, 'deny', 'reduce-only', 'halt', 'flatten'];
const SCOPES = ['global', 'strategy'] as const;
/** Each row of the strategies’ table: name, file, state. */
const ROW = /^ {2}(diver|wader) +\w+ +(trading|exits only|flattening|halted|stopped|waiting)\b/gm;

const protectionOf = (action: ProtectionAction, scope: Protection['scope']): Protection =>
  ({ trigger: { kind: 'cooldown', after: 'loss' }, scope, action, release: { kind: 'elapsed', afterMs: 60_000 } });

/** One word of the state line for each word of the JSON. */
const WORDS: Readonly<Record<string, string>> = {
  starting: 'starting', recovering: 'recovering', trading: 'trading', 'exits-only': 'exits only',
  flattening: 'flattening', halted: 'halted', stopped: 'stopped',
  'waiting-for-service': 'waiting for the service', draining: 'draining', ended: 'ended',
};

describe('issue 13.24: the status is consistent', () => {
  it('in any combination of states', () => {
    let combinations = 0;
    for (const action of ACTIONS) {
      for (const scope of SCOPES) {
        const { controlPort, state } = controlFixture(temporaryFolder(), action === undefined ? {}
          : { limits: { protections: [protectionOf(action, scope)] } });
        for (const watch of state.protections.watches.values())
          if (watch.subject !== 'wader') watch.fired = { since: 1_000, n: 1, reason: 'two losses' };
        for (const trading of TRADING_STATES) {
          for (const own of TRADING_STATES) {
            for (const flattening of [[], ['diver'], ['diver', 'wader']]) {
              state.trading = trading;
              state.strategyTrading.clear();
              if (own !== 'active') state.strategyTrading.set('diver', own);
              state.flattening.clear();
              for (const name of flattening) state.flattening.add(name);
              const told = controlPort.state();
              for (const phase of PHASES) {
                for (const running of [true, false]) {
                  for (const access of ['granted', 'refused', 'silent'] as const) {
                    combinations += 1;
                    check({
                      ...told, phase, service_access: { state: access, reason: null, since: null },
                      strategies: told.strategies.map((each) => ({ ...each, running })),
                    });
                  }
                }
              }
            }
          }
        }
      }
    }
    expect(combinations).toBe(5 * 2 * 3 * 3 * 3 * 5 * 2 * 3);
  });

  it('calls a strategy that is yet to run waiting, not stopped, unless it was stopped', () => {
    const { controlPort } = controlFixture(temporaryFolder());
    const [diver, wader] = controlPort.state().strategies;
    const stopped = { code: 'STRATEGY_FAILED', reason: 'it threw', place: null, at: 1 };
    const view = { strategies: [{ ...diver!, running: false }, { ...wader!, running: false, stopped }] };
    for (const phase of ['starting', 'recovering'])
      expect(strategyStatuses({ ...view, phase })).toEqual(['waiting', 'stopped']);
    for (const phase of ['trading', 'draining', 'ended'])
      expect(strategyStatuses({ ...view, phase })).toEqual(['stopped', 'stopped']);
  });

  it('names the only strategy that sells', () => {
    const { controlPort, state } = controlFixture(temporaryFolder());
    state.flattening.add('diver');
    const told = controlPort.state();
    const [diver, wader] = told.strategies;
    const reasonsOf = (strategies: typeof told.strategies): string[] => statusReasons({ ...told, strategies });
    expect(reasonsOf([diver!])).toEqual(['diver sells what it holds: "gannet resume" ends that']);
    expect(reasonsOf([diver!, { ...wader!, flattening: true }]))
      .toEqual(['every strategy sells what it holds: "gannet resume" ends that']);
  });

  it('shows real money, the run’s profit and the last error', () => {
    const { controlPort } = controlFixture(temporaryFolder());
    const text = daemonText({
      ...controlPort.state(), real_money: true, uptime_ms: 7_500_000, at: 1_790_000_012_000,
      equity: {
        mint: 'm', value: '9', day_change: '-1', change_since_start: '2', drawdown: 0.0512, is_known: true,
        text: { value: '1012.4 USDC', today: '-1 USDC', since_start: '+2 USDC' },
      },
      last_swap: { intent_id: 'diver-7', state: 'confirmed', at: 1_790_000_000_000, text: '1 USDC → 0.0054 SOL' },
      last_error: { at: 1_790_000_000_000, message: 'diver-6 expired: it never landed' },
      dead_man: { after_ms: 86_400_000, left_ms: 3_600_000 },
    });
    expect(text.split('\n')[0]).toMatch(/^ {2}state +trading$/);
    expect(text).toMatch(/money +REAL MONEY\n/);
    expect(text).toMatch(/run +a-run, up 2h5m\n/);
    expect(text).toMatch(/equity +1012\.4 USDC\n/);
    expect(text).toMatch(/profit +-1 USDC today, \+2 USDC since the start of this run\n/);
    expect(text).toMatch(/drawdown +5\.12 % below the highest equity\n/);
    expect(text).toMatch(/last swap +diver-7 confirmed 12s ago: 1 USDC → 0\.0054 SOL\n/);
    expect(text).toMatch(/last error +2026-09-21 14:13:20 UTC: diver-6 expired: it never landed\n/);
    expect(text).toMatch(/dead man +trading stops in 1h unless/);
  });
});

describe('issue 13.26: people see no feed keys', () => {
  it('in the reason of a protection', () => {
    const { controlPort, state } =
      controlFixture(temporaryFolder(), { limits: { protections: [protectionOf('deny', 'global')] } });
    for (const watch of state.protections.watches.values()) {
      watch.fired = { since: 1_000, n: 1, reason: `quote:${USDC.mint}:${SOL.mint}:40000000 has not answered for 2m` };
    }
    expect(daemonText(controlPort.state())).toContain('the price of 40 USDC in SOL has not answered for 2m');
  });
});

describe('issue 13.24: status shows how much of the caps is used', () => {
  it('counts the signed amounts of the last hour and the last day', () => {
    const { controlPort, state } = controlFixture(temporaryFolder(), { limits: { caps: new Map(
      [[USDC.mint, { perTrade: undefined, perHour: 100_000_000n as Amount, perDay: 300_000_000n as Amount }]],
    ) } });
    state.spends.note(USDC.mint, { at: 500, amount: 25_000_000n, id: 'diver-1/1' });
    expect(controlPort.state().caps).toEqual([{
      mint: USDC.mint, hour: { used: '25000000', limit: '100000000' }, day: { used: '25000000', limit: '300000000' },
      text: 'USDC: 25 of 100 in the last hour, 25 of 300 in the last day',
    }]);
    expect(daemonText(controlPort.state())).toMatch(/caps +USDC: 25 of 100 in the last hour/);
  });
});

function check(view: Omit<SessionState, 'standing' | 'standing_reasons'>): void {
  // The daemon computes both from the same view; here the text computes them again, as for a daemon that leaves them
  // out.
  const text = daemonText({
    ...view, standing: undefined, standing_reasons: undefined,
    strategies: view.strategies.map((each) => ({ ...each, standing: undefined })),
  } as never);
  const where = JSON.stringify({
    phase: view.phase, trading: view.trading, effective: view.effective, protections: view.protections,
    strategies: view.strategies, access: view.service_access.state,
  });
  const headline = text.split('\n')[0]!;
  const standing = runStatusOf(view);
  expect(headline, where).toMatch(new RegExp(`^ {2}state +${WORDS[standing]}$`));
  const rows = [...text.matchAll(ROW)].map(([, , word]) => word!);
  expect(rows, where).toHaveLength(2);
  // Words of the engine are not for people.
  expect(text, where).not.toMatch(/\bactive\b/);
  const mayEnter = view.strategies.some((own) => own.running && own.effective === 'active'
    && !view.protections.some(({ action, scope, subject }) =>
      action === 'deny' && (scope === 'global' || subject === own.name)));
  expect(standing === 'trading', where)
    .toBe(view.phase === 'trading' && mayEnter && view.service_access.state === 'granted');
  expect(rows.includes('trading'), where).toBe(standing === 'trading');
  // What is halted sells nothing.
  if (rows.every((word) => word === 'halted'))
    expect(text.split('strategy ')[0], where).not.toContain('sells what it holds');
  if (view.phase === 'trading') {
    if (standing === 'halted')
      expect(new Set([...rows, 'halted', 'stopped']), where).toEqual(new Set(['halted', 'stopped']));
    if (standing === 'stopped') expect(new Set(rows), where).toEqual(new Set(['stopped']));
    if (standing !== 'trading') expect(text.split('\n')[1], where).toMatch(/^ {2}because +\S/);
  }
}
