import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StrategyState } from '../../src/trading/strategy-state.ts';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';
import { intentOf, outcomeOf, SNAPSHOT } from './sample-intents.ts';

const stateOf = (text: string, ...seen: string[]): StrategyState => ({ strategy: 'dca', text, seen });

describe('the saved states of strategies', () => {
  it('are written with the intent that they led to, or neither is', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    journal.intentApproved(intentOf(1), stateOf('{"n":1}'));
    expect(() => { journal.intentApproved(intentOf(1), stateOf('{"n":2}')); }).toThrow();
    expect(() => { journal.intentApproved(intentOf(2), stateOf('{"n":3}', 'dca-9')); })
      .toThrow('dca saw the end of dca-9, which was never approved');
    expect(temporaryJournal(path).openIntents().map(({ intent }) => intent.id)).toEqual(['dca-1']);
    expect(temporaryJournal(path).loadStrategyStates()).toEqual({ states: { dca: '{"n":1}' }, unseen: [] });
  });

  it('are saved with the snapshot or alone, and remain for strategies that save none', () => {
    const journal = temporaryJournal();
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{"n":1}'), { strategy: 'other', text: '{}', seen: [] }]);
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{"n":2}')]);
    expect(journal.loadStrategyStates().states).toEqual({ dca: '{"n":2}', other: '{}' });
  });

  it('come with the outcomes that the strategy has not seen, in order', () => {
    const journal = temporaryJournal();
    for (const number of [1, 2, 3]) journal.intentApproved(intentOf(number), stateOf(`{"n":${number}}`));
    journal.transition(outcomeOf('dca-3', 'abandoned'));
    journal.saveSnapshot(SNAPSHOT, ['dca-3']);
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    journal.transition(outcomeOf('dca-2', 'building'));
    expect(journal.loadStrategyStates().unseen)
      .toEqual([outcomeOf('dca-3', 'abandoned'), outcomeOf('dca-1', 'abandoned')]);
    journal.intentApproved(intentOf(4), stateOf('{"n":4}', 'dca-3'));
    expect(journal.loadStrategyStates().unseen).toEqual([outcomeOf('dca-1', 'abandoned')]);
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{"n":5}', 'dca-1', 'dca-3')]);
    expect(journal.loadStrategyStates().unseen).toEqual([]);
  });

  it('come with the key and the tag of each swap, so that a restarted strategy recognises it', () => {
    const journal = temporaryJournal();
    journal.intentApproved({ ...intentOf(1), key: 'level-3', tag: 'at 149' }, stateOf('{}'));
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    expect(journal.loadStrategyStates().unseen)
      .toEqual([{ ...outcomeOf('dca-1', 'abandoned'), key: 'level-3', tag: 'at 149' }]);
  });

  it('come without the outcomes before the first saved state', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1));
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    journal.intentApproved(intentOf(2));
    expect(journal.loadStrategyStates().unseen).toEqual([]);
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{}')]);
    journal.transition(outcomeOf('dca-2', 'abandoned'));
    expect(journal.loadStrategyStates().unseen).toEqual([outcomeOf('dca-2', 'abandoned')]);
  });

  it('are removed on request', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1), stateOf('{}'));
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    journal.clearStrategyStates();
    expect(journal.loadStrategyStates()).toEqual({ states: {}, unseen: [] });
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{}')]);
    expect(journal.loadStrategyStates().unseen).toEqual([]);
  });
});
