import { randomBytes } from 'node:crypto';
import type { Clock, Millis } from '../core/time.ts';

const RUN_ID = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)-[0-9a-f]{6}$/;

/** Returns a name for a run that sorts by time: the UTC second in which it begins, and something of its own. */
export function newRunId(clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().replace(/[-:]/g, '').slice(0, 15);
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}

/** Returns the second in which a run of this name began; undefined where it is no run's name. */
export function beginningOf(runId: string): Millis | undefined {
  return RUN_ID.test(runId) ? Date.parse(runId.replace(RUN_ID, '$1-$2-$3T$4:$5:$6Z')) : undefined;
}
