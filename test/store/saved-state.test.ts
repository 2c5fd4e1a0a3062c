import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StrategyState } from '../../src/trading/strategy-state.ts';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';
import { intentOf, outcomeOf, SNAPSHOT } from './sample-intents.ts';

const stateOf = (text: string, ...seen: string[]): StrategyState => ({ strategy: 'dca', text, seen });

describe('what strategies keep', () => {
  it('is there with the intent it led to, or neither is', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    journal.intentApproved(intentOf(1), stateOf('{"n":1}'));
    expect(() => { journal.intentApproved(intentOf(1), stateOf('{"n":2}')); }).toThrow();
    expect(() => { journal.intentApproved(intentOf(2), stateOf('{"n":3}', 'dca-9')); })
      .toThrow('dca saw the end of dca-9, which was never approved');
    expect(temporaryJournal(path).openIntents().map(({ intent }) => intent.id)).toEqual(['dca-1']);
    expect(temporaryJournal(path).loadStrategyStates()).toEqual({ states: { dca: '{"n":1}' }, unseen: [] });
  });

  it('is saved with the snapshot and by itself, and stays for strategies that say nothing', () => {
    const journal = temporaryJournal();
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{"n":1}'), { strategy: 'other', text: '{}', seen: [] }]);
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{"n":2}')]);
    expect(journal.loadStrategyStates().states).toEqual({ dca: '{"n":2}', other: '{}' });
  });

  it('lacks the ends of intents that its strategy has not seen, in their order', () => {
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

  it('misses nothing that ended before there was anything to keep', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1));
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    journal.intentApproved(intentOf(2));
    expect(journal.loadStrategyStates().unseen).toEqual([]);
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{}')]);
    journal.transition(outcomeOf('dca-2', 'abandoned'));
    expect(journal.loadStrategyStates().unseen).toEqual([outcomeOf('dca-2', 'abandoned')]);
  });

  it('begins anew when it is told to', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1), stateOf('{}'));
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    journal.clearStrategyStates();
    expect(journal.loadStrategyStates()).toEqual({ states: {}, unseen: [] });
    journal.saveSnapshot(SNAPSHOT, [], [stateOf('{}')]);
    expect(journal.loadStrategyStates().unseen).toEqual([]);
  });
});
