import type { MachineVariant } from '../pass.ts';
import { numberOn } from './other-machines.ts';

/**
 * Instants in years that no user works in. Year, month, day, hour, minute, second and millisecond of the second one
 * have every bit that those of the first one have not.
 */
const INSTANTS = [
  Date.UTC(2071, 4, 17, 22, 21, 9, 876), Date.UTC(2024, 11, 14, 9, 42, 54, 147), Date.UTC(2036, 1, 29, 3, 32, 30, 511),
] as const;
/** The instant and the uptime of the current pass. */
let stoppedAtMs: number = INSTANTS[0];
let uptimeMs = 0;

/** Stops every clock, and returns a function that starts them again. */
export function stopClock(variant: MachineVariant): () => void {
  stoppedAtMs = INSTANTS[variant];
  uptimeMs = numberOn(variant, 37, 98_765_432_109);
  const Real = Date;
  const stopped = new Proxy(Real, {
    construct: (target, args: unknown[], newTarget): object => (
      Reflect.construct(target, args.length === 0 ? [stoppedAtMs] : args, newTarget) as object),
    apply: () => new Real(stoppedAtMs).toString(),
    get: (target, key): unknown => (key === 'now' ? () => stoppedAtMs : Reflect.get(target, key)),
  });
  const hrtime = Object.assign(() => [Math.floor(uptimeMs / 1_000), 0], {
    bigint: () => BigInt(uptimeMs) * 1_000_000n,
  });
  const restores = [
    replaceMember(globalThis, 'Date', stopped),
    replaceMember(performance, 'now', () => uptimeMs),
    replaceMember(performance, 'timeOrigin', stoppedAtMs - uptimeMs),
    replaceMember(process, 'uptime', () => uptimeMs / 1_000),
    replaceMember(process, 'hrtime', hrtime),
    ...stopFormats(), ...stopTemporal(),
  ];
  return () => { for (const restore of restores) restore(); };
}

/** A format without an argument formats the current time. */
function stopFormats(): Restore[] {
  const formats = Intl.DateTimeFormat.prototype;
  const descriptor = Object.getOwnPropertyDescriptor(formats, 'format')!;
  const get = new Proxy(Reflect.get(descriptor, 'get') as object, {
    apply: (target, self): unknown => {
      const format = Reflect.apply(target as () => Intl.DateTimeFormat['format'], self, []);
      return (at: number | Date = stoppedAtMs): string => format(at);
    },
  });
  const toParts = new Proxy(Reflect.get(formats, 'formatToParts'), {
    apply: (target, self, [at = stoppedAtMs]: unknown[]): unknown => (
      Reflect.apply(target as () => unknown, self, [at] as never)),
  });
  return [
    redefineMember(formats, 'format', { ...descriptor, get: get as () => unknown }),
    replaceMember(formats, 'formatToParts', toParts),
  ];
}

/** The time zone is another factor: without an argument, the current zone is used. */
function stopTemporal(): Restore[] {
  const known = temporal();
  if (known === undefined) return [];
  const { Now: now, Instant } = known;
  const at = (zone: unknown = now.timeZoneId()): ZonedDateTime => (
    Instant.fromEpochMilliseconds(stoppedAtMs).toZonedDateTimeISO(zone));
  return [
    replaceMember(now, 'instant', () => at('UTC').toInstant()),
    replaceMember(now, 'zonedDateTimeISO', at),
    replaceMember(now, 'plainDateTimeISO', (zone?: unknown) => at(zone).toPlainDateTime()),
    replaceMember(now, 'plainDateISO', (zone?: unknown) => at(zone).toPlainDate()),
    replaceMember(now, 'plainTimeISO', (zone?: unknown) => at(zone).toPlainTime()),
  ];
}

/** A time zone that no country uses, and languages. */
interface Place {
  readonly zone: string;
  /** From UTC. */
  readonly offsetMs: number;
  /** A language with other digits or another grouping of them. */
  readonly numbers: string;
  /** A language with another order of letters. */
  readonly letters: string;
  /** A language with other capitals. */
  readonly capitals: string;
}

/** The offset of the second one, in minutes, has every bit that the first one's has not. */
const PLACES = [
  { zone: '-10:23', offsetMs: -623 * 60_000, numbers: 'ar-EG', letters: 'lt', capitals: 'tr' },
  { zone: '+10:22', offsetMs: 622 * 60_000, numbers: 'bn', letters: 'sv', capitals: 'lt' },
  { zone: '+06:40', offsetMs: 400 * 60_000, numbers: 'de-CH', letters: 'da', capitals: 'el' },
] as const satisfies readonly Place[];
/** The place of the current pass. */
let place: Place = PLACES[0];

const DATE_PARTS = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'] as const;
/** A text that names its time zone, or a date alone, which is in UTC. */
const HAS_ZONE = /(?:Z|GMT|UTC|[+-]\d{2}:?\d{2})\s*(?:\(.*\))?$|^[+-]?\d{4,6}(?:-\d{2}){0,2}$/i;
/** A text to which a zone is appended without a space. */
const DATE_AND_TIME = /^[+-]?\d{4,6}-\d{2}-\d{2}T/;

/** Moves dates to another time zone wherever they depend on the machine's; returns a function that restores them. */
function perturbTimeZone(): Restore {
  // Not the global Date, which a stopped clock may have replaced.
  const RealDate = Date.prototype.constructor as DateConstructor;
  const { prototype } = RealDate;
  const Given = Date;
  const parse = (text: string): number => {
    const at = RealDate.parse(text);
    if (Number.isNaN(at) || HAS_ZONE.test(text.trim())) return at;
    return RealDate.parse(DATE_AND_TIME.test(text.trim()) ? `${text.trim()}Z` : `${text} UTC`) - place.offsetMs;
  };
  const shifted = (date: Date): Date => new RealDate(date.getTime() + place.offsetMs);
  const zoned = new Proxy(Given, {
    construct: (target, args: unknown[], newTarget): object => (
      Reflect.construct(target, constructorArgs(args, parse), newTarget) as object),
    apply: () => new Given().toString(),
    get: (target, key): unknown => (key === 'parse' ? parse : Reflect.get(target, key)),
  });
  const restores = [
    replaceMember(globalThis, 'Date', zoned),
    replaceMember(prototype, 'getTimezoneOffset', () => -place.offsetMs / 60_000),
  ];
  const method = (name: string, value: (this: Date, ...args: number[]) => unknown): void => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    restores.push(redefineMember(prototype, name, { ...descriptor, value }));
  };
  for (const part of DATE_PARTS) {
    const get = prototype[`getUTC${part}`];
    method(`get${part}`, function getZonedPart() { return get.call(shifted(this)); });
    if (part === 'Day') continue;
    const set = prototype[`setUTC${part}`];
    method(`set${part}`, function setZonedPart(...args) {
      return this.setTime(Number(Reflect.apply(set, shifted(this), args)) - place.offsetMs);
    });
  }
  // toUTCString returns "Sun, 17 May 2071 03:21:09 GMT".
  const words = (date: Date): string[] => shifted(date).toUTCString().split(/,? /);
  const dateText = (date: Date): string => {
    const [week, day, month, year] = words(date);
    return `${week} ${month} ${day} ${year}`;
  };
  const timeText = (date: Date): string => `${words(date)[4]} GMT${place.zone.replace(':', '')} (GMT${place.zone})`;
  method('toDateString', function toDateString() { return dateText(this); });
  method('toTimeString', function toTimeString() { return timeText(this); });
  method('toString', function toString() {
    return Number.isNaN(this.getTime()) ? 'Invalid Date' : `${dateText(this)} ${timeText(this)}`;
  });
  return () => { for (const restore of restores.reverse()) restore(); };
}

function constructorArgs(args: readonly unknown[], parse: (text: string) => number): readonly unknown[] {
  const [first] = args;
  if (args.length === 1) return typeof first === 'string' ? [parse(first)] : args;
  return args.length === 0 ? args : [Date.UTC(...args.map(Number) as [number, number]) - place.offsetMs];
}

const FORMATS = [
  'Collator', 'DateTimeFormat', 'DurationFormat', 'ListFormat', 'NumberFormat', 'PluralRules', 'RelativeTimeFormat',
  'Segmenter',
] as const;

type Call = (...args: unknown[]) => unknown;
type ReplaceArgs = (args: readonly unknown[]) => readonly unknown[];

/**
 * Changes time zone and language wherever code depends on the machine's, and returns a function that restores them.
 * Code that names a zone or a language keeps it.
 */
export function perturbLocale(variant: MachineVariant): Restore {
  place = PLACES[variant];
  const restores = [
    perturbTimeZone(), ...perturbFormats(), ...perturbTexts(), ...perturbNavigator(), ...perturbTemporal(),
    ...['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'].map((name) => (
      wrapped(Date.prototype, name, withZone))),
  ];
  return () => { for (const restore of restores.reverse()) restore(); };
}

function perturbFormats(): Restore[] {
  return FORMATS.flatMap((name) => {
    const original: unknown = Reflect.get(Intl, name);
    if (typeof original !== 'function') return [];
    const language = name === 'Collator' ? place.letters : place.numbers;
    const replaced: ReplaceArgs = name === 'DateTimeFormat' ? withZone : (args) => withLocale(args, language);
    return replaceMember(Intl as unknown as Record<string, unknown>, name, new Proxy(original, {
      construct: (target, args: unknown[], newTarget): object => (
        Reflect.construct(target, replaced(args), newTarget) as object),
      apply: (target, self, args: unknown[]): unknown => Reflect.apply(target, self, replaced(args)),
    }));
  });
}

function perturbTexts(): Restore[] {
  return [
    wrapped(String.prototype, 'localeCompare', ([other, locale = place.letters, ...options]) => (
      [other, locale, ...options])),
    ...['toLocaleUpperCase', 'toLocaleLowerCase'].map((name) => (
      wrapped(String.prototype, name, (args) => withLocale(args, place.capitals)))),
    ...[Number.prototype, BigInt.prototype].map((owner) => (
      wrapped(owner, 'toLocaleString', (args) => withLocale(args, place.numbers)))),
  ];
}

function perturbNavigator(): Restore[] {
  const prototype = Object.getPrototypeOf(navigator) as object;
  return [
    redefineMember(prototype, 'language', { configurable: true, get: () => place.numbers }),
    redefineMember(prototype, 'languages', { configurable: true, get: () => [place.numbers] }),
  ];
}

function perturbTemporal(): Restore[] {
  const known = temporal();
  if (known === undefined) return [];
  const restores = ['zonedDateTimeISO', 'plainDateTimeISO', 'plainDateISO', 'plainTimeISO'].map((name) => (
    wrapped(known.Now, name, ([zone = place.zone]) => [zone])));
  restores.push(replaceMember(known.Now, 'timeZoneId', () => place.zone));
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(known))) {
    const prototype: unknown = typeof value === 'function' ? Reflect.get(value, 'prototype') : undefined;
    if (typeof prototype !== 'object' || prototype === null) continue;
    const replaced: ReplaceArgs = name === 'Instant' ? withZone : (args) => withLocale(args, place.numbers);
    restores.push(wrapped(prototype, 'toLocaleString', replaced));
  }
  return restores;
}

function wrapped(owner: object, name: string, replaced: ReplaceArgs): Restore {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name);
  if (descriptor === undefined) return () => undefined;
  const value = new Proxy(descriptor.value as Call, {
    apply: (target, self, args: unknown[]): unknown => Reflect.apply(target, self, replaced(args)),
  });
  return redefineMember(owner, name, { ...descriptor, value });
}

function withLocale([locale, ...rest]: readonly unknown[], language: string): unknown[] {
  return [locale ?? language, ...rest];
}

function withZone([locale, options, ...rest]: readonly unknown[]): unknown[] {
  const { timeZone = place.zone, ...other } = (options ?? {}) as Readonly<Record<string, unknown>>;
  return [locale ?? place.numbers, { ...other, timeZone }, ...rest];
}

/** The replaced part of `Temporal`: this version of Node has it, the types of the language do not. */
interface TemporalGlobal {
  readonly Now: TemporalNow;
  readonly Instant: { fromEpochMilliseconds(at: number): { toZonedDateTimeISO(zone: unknown): ZonedDateTime } };
  readonly [name: string]: unknown;
}

interface TemporalNow {
  readonly timeZoneId: () => string;
  readonly instant: () => unknown;
  readonly zonedDateTimeISO: (zone?: unknown) => unknown;
  readonly plainDateTimeISO: (zone?: unknown) => unknown;
  readonly plainDateISO: (zone?: unknown) => unknown;
  readonly plainTimeISO: (zone?: unknown) => unknown;
}

interface ZonedDateTime {
  toInstant(): unknown;
  toPlainDateTime(): unknown;
  toPlainDate(): unknown;
  toPlainTime(): unknown;
}

function temporal(): TemporalGlobal | undefined {
  return Reflect.get(globalThis, 'Temporal') as TemporalGlobal | undefined;
}

/** Undoes a replacement. */
type Restore = () => void;

/** Replaces the value of a member, and returns a function that restores it. */
export function replaceMember<T extends object>(owner: T, key: keyof T, value: unknown): Restore {
  return redefineMember(owner, key, { value, configurable: true, writable: true, enumerable: false });
}

/** Redefines a member, and returns a function that restores it. */
export function redefineMember(owner: object, key: PropertyKey, descriptor: PropertyDescriptor): Restore {
  const before = Object.getOwnPropertyDescriptor(owner, key);
  Object.defineProperty(owner, key, descriptor);
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, before);
  };
}
