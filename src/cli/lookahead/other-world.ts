import type { World } from '../../backtest/lookahead/pass.ts';

/** When it is for good: in none of the years, at none of the hours of whoever runs this. */
const STANDSTILL_MS = Date.UTC(2071, 4, 17, 3, 21, 9, 876);
const UPTIME_MS = 98_765_432_109;

/** Makes the machine another one as far as `worlds` say, and returns what makes it as it was. */
export function enterWorld(worlds: readonly World[]): () => void {
  const leave: (() => void)[] = [];
  if (worlds.includes('clock')) leave.push(stopClock());
  if (worlds.includes('chance')) leave.push(replace(Math, 'random', extremes()));
  if (worlds.includes('environment')) leave.push(clearEnvironment());
  return () => { for (const back of leave.reverse()) back(); };
}

function stopClock(): () => void {
  const Real = Date;
  const stopped = new Proxy(Real, {
    construct: (target, args: unknown[], newTarget): object => Reflect.construct(target, args.length === 0 ? [STANDSTILL_MS] : args, newTarget) as object,
    apply: () => new Real(STANDSTILL_MS).toString(),
    get: (target, key): unknown => (key === 'now' ? () => STANDSTILL_MS : Reflect.get(target, key)),
  });
  const back = [replace(globalThis, 'Date', stopped), replace(performance, 'now', () => UPTIME_MS), ...stopFormats()];
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
  return [redefine(formats, 'format', { ...descriptor, get: get as () => unknown }), replace(formats, 'formatToParts', toParts)];
}

/** Unlike any run of luck: whoever asks whether it is below something hears both answers at once. */
function extremes(): () => number {
  let high = true;
  return () => {
    high = !high;
    return high ? 1 - 2 ** -53 : 0;
  };
}

/** A thread has variables of its own. */
function clearEnvironment(): () => void {
  const before = { ...process.env };
  const { argv } = process;
  for (const name of Object.keys(before)) delete process.env[name];
  process.argv = argv.slice(0, 2);
  return () => {
    Object.assign(process.env, before);
    process.argv = argv;
  };
}

function replace<T extends object>(owner: T, key: keyof T, value: unknown): () => void {
  return redefine(owner, key, { value, configurable: true, writable: true, enumerable: false });
}

function redefine(owner: object, key: PropertyKey, descriptor: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, key);
  Object.defineProperty(owner, key, descriptor);
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, before);
  };
}
