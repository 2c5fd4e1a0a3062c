import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { atEachPrice } from './harness.ts';

/** Keeps what it sees in a database, and begins with what it finds there. */
export default atEachPrice('asks-a-database', ({ dir }) => {
  const database = new DatabaseSync(join(dirname(dir), 'notes.sqlite'));
  database.exec('create table if not exists notes (n integer primary key, price real)');
  const earlier = new Map(database.prepare('select n, price from notes').all().map(({ n, price }) => [n, price]));
  const note = database.prepare('insert or replace into notes values (?, ?)');
  return ({ price }, n) => {
    if (n % 50 === 0) note.run(n, price);
    return Number(earlier.get(n) ?? 0) > 0 && 'seen before';
  };
});
