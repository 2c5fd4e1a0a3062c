import type { Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { AdjustWallet } from '../command.ts';
import type { ExitResult } from '../costs.ts';
import { isDenialCode } from '../denials.ts';
import type { Intent, IntentState, Outcome } from '../intent.ts';
import { isTerminal } from '../intent.ts';
import type { ProtectionMemory, SubjectMemory } from './memory.ts';
import { dayOf, subjectMemory } from './memory.ts';
import { subjectsOf } from './swap-subjects.ts';

/** Notes what became of an intent, with the result of an exit where it is known. */
export function recordOutcome(
  memory: ProtectionMemory, intent: Intent, outcome: Outcome, result: ExitResult | undefined,
): void {
  const { now: at } = memory;
  if (outcome.state === 'unknown') {
    if (memory.unknownSince.has(intent.id)) return;
    const unknown = note(memory, at);
    memory.unknownSince.set(intent.id, unknown);
    for (const { memory: subject, reach } of subjectsOf(memory, intent)) {
      subject.notedN = unknown.n;
      keepLast(subject.unknowns, unknown, reach.unknowns);
    }
    return;
  }
  // Begun anew: what was sent before is proven dead.
  const isOver = isTerminal(outcome.state);
  if (memory.unknownSince.size > 0 && (isOver || outcome.state === 'building')) memory.unknownSince.delete(intent.id);
  const isTold = isToldOf(outcome);
  if (!isOver && !isTold) return;
  const subjects = subjectsOf(memory, intent);
  if (isTold) for (const { memory: subject } of subjects) if (subject.unknowns.length > 0) subject.unknowns = [];
  if (!isOver) return;
  const noted = note(memory, at);
  const isFailure = countsAsFailure(outcome);
  const fees = outcome.fill?.feeLamports ?? outcome.feeLamports ?? (0n as Lamports);
  const day = dayOf(at);
  for (const { memory: subject, reach } of subjects) {
    subject.notedN = noted.n;
    addFees(subject, fees, day);
    if (isFailure) keepLast(subject.failures, noted, reach.failures);
    if (outcome.state !== 'confirmed') continue;
    subject.lastTrade = noted;
    if (result === undefined) continue;
    if (result.profit < 0n) subject.lastLoss = noted;
    keepLast(subject.exits, { n: noted.n, at: noted.at, cost: result.cost, profit: result.profit }, reach.exits);
  }
}

/**
 * Takes up an intent that an earlier process left open: its outcome has been unknown since it was made, for all that is
 * known.
 */
export function recordOpen(memory: ProtectionMemory, intent: Intent, state: IntentState): void {
  if (state === 'unknown' && !memory.unknownSince.has(intent.id))
    memory.unknownSince.set(intent.id, note(memory, intent.createdAt));
}

/** Notes that the chain has less than the ledger and nothing explains it, or, whatever it is taken for, more again. */
export function recordAdjustment(
  memory: ProtectionMemory, { mint, change, cause }: Pick<AdjustWallet, 'mint' | 'change' | 'cause'>,
): void {
  if (cause === 'withdrawal') return;
  const more = BigInt(change);
  const known = memory.missing.get(mint);
  const amount = (known?.amount ?? 0n) - more;
  if (amount <= 0n) {
    memory.missing.delete(mint);
    return;
  }
  subjectMemory(memory, 'token', mint);
  const { n } = known === undefined || more < 0n ? note(memory, memory.now) : known;
  memory.missing.set(mint, { n, amount });
}

/** Returns the fees of the day, however long ago the last one was paid. */
export function feesOf(subject: SubjectMemory, day: number): Lamports {
  return subject.feeDay === day ? subject.fees : (0n as Lamports);
}

/**
 * Returns whether an outcome says what became of something that was signed. A further attempt is made only where that
 * is known of the one before.
 */
function isToldOf({ state, attempt, ended }: Outcome): boolean {
  if (state === 'building') return ended !== undefined;
  return isTerminal(state) && (state !== 'abandoned' || attempt > 1);
}

/**
 * What was never signed is not a failed swap. A further attempt is given up only after one that was signed and failed.
 */
function countsAsFailure({ state, code, attempt }: Outcome): boolean {
  if (state === 'failed' || state === 'expired') return true;
  return state === 'abandoned' && attempt > 1 && !(code !== undefined && isDenialCode(code));
}

function addFees(subject: SubjectMemory, fees: Lamports, day: number): void {
  subject.fees = (feesOf(subject, day) + fees) as Lamports;
  subject.feeDay = day;
}

function note(memory: ProtectionMemory, at: Millis): { n: number; at: Millis } {
  memory.count += 1;
  return { n: memory.count, at };
}

function keepLast<T>(list: T[], item: T, most: number): void {
  if (most === 0) return;
  list.push(item);
  while (list.length > most) list.shift();
}
