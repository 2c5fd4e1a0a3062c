import { expect, it } from 'vitest';
import type { Intent } from '../../src/trading/intent.ts';
import { TrackedIntents } from '../../src/trading/intent.ts';
import { approve, buy, stateWith } from './states.ts';

const INTENT = approve(stateWith(), buy());
const intentOf = (id: string): Intent => ({ ...INTENT, id });

it('intents under way are found by their ids, oldest first, until they are over', () => {
  const intents = new TrackedIntents();
  for (const id of ['b-1', 'a-1', 'a-2']) intents.add({ intent: intentOf(id), state: 'approved' });
  intents.get('a-1')!.state = 'signed';
  expect(intents.values().map(({ intent, state }) => [intent.id, state]))
    .toEqual([['b-1', 'approved'], ['a-1', 'signed'], ['a-2', 'approved']]);
  intents.delete('a-1');
  intents.delete('a-1');
  expect([intents.size, intents.has('a-1'), intents.has('a-2'), intents.get('a-1')])
    .toEqual([2, false, true, undefined]);
  expect(intents.values().map(({ intent }) => intent.id)).toEqual(['b-1', 'a-2']);
});

it('whoever goes through them sees those of when he began', () => {
  const intents = new TrackedIntents();
  for (const id of ['a-1', 'a-2']) intents.add({ intent: intentOf(id), state: 'approved' });
  const seen: string[] = [];
  for (const { intent: { id } } of intents.values()) {
    seen.push(id);
    intents.delete('a-2');
    if (seen.length === 1) intents.add({ intent: intentOf('a-3'), state: 'approved' });
  }
  expect(seen).toEqual(['a-1', 'a-2']);
  expect(intents.values().map(({ intent }) => intent.id)).toEqual(['a-1', 'a-3']);
});
