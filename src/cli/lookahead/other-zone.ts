import { redefineMember, replaceMember } from './replace-member.ts';

/** A time zone in which nobody lives, as an address and as what is added to UTC. */
export const ZONE = '-10:23';
const OFFSET_MS = -(10 * 60 + 23) * 60_000;

const PARTS = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'] as const;
/** A text that says of which zone it is, or a day alone, which is of UTC. */
const SAYS_ZONE = /(?:Z|GMT|UTC|[+-]\d{2}:?\d{2})\s*(?:\(.*\))?$|^[+-]?\d{4,6}(?:-\d{2}){0,2}$/i;

/** What a zone is put behind without a space. */
const DAY_AND_TIME = /^[+-]?\d{4,6}-\d{2}-\d{2}T/;

/** Puts dates into the other zone where they go by the machine's, and returns what puts them back. */
export function enterOtherZone(): () => void {
  // Not the one that the clock may have put in its place.
  const RealDate = Date.prototype.constructor as DateConstructor;
  const { prototype } = RealDate;
  const given = Date;
  const parse = (text: string): number => {
    const at = RealDate.parse(text);
    if (Number.isNaN(at) || SAYS_ZONE.test(text.trim())) return at;
    return RealDate.parse(DAY_AND_TIME.test(text.trim()) ? `${text.trim()}Z` : `${text} UTC`) - OFFSET_MS;
  };
  const shifted = (date: Date): Date => new RealDate(date.getTime() + OFFSET_MS);
  const zoned = new Proxy(given, {
    construct: (target, args: unknown[], newTarget): object => Reflect.construct(target, momentOf(args, parse), newTarget) as object,
    apply: () => new given().toString(),
    get: (target, key): unknown => (key === 'parse' ? parse : Reflect.get(target, key)),
  });
  const back = [replaceMember(globalThis, 'Date', zoned), replaceMember(prototype, 'getTimezoneOffset', () => -OFFSET_MS / 60_000)];
  const method = (name: string, value: (this: Date, ...args: number[]) => unknown): void => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    back.push(redefineMember(prototype, name, { ...descriptor, value }));
  };
  for (const part of PARTS) {
    const get = prototype[`getUTC${part}`];
    method(`get${part}`, function zonedPart() { return get.call(shifted(this)); });
    if (part === 'Day') continue;
    const set = prototype[`setUTC${part}`];
    method(`set${part}`, function setZonedPart(...args) { return this.setTime(Number(Reflect.apply(set, shifted(this), args)) - OFFSET_MS); });
  }
  // As toUTCString has it: "Sun, 17 May 2071 03:21:09 GMT".
  const words = (date: Date): string[] => shifted(date).toUTCString().split(/,? /);
  const dateText = (date: Date): string => { const [week, day, month, year] = words(date); return `${week} ${month} ${day} ${year}`; };
  const timeText = (date: Date): string => `${words(date)[4]} GMT${ZONE.replace(':', '')} (GMT${ZONE})`;
  method('toDateString', function toDateString() { return dateText(this); });
  method('toTimeString', function toTimeString() { return timeText(this); });
  method('toString', function toString() { return Number.isNaN(this.getTime()) ? 'Invalid Date' : `${dateText(this)} ${timeText(this)}`; });
  return () => { for (const undo of back.reverse()) undo(); };
}

function momentOf(args: readonly unknown[], parse: (text: string) => number): readonly unknown[] {
  const [first] = args;
  if (args.length === 1) return typeof first === 'string' ? [parse(first)] : args;
  return args.length === 0 ? args : [Date.UTC(...args.map(Number) as [number, number]) - OFFSET_MS];
}
