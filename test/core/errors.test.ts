import { describe, expect, it } from 'vitest';
import { assert, AssertionError } from '../../src/core/assert.ts';
import { GannetError, isGannetError, messageOf } from '../../src/core/errors.ts';

describe('a fault', () => {
  it('carries code, details and cause', () => {
    const cause = new Error('socket closed');
    const error = new GannetError('SERVICE_TIMEOUT', 'no answer within 5s', { details: { attempt: 2 }, cause });
    expect(error).toMatchObject({ name: 'GannetError', code: 'SERVICE_TIMEOUT', details: { attempt: 2 }, cause });
    expect(isGannetError(error)).toBe(true);
    expect('cause' in new GannetError('USAGE', 'no')).toBe(false);
  });

  it('is recognised by its name, not by its class', () => {
    const foreign = Object.assign(new Error('x'), { name: 'GannetError', code: 'USAGE' });
    expect(isGannetError(foreign)).toBe(true);
    for (const other of [new Error('x'), { name: 'GannetError', code: 'USAGE' }, 'GannetError', null, undefined]) {
      expect(isGannetError(other)).toBe(false);
    }
  });

  it('has a message for any thrown value', () => {
    expect([new Error('a'), 'b', 3, undefined, null].map(messageOf)).toEqual(['a', 'b', '3', 'undefined', 'null']);
    const hostile = [
      Object.create(null), { toString: () => { throw new Error('no'); } },
      Object.assign(new Error('c'), { message: 7 }), Symbol('d'),
    ];
    expect(hostile.map(messageOf)).toEqual(['something without a text', 'something without a text', '7', 'Symbol(d)']);
  });
});

it('distinguishes a bug from a fault', () => {
  expect(() => { assert(0, 'never zero'); }).toThrow(AssertionError);
  expect(() => { assert('x', 'never empty'); }).not.toThrow();
});
