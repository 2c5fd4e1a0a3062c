import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAgenda } from '../../../src/sandbox/prediction/agenda.ts';

describe('an agenda', () => {
  it('does things in the order of their slots, and those of one slot as they were put down', () => {
    fc.assert(fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 60 }), (slots) => {
      const agenda = createAgenda();
      const done: [slot: number, place: number][] = [];
      slots.forEach((slot, place) => agenda.at(slot, (due) => done.push([due, place])));
      agenda.runUntil(20);
      expect(done).toEqual(slots.map((slot, place) => [slot, place]).sort(([a, i], [b, j]) => a! - b! || i! - j!));
    }));
  });

  it('does what is put down on the way, and nothing that is not due', () => {
    const agenda = createAgenda();
    const done: number[] = [];
    const again = (slot: number): void => {
      done.push(slot);
      agenda.at(slot + 3, again);
    };
    agenda.at(0, again);
    agenda.runUntil(7);
    expect(done).toEqual([0, 3, 6]);
    agenda.runUntil(8);
    expect(done).toEqual([0, 3, 6]);
    agenda.runUntil(9);
    expect(done).toEqual([0, 3, 6, 9]);
  });
});
