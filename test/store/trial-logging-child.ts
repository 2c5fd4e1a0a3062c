import { openTrialLog } from '../../src/store/trial-log.ts';

/**
 * Logs so many trials one by one, named by a prefix, and one that everybody logs; opens and closes the file for each,
 * as commands do.
 */
const [, , path, prefix, count] = process.argv;
for (let number = 0; number < Number(count); number++) {
  const log = openTrialLog(path!);
  log.record([`${prefix}-${number}`, 'shared'].map((id) =>
    ({ id, params: '{}', data: { recording: 'rec', from: 0, to: 1_000 }, sharpe: number, isFold: false })));
  log.close();
}
