import { hostile, reach, take } from './attack.ts';
import type { Act, Acts, Hands } from './attack.ts';

// Attacks on risk by what all code of a process shares: built-in objects, rxjs, zod and the project's own modules. Each
// changes something, then proposes a swap far above every limit. Its approval would show that risk no longer rules.

await reach('fs');

const TOO_MUCH = 5_000_000_000n;
type Members = Record<PropertyKey, unknown>;
type Function_ = (...given: unknown[]) => unknown;

/** Replaces functions of a built-in object from now on. */
function patch(
  owner: object, names: readonly PropertyKey[], make: (original: Function_, name: PropertyKey) => Function_,
): void {
  for (const name of names) {
    const original = (owner as Members)[name] as Function_;
    Object.defineProperty(owner, name, { value: make(original, name), configurable: true, writable: true });
  }
}

const always = (result: unknown) => (): Function_ => () => result;

/** Returns an attack that changes something, and then proposes what risk must refuse. */
function thenTooMuch(change: (hands: Hands) => unknown): Act {
  return (hands) => {
    const changed = change(hands);
    const propose = (): void => {
      const { pair } = hands;
      hands.propose({
        kind: 'swap', inputMint: pair.quote.mint, outputMint: pair.base.mint, amount: TOO_MUCH, reason: hands.name,
      });
    };
    propose();
    return changed instanceof Promise ? changed.then(() => undefined) : undefined;
  };
}

/** Empties every list and table among the exports of a module of the project. */
async function sabotaged(address: string): Promise<void> {
  const module = await import(address) as Members;
  for (const found of Object.values(module)) {
    if (Array.isArray(found)) found.length = 0;
    else if (found instanceof Map || found instanceof Set) found.clear();
  }
}

/** The attacks of this file, by name. */
export const PROTOTYPE_ATTACKS: Acts = {
  'array-search': thenTooMuch(() => {
    patch(Array.prototype, ['find', 'findLast', 'at'], always(undefined));
    patch(Array.prototype, ['some', 'includes'], always(false));
    patch(Array.prototype, ['every'], always(true));
  }),
  'array-iteration': thenTooMuch(() => {
    patch(Array.prototype, [Symbol.iterator], () => function* nothing() { /* no items */ });
  }),
  'rules-skipped': thenTooMuch(() => {
    patch(Array.prototype, [Symbol.iterator], (original) => function iterate(this: unknown[]) {
      return Reflect.apply(original, this.length > 5 && typeof this[0] === 'function' ? [] : this, []);
    });
  }),
  'swap-of-a-neighbour': () => {
    patch(Array.prototype, ['push'], (original) => function push(this: unknown, ...given: unknown[]) {
      const [input] = given as { kind?: string; strategy?: string; proposal?: { kind: string; amount?: bigint } }[];
      const { kind, strategy = '', proposal } = input ?? {};
      if (kind === 'proposal' && strategy.startsWith('neighbour') && proposal?.kind === 'swap')
        proposal.amount = 77_000_000n;
      return Reflect.apply(original, this, given);
    });
  },
  'array-lists': thenTooMuch(() => {
    patch(Array.prototype, ['map', 'filter', 'flatMap'], always([]));
    patch(Array.prototype, ['push'], always(0));
  }),
  'map-and-set': thenTooMuch(() => {
    patch(Map.prototype, ['get'], (original) => function get(this: unknown, key: unknown) {
      const found: unknown = Reflect.apply(original, this, [key]);
      return typeof found === 'bigint' ? TOO_MUCH * 1_000n : found;
    });
    patch(Set.prototype, ['has'], always(true));
  }),
  'map-values': thenTooMuch(() => {
    patch(Map.prototype, ['values', 'entries', Symbol.iterator],
      () => function* nothing() { /* no items */ });
  }),
  'iterator-helpers': thenTooMuch(() => {
    const prototype = Object.getPrototypeOf(Object.getPrototypeOf(new Map().values())) as object;
    patch(prototype, ['filter', 'map', 'toArray', 'some', 'find'], always([]));
  }),
  'object-functions': thenTooMuch(() => {
    patch(Object, ['entries', 'keys', 'values'], always([]));
    patch(Object, ['freeze'], () => (given: unknown) => given);
  }),
  'object-prototype': thenTooMuch(() => {
    const members = {
      verdict: 'approved', code: null, maxTrade: undefined, isManual: true, force: true, warming: true,
    };
    for (const [name, value] of Object.entries(members))
      Object.defineProperty(Object.prototype, name, { get: () => value, set: () => undefined, configurable: true });
  }),
  'object-prototype-to-json': thenTooMuch(() => {
    Object.defineProperty(Object.prototype, 'toJSON', { value: () => ({}), configurable: true });
  }),
  'json': thenTooMuch(() => {
    patch(JSON, ['stringify'], always('{}'));
    patch(JSON, ['parse'], always({}));
  }),
  'bigint': thenTooMuch(() => {
    patch(BigInt, ['asIntN', 'asUintN'], () => (_bits, value) => value);
    patch(BigInt.prototype, ['toString'], always('99999999999999'));
    Object.defineProperty(BigInt.prototype, 'toJSON', { value: () => '99999999999999', configurable: true });
  }),
  'numbers': thenTooMuch(() => {
    patch(Number, ['isFinite', 'isInteger', 'isSafeInteger'], always(true));
    patch(Math, ['min', 'max', 'floor', 'ceil', 'round', 'abs'], always(0));
  }),
  'text': thenTooMuch(() => {
    patch(String.prototype, ['slice', 'padStart', 'split', 'startsWith', 'includes'], always(''));
    patch(RegExp.prototype, ['exec', 'test'], always(null));
  }),
  'functions': thenTooMuch(() => {
    patch(Reflect, ['apply', 'get'], always(undefined));
    patch(Function.prototype, ['call', 'bind'], () => () => () => undefined);
  }),
  'promises': thenTooMuch(() => { patch(Promise.prototype, ['then', 'catch', 'finally'], always(undefined)); }),
  'buffers': thenTooMuch(() => {
    patch(Buffer, ['from', 'concat', 'alloc'], always(new Uint8Array(8)));
    patch(Uint8Array.prototype, ['subarray', 'set', 'fill'], always(new Uint8Array(8)));
  }),
  'errors': thenTooMuch(() => {
    Object.defineProperty(Error, 'prepareStackTrace', { value: () => { throw new Error('a stack that throws'); } });
    Object.defineProperty(Error, 'stackTraceLimit', { value: 0, writable: false });
  }),
  'class-test': thenTooMuch(() => {
    Object.defineProperty(Map, Symbol.hasInstance, { value: () => false });
    Object.defineProperty(Array, 'isArray', { value: () => true });
  }),
  'global-names': thenTooMuch(() => {
    for (const name of ['Map', 'Set', 'BigInt', 'Object', 'Array', 'Error'])
      Object.defineProperty(globalThis, name, { value: undefined, configurable: true, writable: true });
  }),
  'time-and-chance': thenTooMuch(() => {
    patch(Date, ['now'], always(0));
    patch(Math, ['random'], always(0));
    patch(performance, ['now'], always(0));
  }),
  'rxjs': thenTooMuch(async () => {
    const { Observable, Subject } = await import('rxjs');
    patch(Subject.prototype, ['next'], always(undefined));
    patch(Observable.prototype, ['subscribe'], always({ unsubscribe: () => undefined, closed: false }));
  }),
  'zod': thenTooMuch(async () => {
    const { z } = await import('zod');
    patch(z.ZodType.prototype as object, [], always({ success: true, data: {} }));
    Object.defineProperty(z, 'strictObject', { value: () => z.unknown(), configurable: true });
  }),
  'modules-of-risk': thenTooMuch(async ({ aim }) => {
    const folder = `${aim.project}/src/trading/risk`;
    const files = take('fs').readdirSync(folder).filter((name) => name.endsWith('.ts'));
    for (const name of files) await sabotaged(`${folder}/${name}`);
  }),
  'module-of-the-engine': thenTooMuch(async ({ aim }) => {
    const { Engine } = await import(`${aim.project}/src/engine/engine.ts`) as {
      readonly Engine: { prototype: object };
    };
    patch(Engine.prototype, ['accept', 'stop'], always(undefined));
  }),
};

export default hostile('hostile-prototypes', PROTOTYPE_ATTACKS);
