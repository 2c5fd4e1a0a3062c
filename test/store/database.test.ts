import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { createTransactor } from '../../src/store/database.ts';
import { temporaryFolder } from './fixtures.ts';

it('a file that another process holds is not reported as a fault of the disk', () => {
  const path = join(temporaryFolder(), 'trials.sqlite');
  const [holder, waiting] = [new DatabaseSync(path), new DatabaseSync(path, { timeout: 0 })];
  const transactor = createTransactor(waiting, path, {
    name: 'log of trials', codes: { invalid: 'TRIALS_INVALID', failed: 'TRIALS_FAILED' },
  });
  holder.exec('BEGIN IMMEDIATE');
  const write = (): void => { transactor.commit(() => undefined); };
  expect(write).toThrow(expect.objectContaining(
    { code: 'TRIALS_FAILED', message: expect.stringMatching(/another process holds the file/) as string },
  ));
  holder.exec('ROLLBACK');
  write();
  transactor.close();
  holder.close();
});
