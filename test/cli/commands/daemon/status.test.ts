import { describe, expect, it } from 'vitest';
import { daemonText } from '../../../../src/cli/commands/daemon/status.ts';
import type { FeedState, SessionState } from '../../../../src/daemon/control/session-state.ts';

const FEED: FeedState = {
  feed: 'order-book:TIDE', watches: 'the order book of TIDE', status: 'healthy', polls: 9, answers: 8, failures: 1,
  consecutive_failures: 0,
  last_answer_at: 1_790_000_000_000, every_ms: 5_000, weight: 1, age_ms: 3_204, mean_age_ms: 2_601, max_age_ms: 9_000,
};
const STATE: SessionState = {
  run_id: 'a-run', mode: 'paper', phase: 'trading', waits_for: [], standing: 'trading', standing_reasons: [],
  real_money: false, started_at: 1_789_999_000_000, uptime_ms: 1_000_000, equity: null, last_swap: null,
  last_error: null, last_widening: null, dead_man: null, caps: [], unsold: [], trading: 'active',
  service_access: { state: 'granted', reason: null, since: null },
  rpc_nodes: [{
    name: 'a.example', state: 'lagging', calls: { ok: 7, refused: 1, invalid: 0, unreachable: 2 }, latency_ms: 42,
    error_rate: 0.1, slots_behind: 61,
  }],
  at: 1_790_000_000_000, seq: 7, decisions: 3, decision_hash: '', strategies: [{
    name: 'tide', use: 'book-watch', running: true, stopped: null, standing: 'trading', swaps: 0, balances: {},
    holds: [], equity: null, trading: 'active', effective: 'active', trading_word: null, flattening: false,
  }],
  trading_word: null, effective: 'active', protections: [], stop_file: null, pauses: [], manual: [],
  sol_reserve: '0', deposits_lamports: '0',
  presence_wanted: false, feeds: [FEED], wallet: {}, intents: { open: [], recent: [], counts: {} }, denials: {},
};

/** As a daemon of an older version tells its state: without the one word for the whole. */
const untold = (state: object): Parameters<typeof daemonText>[0] =>
  ({ ...STATE, standing: undefined, standing_reasons: undefined, ...state }) as never;

describe('gannet status', () => {
  it('shows every feed with its age, mean age, wanted interval and state', () => {
    const text = daemonText({ ...STATE, feeds: [
      FEED,
      { ...FEED, watches: 'the statistics of SOL', answers: 0, status: 'healthy', age_ms: null, mean_age_ms: null },
    ] });
    expect(text).toContain([
      '  watched                  age  mean age  wanted every  state    answers  failures',
      '  the order book of TIDE  3.3s      2.7s            5s  healthy        8         1',
      '  the statistics of SOL                             5s  waiting        0         1',
    ].join('\n'));
  });

  it('shows every node of the chain with its state, latency and failures', () => {
    expect(daemonText(STATE))
      .toMatch(/nodes +a\.example lagging, 61 slots behind, answers in 42ms, 10 calls, 2 failed\n/);
  });

  it('shows a wait for the service when no feed is healthy', () => {
    const degraded = { ...FEED, status: 'degraded' };
    expect(daemonText(untold({ feeds: [degraded, FEED] }))).toMatch(/^ {2}state +trading\n/);
    expect(daemonText(untold({ feeds: [degraded, degraded] })))
      .toMatch(/^ {2}state +waiting for the service\n {2}because +the service gives no answers/);
  });

  it('shows since when and why the service refuses the key, with control characters escaped', () => {
    const text = daemonText(
      untold({ service_access: { state: 'refused', reason: 'check \u001b[2J\nthe key', since: 1_790_000_000_000 } }),
    );
    expect(text).toContain('the service refuses the API key since 14:13:20 UTC: check \\u001b[2J\\u000athe key\n');
  });

  it('shows who halted what, when and why, the active protection, and the swap to resolve', () => {
    const word = { by: 'operator', since: 1_790_000_000_000, reason: 'lunch\u001b[2J' } as const;
    const text = daemonText(untold({
      trading: 'reduce-only', trading_word: word, effective: 'halted', stop_file: 'no more',
      strategies: [{
        ...STATE.strategies[0]!, standing: undefined, trading: 'halted', effective: 'halted', trading_word: word,
        equity: { mint: 'm', value: '9', day_change: '-1', peak: '10', is_known: true, today: '-1 USDC' },
      }],
      protections: [{
        kind: 'daily-loss', code: 'DAILY_LOSS', scope: 'global', subject: '', action: 'halt', release: 'next-day',
        until: 1_790_035_200_000, since: 1_790_000_000_000, reason: '51 USDC lost',
      }],
      intents: { ...STATE.intents, open: [{ intent_id: 'tide-1', state: 'unknown', created_at: 1_789_999_940_000 }] },
    }));
    expect(text).toMatch(/^ {2}state +halted\n/);
    expect(text).toMatch(/exits only by the operator at 14:13:20 UTC \(lunch\\u001b\[2J\): "gannet resume" ends it\n/);
    expect(text).toMatch(/SOL +0 in the wallet, 0 of it kept for fees and exits/);
    expect(text).toMatch(/because +the file STOP is there \(no more\): remove it, then "gannet resume"/);
    expect(text).toMatch(/ +daily_loss since .*: halt until 2026-09-22 00:00:00 UTC \(51 USDC lost\)/);
    expect(text).toMatch(/open +tide-1 \(unknown, 1m old\) !! outcome unknown: gannet journal show tide-1/);
    expect(text).toMatch(/tide +book-watch +halted +0 +-1 USDC +by the operator/);
  });

  it('names a stopped strategy and the command that resumes it while the others trade', () => {
    const { strategies: [one] } = STATE;
    const strategies =
      [{ ...one!, standing: undefined, trading: 'reduce-only', effective: 'reduce-only' }, { ...one!, name: 'ebb' }];
    expect(daemonText(untold({ strategies })))
      .toMatch(/^ {2}state +trading\n {2}limited by +tide is limited to exits: "gannet resume --strategy tide"/);
    expect(daemonText(STATE)).not.toContain('because');
  });

  it('does not show an earlier command that no longer restricts a strategy', () => {
    const [one] = STATE.strategies;
    const word = { by: 'operator', since: 1_790_000_000_000, reason: '' } as const;
    const protection = {
      kind: 'cooldown', code: 'COOLDOWN_ACTIVE', scope: 'strategy', subject: 'tide', action: 'deny', release: 'elapsed',
      until: 1_790_000_030_000, since: 1_790_000_000_000, reason: 'a swap closed with a loss',
    } as const;
    const text = daemonText(
      untold({ strategies: [{ ...one!, standing: undefined, trading_word: word }], protections: [protection] }),
    );
    expect(text).toMatch(/tide +book-watch +exits only +0 *\n/);
    expect(text.match(/a swap closed with a loss/g)).toHaveLength(1);
  });

  it('omits a missing reason', () => {
    const text = daemonText(untold({
      trading: 'halted', effective: 'halted', trading_word: { by: 'operator', since: 1_790_000_000_000, reason: '' },
    }));
    expect(text).toContain('halt by the operator at 14:13:20 UTC: "gannet resume" ends it\n');
  });

  it('shows the state of an older daemon, which reports less', () => {
    const { run_id: runId, phase, mode, trading, strategies: [{ name, use, running, swaps }] } =
      { ...STATE, strategies: [STATE.strategies[0]!] as const };
    const text = daemonText({
      run_id: runId, phase, mode, trading, strategies: [{ name, use, running, swaps }],
      intents: { open: [{ intent_id: 'tide-1', state: 'submitted' }] } as never,
    });
    expect(text).toMatch(/tide +book-watch +trading +0/);
    expect(text).toContain('tide-1 (submitted)');
  });

  it('shows the state of a daemon that is still starting', () => {
    expect(daemonText({ run_id: 'a-run', phase: 'starting' })).toBe('  state  starting\n  run    a-run\n');
  });

  it('escapes control characters in the name of a market', () => {
    expect(daemonText({ ...STATE, feeds: [{ ...FEED, watches: 'the order book of \u001b[31m' }] }))
      .not.toContain('\u001b');
  });
});
