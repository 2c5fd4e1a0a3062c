import type { Millis } from '../../core/time.ts';
import type { Noted, ProtectionMemory, SubjectMemory, Watch } from './memory.ts';
import { dayOf } from './memory.ts';

/**
 * Takes what was noted later than an instant for noted just then, and days after its day for its day; in which order it
 * happened stays.
 */
export function capMemory(memory: ProtectionMemory, at: Millis): void {
  memory.now = Math.min(memory.now, at);
  if (memory.presenceAt !== undefined) memory.presenceAt = Math.min(memory.presenceAt, at);
  // Before the subjects: it looks at their days.
  for (const watch of memory.watches.values()) capWatch(watch, at);
  for (const subject of memory.subjects.values()) capSubject(subject, at);
  for (const record of memory.equity.values()) record.day = Math.min(record.day, dayOf(at));
  for (const [id, since] of memory.unknownSince) memory.unknownSince.set(id, capped(since, at));
}

function capWatch(watch: Watch, at: Millis): void {
  const { fired, reset, feesBefore, memory: { feeDay } } = watch;
  if (fired !== undefined) fired.since = Math.min(fired.since, at);
  if (reset !== undefined) watch.reset = capped(reset, at);
  // Of a day whose fees are not known any more it would make room for later ones.
  watch.feesBefore = feesBefore?.day === feeDay ? { ...feesBefore, day: Math.min(feeDay, dayOf(at)) } : undefined;
}

function capSubject(subject: SubjectMemory, at: Millis): void {
  subject.exits = subject.exits.map((exit) => capped(exit, at));
  subject.failures = subject.failures.map((failure) => capped(failure, at));
  subject.unknowns = subject.unknowns.map((unknown) => capped(unknown, at));
  subject.lastTrade &&= capped(subject.lastTrade, at);
  subject.lastLoss &&= capped(subject.lastLoss, at);
  subject.feeDay = Math.min(subject.feeDay, dayOf(at));
}

function capped<T extends Noted>(noted: T, at: Millis): T {
  return noted.at > at ? { ...noted, at } : noted;
}
