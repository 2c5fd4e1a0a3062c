import type { Millis } from '../core/time.ts';

/** The clock in which times are shown: that of UTC, or that of the device. */
export type Zone = 'utc' | 'local';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** The last instant that a date can name. */
const LAST_MS = 8.64e15;

/** Returns how far a zone's clock is ahead of UTC at a time. */
export function zoneOffset(at: Millis, zone: Zone): Millis {
  return zone === 'utc' || !isTime(at) ? 0 : -new Date(at).getTimezoneOffset() * MINUTE_MS;
}

/** Returns a time of day, "17:53:02". */
export function clockText(at: Millis, zone: Zone, hasSeconds = true): string {
  if (!isTime(at)) return '–';
  return new Date(at + zoneOffset(at, zone)).toISOString().slice(11, hasSeconds ? 19 : 16);
}

/** Returns a day, "23 Nov", with its year where asked. */
export function dayText(at: Millis, zone: Zone, hasYear = false): string {
  if (!isTime(at)) return '–';
  const date = new Date(at + zoneOffset(at, zone));
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]!}`;
  return hasYear ? `${day} ${date.getUTCFullYear()}` : day;
}

/** Returns a time with its day and its zone, "23 Nov 2026 17:53:02 UTC". */
export function momentText(at: Millis, zone: Zone): string {
  return isTime(at) ? `${dayText(at, zone, true)} ${clockText(at, zone)}${zone === 'utc' ? ' UTC' : ''}` : '–';
}

/** Returns a span for people in its largest unit: "12 s", "3 min", "5 h", "2 d". */
export function spanText(span: Millis): string {
  if (span < MINUTE_MS) return `${Math.max(0, Math.floor(span / 1_000))} s`;
  if (span < HOUR_MS) return `${Math.floor(span / MINUTE_MS)} min`;
  if (span < 2 * DAY_MS) return `${Math.floor(span / HOUR_MS)} h`;
  return `${Math.floor(span / DAY_MS)} d`;
}

/** Returns how long ago a time was: "now", "12 s ago", "3 min ago". */
export function agoText(at: Millis, now: Millis): string {
  const age = now - at;
  if (age < -1_500) return `in ${spanText(-age)}`;
  return age < 1_500 ? 'now' : `${spanText(age)} ago`;
}

function isTime(at: Millis): boolean {
  return Math.abs(at) < LAST_MS - DAY_MS;
}
