import { describe, expect, it } from 'vitest';
import { alertSecrets, describeAlerts, recordAlerts } from '../../src/config/operations/alerts-config.ts';
import { configOf, issuesOf } from './load-text.ts';

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const PING = 'https://ping.example.org/0f0e0d0c-0b0a-4908-secret-of-the-check';
const SPAN = 'expected a duration of 10s to 90d such as "5m", or "off"';

describe('the section alerts', () => {
  it('watches for absence without being named, but for decisions', async () => {
    const { alerts } = await configOf(WATCH);
    expect(alerts).toEqual({
      noTickMs: 300_000, silentFeedMs: 900_000, noDecisionMs: undefined,
      nothingLanded: { intents: 10, afterMs: 3_600_000 }, slowRecoveryMs: 300_000, engineSilentMs: 120_000,
      blockedMs: 10_000, heartbeat: undefined, dailyReport: undefined,
    });
    expect(describeAlerts(alerts)).toEqual([
      'NO_TICK after 5m without an answer of any feed', 'FEED_SILENT after 15m without an answer of a feed',
      'NOTHING_LANDED where none of 10 approved swaps has landed, or of three in 1h',
      'RECOVERY_SLOW after 5m without trading', 'ENGINE_SILENT after 2m without an input of the engine',
      'LOOP_BLOCKED, MACHINE_SLEPT after 10s in which the process did not run', 'off: NO_DECISION',
    ]);
  });

  it('sets spans, heartbeat and report, and shows no address but its origin', async () => {
    const { alerts } = await configOf(`${WATCH}alerts:
  no_tick: off
  no_decision: 6h
  nothing_landed: { intents: 3, after: off }
  heartbeat: { url: "\${PING}", fail_url: "\${PING}/fail", every: 30s, method: post }
  daily_report: { at: "07:30", zone: Europe/Berlin }
`, { environment: { PING } });
    expect(alerts).toMatchObject({
      noTickMs: undefined, noDecisionMs: 21_600_000, nothingLanded: { intents: 3, afterMs: undefined },
      heartbeat: { url: PING, failUrl: `${PING}/fail`, everyMs: 30_000, method: 'post' },
      dailyReport: { at: '07:30', zone: 'Europe/Berlin' },
    });
    const shown = `${describeAlerts(alerts).join('\n')}${JSON.stringify(recordAlerts(alerts))}`;
    expect(shown).toContain('heartbeat to https://ping.example.org every 30s');
    expect(shown).toContain('daily report at 07:30 Europe/Berlin');
    expect(shown).toContain('off: NO_TICK');
    expect(shown).not.toContain('secret-of-the-check');
    expect(alertSecrets(alerts)).toContain('0f0e0d0c-0b0a-4908-secret-of-the-check');
    expect((await configOf(`${WATCH}alerts: { nothing_landed: off }`)).alerts.nothingLanded).toBeUndefined();
  });

  it.each([
    ['no_tick: 5', 'alerts.no_tick: expected text such as "5m", got 5'],
    ['no_tick: 5s', `alerts.no_tick: ${SPAN}, got "5s"`],
    ['silent_feed: soon', `alerts.silent_feed: ${SPAN}, got "soon"`],
    ['blocked: 1s', 'alerts.blocked: expected a duration of 2s to 1d such as "5m", or "off", got "1s"'],
    ['nothing_landed: { intents: 1 }', 'alerts.nothing_landed'],
    ['no_tik: 5m', 'alerts.no_tik: unknown key "no_tik" (did you mean "no_tick"?)'],
    ['heartbeat: {}', 'alerts.heartbeat'],
    ['heartbeat: { url: "ftp://example.org/secret-path" }', 'alerts.heartbeat.url: expected an http:// or https://'],
    ['heartbeat: { url: "https://example.org", fail_url: "secret-path" }', 'alerts.heartbeat.fail_url: expected an'],
    ['heartbeat: { url: "https://example.org", every: 1s }',
      'alerts.heartbeat.every: expected a duration of 10s to 1d such as "1m", got "1s"'],
    ['daily_report: { at: "8:00" }', 'alerts.daily_report.at: expected a time of day such as "08:00", got "8:00"'],
    ['daily_report: { at: "24:00" }', 'alerts.daily_report.at: expected a time of day such as "08:00", got "24:00"'],
    ['daily_report: { zone: "Mars/Olympus" }',
      'alerts.daily_report.zone: expected the name of a time zone such as "Europe/Berlin", got "Mars/Olympus"'],
  ])('is refused with its place and a remedy: %s', async (text, issue) => {
    const issues = await issuesOf(`${WATCH}alerts: { ${text} }\n`);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toContain(issue);
    expect(issues[0]).not.toContain('secret-path');
  });
});
