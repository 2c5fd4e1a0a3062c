import { enterOtherZone, ZONE } from './other-zone.ts';
import { redefineMember, replaceMember } from './replace-member.ts';
import { temporal } from './temporal.ts';

/** Other digits and another order of dates; another order of letters; other capital letters. */
const NUMBERS = 'ar-EG';
const LETTERS = 'lt';
const CAPITALS = 'tr';

type Call = (...args: unknown[]) => unknown;

/** Changes time zone and language where code goes by the machine's, and returns what makes them as they were. What is named stays what it is. */
export function enterOtherLocale(): () => void {
  const back = [enterOtherZone(), ...formats(), ...texts(), ...dates(), ...moments()];
  return () => { for (const undo of back.reverse()) undo(); };
}

function formats(): (() => void)[] {
  return (['Collator', 'DateTimeFormat', 'DurationFormat', 'ListFormat', 'NumberFormat', 'PluralRules', 'RelativeTimeFormat', 'Segmenter'] as const).flatMap((name) => {
    const original: unknown = Reflect.get(Intl, name);
    if (typeof original !== 'function') return [];
    const named = name === 'DateTimeFormat' ? withZone : (args: readonly unknown[]) => withLocale(args, name === 'Collator' ? LETTERS : NUMBERS);
    return replaceMember(Intl as unknown as Record<string, unknown>, name, new Proxy(original, {
      construct: (target, args: unknown[], newTarget): object => Reflect.construct(target, named(args), newTarget) as object,
      apply: (target, self, args: unknown[]): unknown => Reflect.apply(target, self, named(args)),
    }));
  });
}

function texts(): (() => void)[] {
  return [
    wrapped(String.prototype, 'localeCompare', ([other, locale = LETTERS, ...options]) => [other, locale, ...options]),
    ...['toLocaleUpperCase', 'toLocaleLowerCase'].map((name) => wrapped(String.prototype, name, (args) => withLocale(args, CAPITALS))),
    ...[Number.prototype, BigInt.prototype].map((owner) => wrapped(owner, 'toLocaleString', (args) => withLocale(args, NUMBERS))),
  ];
}

function dates(): (() => void)[] {
  return ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'].map((name) => wrapped(Date.prototype, name, withZone));
}

function moments(): (() => void)[] {
  const known = temporal();
  const back = [redefineMember(Object.getPrototypeOf(navigator) as object, 'language', { configurable: true, get: () => NUMBERS }), redefineMember(Object.getPrototypeOf(navigator) as object, 'languages', { configurable: true, get: () => [NUMBERS] })];
  if (known === undefined) return back;
  for (const name of ['zonedDateTimeISO', 'plainDateTimeISO', 'plainDateISO', 'plainTimeISO']) back.push(wrapped(known.Now, name, ([zone = ZONE]) => [zone]));
  back.push(replaceMember(known.Now, 'timeZoneId', () => ZONE));
  for (const [name, kind] of Object.entries(Object.getOwnPropertyDescriptors(known))) {
    const prototype: unknown = typeof kind.value === 'function' ? (kind.value as { readonly prototype?: unknown }).prototype : undefined;
    if (typeof prototype === 'object' && prototype !== null) back.push(wrapped(prototype, 'toLocaleString', name === 'Instant' ? withZone : (args) => withLocale(args, NUMBERS)));
  }
  return back;
}

function wrapped(owner: object, name: string, given: (args: readonly unknown[]) => readonly unknown[]): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name);
  if (descriptor === undefined) return () => undefined;
  const original = descriptor.value as Call;
  return redefineMember(owner, name, { ...descriptor, value: new Proxy(original, { apply: (target, self, args: unknown[]): unknown => Reflect.apply(target, self, given(args)) }) });
}

function withLocale([locale, ...rest]: readonly unknown[], ours: string): unknown[] {
  return [locale ?? ours, ...rest];
}

function withZone([locale, options, ...rest]: readonly unknown[]): unknown[] {
  const { timeZone = ZONE, ...other } = (options ?? {}) as Readonly<Record<string, unknown>>;
  return [locale ?? NUMBERS, { ...other, timeZone }, ...rest];
}
