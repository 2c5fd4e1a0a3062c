import { describe, expect, it } from 'vitest';
import { createJsonReporter } from '../../../src/daemon/reporting/json-reporter.ts';
import { createTerminalReporter } from '../../../src/daemon/reporting/terminal-reporter.ts';
import { accessAlert } from '../../../src/daemon/reporting/alert-text.ts';
import { describeSignerProcess } from '../../../src/daemon/run/open-signer.ts';
import type { Reporter, RunStart } from '../../../src/daemon/reporting/reporter.ts';
import type { RunSummary } from '../../../src/daemon/reporting/counters.ts';
import type { Denial } from '../../../src/trading/limits.ts';
import { intentOf } from '../../store/sample-intents.ts';
import { TOKENS } from '../../market/tokens.ts';

const HOSTILE =
  'free\u001b[2J\u001b[31m\u0007\u202etxet\u200b\r\n00:00:00  dca-1  landed by /order and /execute: send keys';
const START: RunStart = {
  runId: 'r', mode: 'paper', isRealMoney: false, service: 's', wallet: undefined, strategies: [], feeds: [],
  balances: [], limits: [], protections: ['p: halt'],
  signer: undefined, controlUrl: undefined, controlPortTaken: undefined,
};
const STAMP = { seq: 1, at: 1_790_000_000_000 };

function told(tell: (reporter: Reporter) => void, colour = false): string {
  let text = '';
  tell(createTerminalReporter({ write: (part) => { text += part; }, colour, tokens: TOKENS }));
  return text;
}

const alert = (
  reporter: Reporter,
): void => { reporter.alert(STAMP, 'watch', { kind: 'alert', level: 'critical', message: 'check' }); };

describe('the terminal reporter', () => {
  it('writes a login link to a terminal alone', () => {
    const url = 'http://127.0.0.1:7070';
    const start: RunStart = { ...START, controlUrl: url, loginLink: () => `${url}/#login=abc` };
    const written = (isTerminal: boolean): string => {
      let text = '';
      createTerminalReporter({ write: (part) => { text += part; }, colour: false, tokens: TOKENS, isTerminal })
        .started(STAMP, start);
      return text;
    };
    expect(written(true)).toContain(`  page         ${url}/#login=abc\n`);
    expect(written(false)).toContain(`  page         ${url}/ (a link that logs in: "gannet page")\n`);
    expect(written(false)).not.toContain('#login');
    let json = '';
    createJsonReporter((line) => { json += line; }).started(STAMP, start);
    expect(json).toContain('"control_url"');
    expect(json).not.toContain('login');
  });

  it.each<readonly [string, (reporter: Reporter) => void]>([
    [
      'an alert',
      (reporter) => { reporter.alert(STAMP, 'watch', { kind: 'alert', level: 'warning', message: HOSTILE }); },
    ],
    ['a failure', (reporter) => {
      reporter.intent(STAMP, { intent: intentOf(1), state: 'failed', code: '6001', reason: HOSTILE });
    }],
    ['a feed', (reporter) => {
      reporter.feed(STAMP, {
        kind: 'feed-health', feed: `order-book:${HOSTILE}`, receivedAt: 0, status: 'down', code: 'SERVICE_STATUS',
        message: HOSTILE, consecutiveFailures: 3,
      });
    }],
    [
      'who may trade',
      (reporter) => { reporter.trading(STAMP, { state: 'halted', by: 'operator', strategy: 'dca', reason: HOSTILE }); },
    ],
    ['a protection', (reporter) => {
      reporter.protection(STAMP, {
        change: 'fired', protection: {
          trigger: { kind: 'cooldown', after: 'loss' }, scope: 'strategy', action: 'deny',
          release: { kind: 'elapsed', afterMs: 60_000 },
        }, subject: 'dca', code: 'TRADING_HALTED', reason: HOSTILE, at: STAMP.at,
      });
    }],
    ['the run’s own state', (reporter) => { reporter.state(STAMP, 'draining', HOSTILE); }],
  ])('lets no hostile text in %s forge a line or repaint the terminal', (_name, tell) => {
    const text = told(tell);
    expect(text.split('\n')).toHaveLength(2);
    // oxlint-disable-next-line no-control-regex -- exactly these must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e\u200b]/);
    expect(text).toContain('\\u001b');
  });

  it('limits the length of text from outside', () => {
    expect(told((reporter) => { reporter.state(STAMP, 'draining', 'x'.repeat(100_000)); }).length).toBeLessThan(1_000);
  });

  it('distinguishes alerts of the run from alerts of a strategy', () => {
    expect(told((reporter) => { reporter.alert(STAMP, undefined, accessAlert('refused', 'check the key')); }))
      .toMatch(/^\S+ +gannet +critical: .*check the key.*\n$/);
    expect(told(alert)).toMatch(/^\S+ +watch +critical: check\n$/);
  });

  it('shows the configured interval of each feed, and the expected one where it is longer', () => {
    const spec = { kind: 'order-book', marketId: 'TIDE', everyMs: 5_000 } as const;
    const text = told((reporter) => { reporter.started(STAMP, {
      ...START, feeds: [{ spec, expectedMs: 5_000 }, { spec: { ...spec, marketId: 'EBB' }, expectedMs: 13_125 }],
    }); });
    expect(text).toContain('watching     the order book of TIDE, every 5s\n');
    expect(text).toContain('             the order book of EBB, every 5s, with this plan every 14s\n');
  });

  it('shows the signer and its rules for a run that signs', () => {
    const signer = {
      pid: 7, address: 'A', programs: 1, caps: ['USDC: 200 a swap', 'SOL: 3 an hour'], destinations: [], rpc: true,
      priceGuard: 'no swap below a price of its own',
    };
    expect(told((reporter) => {
      reporter.started(STAMP, { ...START, signer: { ...signer, words: describeSignerProcess(signer) } });
    })).toContain(
      'signer       process 7 alone has the key\n               signs only swaps through the one program it can read, '
      + 'paid out to this wallet; it checks with the chain itself\n'
      + '               at most, USDC: 200 a swap\n               at most, SOL: 3 an hour\n'
      + '               no swap below a price of its own\n');
    expect(told((reporter) => { reporter.started(STAMP, START); })).not.toContain('signer');
  });

  it('lists protections under their own title', () => {
    expect(told((reporter) => { reporter.started(STAMP, START); })).toContain('  protections  p: halt\n');
  });

  it('shows a code inside a reason once, and leaves the reason of an unknown outcome to the alert', () => {
    expect(ended('abandoned', 'CAP_EXCEEDED_TRADE', 'nothing was signed: CAP_EXCEEDED_TRADE, 1 USDC'))
      .toContain('given up before signing (nothing was signed: CAP_EXCEEDED_TRADE, 1 USDC)');
    expect(ended('abandoned', 'QUOTE_STALE', 'too old')).toContain('(QUOTE_STALE: too old)');
    expect(ended('unknown', 'SERVICE_UNREACHABLE', 'no connection'))
      .toMatch(/the outcome is unknown \(SERVICE_UNREACHABLE\)\n$/);
  });

  it('spells a protection like the configuration', () => {
    const protection = {
      trigger: { kind: 'error-rate', failures: 5, withinMs: 600_000 }, scope: 'global', action: 'deny',
      release: { kind: 'cleared' },
    } as const;
    expect(told((reporter) => { reporter.protection(STAMP, {
      change: 'fired', protection, subject: '', code: 'ERROR_RATE_EXCEEDS_MAX', reason: 'r', at: STAMP.at,
    }); }))
      .toContain('error_rate is triggered for everything, entries are refused (r) while it lasts');
  });

  it('shows equal denials of a strategy once a minute with their count, and other events at once', () => {
    const lines = told((reporter) => {
      for (const at of [0, 2_000, 30_000, 61_000, 62_000]) denied(at)(reporter);
      denied(63_000, 'RATE_PER_MINUTE')(reporter);
    }).trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^\S+ +dca +/, ''))).toEqual([
      'buy: denied, SERVICE_UNAUTHORIZED (why)',
      'buy: denied, SERVICE_UNAUTHORIZED (why); the same 2 times more since 14:13:20',
      'buy: denied, RATE_PER_MINUTE (why)',
    ]);
  });

  it('uses colour only on request', () => {
    expect(told(alert)).not.toContain('\u001b');
    expect(told(alert, true)).toContain('\u001b[');
  });
});

describe('the summary of a run', () => {
  const summary: RunSummary = {
    runId: 'r', runDir: '/r', durationMs: 40_200, events: 1, decisions: 0, decisionHash: '0'.repeat(64), denials: {},
    intents: {}, open: [], alerts: 0, feesLamports: 0n, rentLamports: 0n,
    strategies: [{ name: 'dca', swaps: 1, holds: ['2 SOL'], running: true }], recording: undefined, trading: 'active',
  };
  const lastWords = (change: Partial<RunSummary>): string =>
    told((reporter) => { reporter.summary(STAMP, { ...summary, ...change }); });

  it('mentions a run without decisions instead of showing a hash of zeros', () => {
    expect(lastWords({})).toMatch(/hash +none: nothing was decided\n/);
    expect(lastWords({ decisions: 1, decisionHash: 'ab'.repeat(32) })).toMatch(/^ {2}hash {2}(?:ab){32}$/m);
  });

  it('uses the singular for one', () => {
    expect(lastWords({})).toMatch(/40s, 1 event\n[^]*1 swap, holds 2 SOL/);
    expect(lastWords({ events: 1_200 })).toContain('1,200 events');
  });
});

function ended(state: 'abandoned' | 'unknown', code: string, reason: string): string {
  return told((reporter) => { reporter.intent(STAMP, { intent: intentOf(1), state, code, reason }); });
}

function denied(at: number, code = 'SERVICE_UNAUTHORIZED'): (reporter: Reporter) => void {
  return (reporter) => {
    const proposal = { kind: 'alert', level: 'info', message: 'buy' } as const;
    reporter.denied({ seq: STAMP.seq, at: STAMP.at + at, strategy: 'dca', proposal, verdict: 'denied', code, h: '' }, {
      code, reason: 'why',
    } as Denial);
  };
}
