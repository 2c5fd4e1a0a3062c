import { openJournal } from '../../src/store/journal.ts';
import { attemptOf, intentOf, outcomeOf, SNAPSHOT, wallClock } from './sample-intents.ts';

/** Writes the states of intents until it is killed, and prints each write when it is on disk. */
const journal = openJournal({ path: process.argv[2]!, clock: wallClock });

function journalOne(number: number): void {
  const id = `dca-${number}`;
  const steps: readonly (readonly [string, () => void])[] = [
    ['approved', () => { journal.intentApproved(intentOf(number)); }],
    ['building', () => { journal.transition(outcomeOf(id, 'building')); }],
    ['attempt', () => { journal.attemptSigned(attemptOf(id)); }],
    ['signed', () => { journal.transition(outcomeOf(id, 'signed')); }],
    ['submitted', () => { journal.transition(outcomeOf(id, 'submitted')); }],
    ['confirmed', () => { journal.transition(outcomeOf(id, 'confirmed')); }],
    ['kept', () => { journal.saveSnapshot({ ...SNAPSHOT, intentCounts: { dca: number } }, [id]); }],
  ];
  for (const [name, step] of steps) {
    step();
    process.stdout.write(`${number} ${name}\n`);
  }
  setImmediate(journalOne, number + 1);
}
journalOne(1);
