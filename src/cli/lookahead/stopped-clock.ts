import { redefineMember, replaceMember } from './replace-member.ts';
import type { ZonedDateTime } from './temporal.ts';
import { temporal } from './temporal.ts';

/** When it is for good: in none of the years, at none of the hours of whoever runs this. */
const STANDSTILL_MS = Date.UTC(2071, 4, 17, 3, 21, 9, 876);
const UPTIME_MS = 98_765_432_109;

/** Stops all that tells the time, and returns what lets it go on. */
export function stopClock(): () => void {
  const Real = Date;
  const stopped = new Proxy(Real, {
    construct: (target, args: unknown[], newTarget): object => Reflect.construct(target, args.length === 0 ? [STANDSTILL_MS] : args, newTarget) as object,
    apply: () => new Real(STANDSTILL_MS).toString(),
    get: (target, key): unknown => (key === 'now' ? () => STANDSTILL_MS : Reflect.get(target, key)),
  });
  const back = [
    replaceMember(globalThis, 'Date', stopped), replaceMember(performance, 'now', () => UPTIME_MS), replaceMember(performance, 'timeOrigin', STANDSTILL_MS - UPTIME_MS),
    replaceMember(process, 'uptime', () => UPTIME_MS / 1_000), replaceMember(process, 'hrtime', Object.assign(() => [Math.floor(UPTIME_MS / 1_000), 0], { bigint: () => BigInt(UPTIME_MS) * 1_000_000n })),
    ...stopFormats(), ...stopTemporal(),
  ];
  return () => { for (const undo of back) undo(); };
}

/** Without a time of its own, a format says the clock's. */
function stopFormats(): (() => void)[] {
  const formats = Intl.DateTimeFormat.prototype;
  const descriptor = Object.getOwnPropertyDescriptor(formats, 'format')!;
  const get = new Proxy(Reflect.get(descriptor, 'get') as object, {
    apply: (target, self): unknown => {
      const format = Reflect.apply(target as () => Intl.DateTimeFormat['format'], self, []);
      return (at: number | Date = STANDSTILL_MS): string => format(at);
    },
  });
  const toParts = new Proxy(Reflect.get(formats, 'formatToParts'), {
    apply: (target, self, [at = STANDSTILL_MS]: unknown[]): unknown => Reflect.apply(target as () => unknown, self, [at] as never),
  });
  return [redefineMember(formats, 'format', { ...descriptor, get: get as () => unknown }), replaceMember(formats, 'formatToParts', toParts)];
}

/** Its zone is not the clock's business: where none is named, it is asked for as it is. */
function stopTemporal(): (() => void)[] {
  const known = temporal();
  if (known === undefined) return [];
  const { Now: now, Instant } = known;
  const at = (zone: unknown = now.timeZoneId()): ZonedDateTime => Instant.fromEpochMilliseconds(STANDSTILL_MS).toZonedDateTimeISO(zone);
  return [
    replaceMember(now, 'instant', () => at('UTC').toInstant()),
    replaceMember(now, 'zonedDateTimeISO', at),
    replaceMember(now, 'plainDateTimeISO', (zone?: unknown) => at(zone).toPlainDateTime()),
    replaceMember(now, 'plainDateISO', (zone?: unknown) => at(zone).toPlainDate()),
    replaceMember(now, 'plainTimeISO', (zone?: unknown) => at(zone).toPlainTime()),
  ];
}
