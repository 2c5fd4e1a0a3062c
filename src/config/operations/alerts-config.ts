import { z } from 'zod';
import type { Millis } from '../../core/time.ts';
import { formatDuration, parseDuration } from '../../core/time.ts';
import type { PlainValue } from '../config-tree.ts';
import { isDuration } from '../schema-fields.ts';

const OFF = 'off';
const DAY_MS: Millis = 86_400_000;

/** Returns the schema of a span after which something counts as absent; "off" turns the alert off. */
const span = (standard: string, { least = 10_000, most = 90 * DAY_MS } = {}) => z.string()
  .refine((text) => text === OFF || isWithin(text, least, most), {
    message: `expected a duration of ${formatDuration(least)} to ${formatDuration(most)} such as "5m", or "off"`,
  })
  .default(standard);

function isWithin(text: string, least: Millis, most: Millis): boolean {
  return isDuration(text) && parseDuration(text) >= least && parseDuration(text) <= most;
}

/** The section "alerts": what tells that something does not happen. */
export const alertsSchema = z.strictObject({
  no_tick: span('5m').meta({
    description: 'NO_TICK: no feed at all has answered for this long beyond the shortest interval.', examples: ['5m'],
  }),
  silent_feed: span('15m').meta({
    description: 'FEED_SILENT: one feed has not answered for this long beyond its interval.', examples: ['15m'],
  }),
  no_decision: span(OFF).meta({
    description: 'NO_DECISION: no strategy has proposed a swap for this long, although one may trade. Off unless set: '
      + 'many strategies wait for days.',
    examples: ['6h'],
  }),
  nothing_landed: z.union([z.literal(OFF), z.strictObject({
    intents: z.int().min(2).max(10_000).default(10)
      .meta({ description: 'How many swaps may be approved without one that lands.' }),
    after: span('1h', { least: 60_000 }).meta({
      description: 'How long three or more swaps may be approved without one that lands.', examples: ['1h'],
    }),
  })]).prefault({}).meta({ description: 'NOTHING_LANDED: swaps are approved, but none lands.' }),
  slow_recovery: span('5m').meta({
    description: 'RECOVERY_SLOW: the run does not trade this long after its start.', examples: ['5m'],
  }),
  engine_silent: span('2m').meta({
    description: 'ENGINE_SILENT: feeds answer, but the engine has taken no input for this long.', examples: ['2m'],
  }),
  blocked: span('10s', { least: 2_000, most: DAY_MS }).meta({
    description: 'LOOP_BLOCKED and MACHINE_SLEPT: the process did not run for this long.', examples: ['10s'],
  }),
}).meta({ description: 'What tells you that something does not happen. docs/operations/alerts.md.' });
type AlertsSection = z.output<typeof alertsSchema>;

/** What tells the operator that something does not happen. An alert whose span is undefined is off. */
export interface AlertsConfig {
  readonly noTickMs: Millis | undefined;
  readonly silentFeedMs: Millis | undefined;
  readonly noDecisionMs: Millis | undefined;
  readonly nothingLanded: { readonly intents: number; readonly afterMs: Millis | undefined } | undefined;
  readonly slowRecoveryMs: Millis | undefined;
  readonly engineSilentMs: Millis | undefined;
  readonly blockedMs: Millis | undefined;
}

/** Returns the section "alerts". */
export function resolveAlerts(section: AlertsSection): AlertsConfig {
  const { nothing_landed: landed } = section;
  return {
    noTickMs: spanOf(section.no_tick), silentFeedMs: spanOf(section.silent_feed),
    noDecisionMs: spanOf(section.no_decision),
    nothingLanded: landed === OFF ? undefined : { intents: landed.intents, afterMs: spanOf(landed.after) },
    slowRecoveryMs: spanOf(section.slow_recovery), engineSilentMs: spanOf(section.engine_silent),
    blockedMs: spanOf(section.blocked),
  };
}

function spanOf(text: string): Millis | undefined {
  return text === OFF ? undefined : parseDuration(text);
}

/** Returns the section for people, one alert a line. */
export function describeAlerts(alerts: AlertsConfig): string[] {
  const { nothingLanded: landed } = alerts;
  const rows: readonly (readonly [code: string, text: string | undefined])[] = [
    ['NO_TICK', after(alerts.noTickMs, 'without an answer of any feed')],
    ['FEED_SILENT', after(alerts.silentFeedMs, 'without an answer of a feed')],
    ['NO_DECISION', after(alerts.noDecisionMs, 'without a proposal')],
    ['NOTHING_LANDED', landed === undefined ? undefined
      : `where none of ${landed.intents} approved swaps has landed`
        + (landed.afterMs === undefined ? '' : `, or of three in ${formatDuration(landed.afterMs)}`)],
    ['RECOVERY_SLOW', after(alerts.slowRecoveryMs, 'without trading')],
    ['ENGINE_SILENT', after(alerts.engineSilentMs, 'without an input of the engine')],
    ['LOOP_BLOCKED, MACHINE_SLEPT', after(alerts.blockedMs, 'in which the process did not run')],
  ];
  const off = rows.filter(([, text]) => text === undefined).map(([code]) => code);
  return [
    ...rows.flatMap(([code, text]) => (text === undefined ? [] : [`${code} ${text}`])),
    ...(off.length === 0 ? [] : [`off: ${off.join(', ')}`]),
  ];
}

function after(ms: Millis | undefined, what: string): string | undefined {
  return ms === undefined ? undefined : `after ${formatDuration(ms)} ${what}`;
}

/** Returns the section as plain data. */
export function recordAlerts(alerts: AlertsConfig): { readonly [key: string]: PlainValue } {
  const { nothingLanded: landed } = alerts;
  return {
    no_tick_ms: alerts.noTickMs ?? null, silent_feed_ms: alerts.silentFeedMs ?? null,
    no_decision_ms: alerts.noDecisionMs ?? null,
    nothing_landed: landed === undefined ? null : { intents: landed.intents, after_ms: landed.afterMs ?? null },
    slow_recovery_ms: alerts.slowRecoveryMs ?? null, engine_silent_ms: alerts.engineSilentMs ?? null,
    blocked_ms: alerts.blockedMs ?? null,
  };
}
