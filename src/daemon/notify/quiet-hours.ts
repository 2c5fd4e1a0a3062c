import type { QuietHours } from '../../config/notifications/channel-config.ts';
import { LEVELS } from '../../config/notifications/channel-config.ts';
import type { Millis } from '../../core/time.ts';
import type { Notification } from './notification.ts';

const MINUTE_MS: Millis = 60_000;
const DAY_MINUTES = 1_440;

/** Returns whether a message waits for the end of the quiet hours. */
export function waitsForQuietEnd(quiet: QuietHours | undefined, level: Notification['level'], now: Millis): boolean {
  if (quiet === undefined || !isQuiet(quiet, now)) return false;
  return quiet.level === 'none' || LEVELS.indexOf(level) < LEVELS.indexOf(quiet.level);
}

/** Returns whether an instant is within quiet hours, by the clocks of their zone; `from` is within, `to` is not. */
function isQuiet({ from, to, zone }: QuietHours, now: Millis): boolean {
  const minute = minuteOfDay(zone, now);
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** Returns when the present quiet hours end at the earliest; a change of the zone's clocks may end them later. */
export function quietEnd({ to, zone }: QuietHours, now: Millis): Millis {
  const left = (to - minuteOfDay(zone, now) + DAY_MINUTES) % DAY_MINUTES;
  // Not before the end by the zone's clocks: who asks again then sees whether it is over.
  return (Math.floor(now / MINUTE_MS) + Math.max(1, left)) * MINUTE_MS;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function minuteOfDay(zone: string, now: Millis): number {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-GB', {
    timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
  });
  formats.set(zone, format);
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return (parts.get('hour') ?? 0) * 60 + (parts.get('minute') ?? 0);
}
