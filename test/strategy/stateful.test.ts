import * as fc from 'fast-check';
import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StateParts } from '../../src/strategy/stateful.ts';

const STATE_MAX_CHARACTERS = 65_536;

/** Returns the text that is kept of a value under the name `it`. */
function writeState(value: unknown): string {
  const parts = new StateParts(undefined, () => undefined);
  parts.open<unknown, unknown>('it', value, (state) => state);
  return parts.take().slice('{"it":'.length, -1);
}

/** Returns the value that is restored from a text. */
function readState(text: string): unknown {
  return new StateParts(`{"it":${text}}`, () => undefined)
    .open<unknown, unknown>('it', null, (state) => state).value;
}

const parts = (kept?: unknown, told: string[] = []): StateParts =>
  new StateParts(kept === undefined ? undefined : JSON.stringify(kept), (warning) => { told.push(warning); });

const count = (state: number): number => state + 1;

describe('a state', () => {
  it('is folded, emitted with its event, and readable at any time', () => {
    const { source, shown, total } = counting(parts());
    source.next(5);
    source.next(7);
    expect(shown).toEqual([{ state: { sum: 5n, last: 5 }, event: 5 }, { state: { sum: 12n, last: 7 }, event: 7 }]);
    expect(total.value).toEqual({ sum: 12n, last: 7 });
  });

  it('is restored, bigints included', () => {
    const first = parts();
    counting(first).source.next(5);
    const second = new StateParts(first.take(), () => undefined);
    const { source, total } = counting(second);
    expect(total.value).toEqual({ sum: 5n, last: 5 });
    source.next(6);
    expect(second.take()).toBe('{"total":{"sum":{"$bigint":"11"},"last":6}}');
  });

  it('is changed when its text changes, until it is taken', () => {
    const own = parts();
    const source = new Subject<string>();
    source.pipe(own.open('last', 'a', (_state, event: string) => event)).subscribe();
    expect([own.isUsed, own.isChanged]).toEqual([true, true]);
    own.take();
    source.next('a');
    expect(own.isChanged).toBe(false);
    source.next('b');
    expect(own.isChanged).toBe(true);
  });

  it('does not change while it is held', () => {
    const own = parts({ n: 41 });
    const shown: unknown[] = [];
    const source = new Subject<string>();
    source.pipe(own.open('n', 0, count)).subscribe((folded) => shown.push(folded));
    own.hold();
    source.next('past');
    own.release();
    source.next('present');
    expect(shown).toEqual([{ state: 41, event: 'past' }, { state: 42, event: 'present' }]);
  });

  it('cannot be changed except by the reducer', () => {
    const own = parts();
    const list = own.open('list', [{ n: 1 }], (state) => state);
    expect(() => { list.value[0]!.n = 2; }).toThrow(TypeError);
    const source = new Subject<number>();
    const errors: unknown[] = [];
    source.pipe(own.open('grown', [0], (state, event: number) => {
      state.push(event);
      return state;
    })).subscribe({ error: (error: unknown) => { errors.push(error); } });
    source.next(1);
    expect(errors).toEqual([expect.any(TypeError)]);
  });

  it('keeps unopened parts, so that they return with an earlier version of the strategy', () => {
    const own = parts({ old: { a: 1 }, used: 1 });
    own.open('used', 0, count);
    expect(JSON.parse(own.take())).toEqual({ used: 1, old: { a: 1 } });
  });

  it('is refused under a used name, an invalid name, or after run has returned', () => {
    const own = parts();
    own.open('n', 0, count);
    expect(() => own.open('n', 0, count)).toThrow('two states have the name "n"');
    expect(() => own.open('N', 0, count)).toThrow('lower case');
    own.seal();
    expect(() => own.open('late', 0, count)).toThrow('asked for too late');
  });

  it('has a bound over all parts, which the error states', () => {
    const own = parts();
    own.open('half', 'x'.repeat(STATE_MAX_CHARACTERS / 2), (state) => state);
    const grown = own.open('grown', '', (_state, event: string) => event);
    const errors: Error[] = [];
    of('y'.repeat(100), 'y'.repeat(STATE_MAX_CHARACTERS / 2)).pipe(grown)
      .subscribe({ error: (error: Error) => { errors.push(error); } });
    expect(errors).toEqual([expect.objectContaining({
      message: expect.stringMatching(/the state "grown" has grown to 32770 characters: a strategy keeps at most 65536/),
    })]);
    expect(grown.value).toBe('y'.repeat(100));
  });
});

describe('a kept state that does not fit', () => {
  const schema = z.strictObject({ slot: z.int(), count: z.int() });
  const initial = { slot: 0, count: 0 };
  const keep = (state: typeof initial): typeof initial => state;

  it('stops the strategy unless misfit allows the initial state, with a warning', () => {
    expect(() => parts({ n: { slot: 1 } }).open('n', initial, keep, { schema }))
      .toThrow(/the state "n" that an earlier run kept does not fit: .*count/s);
    const told: string[] = [];
    expect(parts({ n: { slot: 1 } }, told).open('n', initial, keep, { schema, misfit: 'initial' }).value)
      .toEqual(initial);
    expect(told)
      .toEqual([expect.stringMatching(/^begins with a new state "n", for the kept one does not fit: .*count/s)]);
  });

  it('can be converted by its schema', () => {
    const reading = z.union([schema, z.strictObject({ slot: z.int() }).transform(({ slot }) => ({ slot, count: 1 }))]);
    expect(parts({ n: { slot: 7 } }).open('n', initial, keep, { schema: reading }).value)
      .toEqual({ slot: 7, count: 1 });
  });

  it.each([
    ['of another kind', { n: 5 }, 'expected it to be an object, found a number'],
    ['without a member', { n: { slot: 1 } }, 'expected count to be a number, found nothing'],
    ['with a member of another kind', { n: { slot: 1, count: '2' } }, 'expected count to be a number, found a string'],
    ['that is a list', { n: [] }, 'expected it to be an object, found an array'],
  ])('is found without a schema too: one %s', (_what, kept, fault) => {
    expect(() => parts(kept).open('n', initial, keep)).toThrow(fault);
  });

  it('is not checked where the initial state has null or no member', () => {
    expect(parts({ n: { last: [1] } }).open<{ last: readonly number[] | null }, unknown>('n', { last: null }, (state) =>
      state).value).toEqual({ last: [1] });
    expect(parts({ n: { a: 1 } }).open<Record<string, number>, unknown>('n', {}, (state) => state).value)
      .toEqual({ a: 1 });
  });

  it.each(['', '[]', '7', '{"n":'])('is told from a torn text: %j', (text) => {
    expect(() => new StateParts(text, () => undefined).open('n', 0, count)).toThrow(/expected the kept state to be/);
  });

  it('does not arise: a new state that its schema cannot read stops the strategy', () => {
    const errors: Error[] = [];
    const n = parts().open('n', 1, (_state, event: number) => event, { schema: z.int() });
    of(2, 2.5).pipe(n).subscribe({ error: (error: Error) => { errors.push(error); } });
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('the state "n" does not fit its own schema') }),
    ]);
    expect(() => parts().open('n', 1.5, (state) => state, { schema: z.int() })).toThrow('does not fit its own schema');
  });
});

describe('the text of a state', () => {
  const plain = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.constant(null), fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)), fc.bigInt(),
        fc.string({ unit: 'binary' }), fc.array(tie('value')),
        fc.dictionary(fc.string().filter((key) => key !== '$bigint'), tie('value'))),
  })).value;

  it('restores exactly the written value', () => {
    fc.assert(
      fc.property(plain, (value) => { expect(readState(writeState(value))).toEqual(value); }), { numRuns: 300 },
    );
  });

  it('is deeply frozen when it is read', () => {
    fc.assert(fc.property(plain, (value) => isFrozenThrough(readState(writeState(value)))), { numRuns: 100 });
  });

  const EXPECTED =
    'expected plain data (null, booleans, finite numbers, strings, bigints, arrays and objects of them)';
  const circle: unknown[] = [];
  circle.push(circle);
  it.each([
    [
      'a Map', { levels: new Map() },
      `it.levels: ${EXPECTED}, got a Map`,
    ],
    ['a Date', [new Date(0)], 'it[0]: expected'],
    [
      'NaN', { a: { b: Number.NaN } },
      `it.a.b: ${EXPECTED}, got the number NaN`,
    ],
    ['a function', { f: () => 1 }, 'got a function'],
    ['a toJSON', { toJSON: () => 1 }, 'got a function'],
    ['nothing at all', undefined, 'got undefined'],
    ['a hole', Array.from({ length: 2 }), 'got undefined'],
    ['what stands for a bigint', { $bigint: '7' }, 'got a member "$bigint"'],
    ['itself', circle, 'more than 64 levels'],
  ])('is refused for %s, with its place', (_what, value, message) => {
    expect(() => writeState(value)).toThrow(message);
  });

  it('leaves out members that are undefined', () => {
    expect(writeState({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('treats __proto__ as an ordinary member', () => {
    const state = readState('{"__proto__":{"a":1}}') as object;
    expect([Object.getPrototypeOf(state), Object.keys(state)]).toEqual([Object.prototype, ['__proto__']]);
    expect(writeState(state)).toBe('{"__proto__":{"a":1}}');
  });
});

function isFrozenThrough(value: unknown): boolean {
  return typeof value !== 'object' || value === null
    || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));
}

function counting(own: StateParts) {
  const source = new Subject<number>();
  const shown: unknown[] = [];
  const total = own.open('total', { sum: 0n, last: 0 }, ({ sum }, event: number) =>
    ({ sum: sum + BigInt(event), last: event }));
  source.pipe(total).subscribe((folded) => { shown.push(folded); });
  return { source, shown, total };
}
