import type { Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { AdjustWallet } from '../engine-command.ts';
import { isDenialCode } from '../limits.ts';
import type { Intent, IntentState, Outcome } from '../intent.ts';
import { isTerminal } from '../intent.ts';
import type { ExitResult } from '../portfolio.ts';
import type { ProtectionMemory, SubjectEntry, SubjectMemory } from './memory.ts';
import { dayOf, subjectMemory } from './memory.ts';

/** Records an outcome of an intent, with the result of an exit where it is known. */
export function recordOutcome(
  memory: ProtectionMemory, intent: Intent, outcome: Outcome, result: ExitResult | undefined,
): void {
  const { now: at } = memory;
  if (outcome.state === 'unknown') {
    if (memory.unknownSince.has(intent.id)) return;
    const unknown = note(memory, at);
    memory.unknownSince.set(intent.id, unknown);
    for (const { memory: subject, lookback } of subjectsOf(memory, intent)) {
      subject.notedN = unknown.n;
      keepLast(subject.unknowns, unknown, lookback.unknowns);
    }
    return;
  }
  // A further attempt begins only after proof that the one before can never land.
  const isOver = isTerminal(outcome.state);
  if (memory.unknownSince.size > 0 && (isOver || outcome.state === 'building')) memory.unknownSince.delete(intent.id);
  const isProven = provesEnd(outcome);
  if (!isOver && !isProven) return;
  const subjects = subjectsOf(memory, intent);
  if (isProven) for (const { memory: subject } of subjects) if (subject.unknowns.length > 0) subject.unknowns = [];
  if (!isOver) return;
  const noted = note(memory, at);
  const isFailure = countsAsFailure(outcome);
  const fees = outcome.fill?.feeLamports ?? outcome.feeLamports ?? (0n as Lamports);
  const day = dayOf(at);
  for (const { memory: subject, lookback } of subjects) {
    subject.notedN = noted.n;
    addFees(subject, fees, day);
    if (isFailure) keepLast(subject.failures, noted, lookback.failures);
    if (outcome.state !== 'confirmed') continue;
    subject.lastTrade = noted;
    if (result === undefined) continue;
    if (result.profit < 0n) subject.lastLoss = noted;
    keepLast(subject.exits, { n: noted.n, at: noted.at, cost: result.cost, profit: result.profit }, lookback.exits);
  }
}

/** Records an intent that an earlier process left open: its outcome counts as unknown since the intent was created. */
export function recordOpen(memory: ProtectionMemory, intent: Intent, state: IntentState): void {
  if (state === 'unknown' && !memory.unknownSince.has(intent.id))
    memory.unknownSince.set(intent.id, note(memory, intent.createdAt));
}

/**
 * Records an unexplained difference between chain and ledger: less on the chain adds to what is missing; more reduces
 * it, whatever its cause.
 */
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

/** Returns the fees of a UTC day in lamports; 0 where the last fee is of another day. */
export function feesOf(subject: SubjectMemory, day: number): Lamports {
  return subject.feeDay === day ? subject.fees : (0n as Lamports);
}

/**
 * Returns whether an outcome proves how a signed swap ended. A further attempt begins only after such a proof for the
 * one before.
 */
function provesEnd({ state, attempt, ended }: Outcome): boolean {
  if (state === 'building') return ended !== undefined;
  return isTerminal(state) && (state !== 'abandoned' || attempt > 1);
}

/**
 * Returns whether an outcome counts as a failure. A swap that was never signed does not count; a further attempt is
 * given up only after a signed one failed.
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

/**
 * Returns the records that a swap is counted in: the one of everything, of its strategy, and of the token that it
 * trades. They are cached for each strategy and token, because composing their names for each outcome would cost more
 * than recording it.
 */
function subjectsOf(
  memory: ProtectionMemory, { strategy, purpose, inputMint, outputMint }: Intent,
): readonly SubjectEntry[] {
  const token = purpose === 'exit' ? inputMint : outputMint;
  let byToken = memory.subjectsBySwap.get(strategy);
  if (byToken === undefined) {
    byToken = new Map<Mint, readonly SubjectEntry[]>();
    memory.subjectsBySwap.set(strategy, byToken);
  }
  let subjects = byToken.get(token);
  if (subjects === undefined) {
    subjects = ([['global', ''], ['strategy', strategy], ['token', token]] as const)
      .map(([scope, name]) => ({ memory: subjectMemory(memory, scope, name), lookback: memory.lookbacks[scope] }));
    byToken.set(token, subjects);
  }
  return subjects;
}
