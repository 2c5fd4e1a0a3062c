import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { EngineState } from '../engine-state.ts';
import { condition } from './conditions.ts';
import { updateEquity } from './equity.ts';
import type { Fired, ProtectionChange, ProtectionMemory, Watch } from './memory.ts';
import { ALL, CHECK_EVERY_MS, dayOf, isIgnored, isLater } from './memory.ts';
import { feesOf } from './record-outcome.ts';

/** Releases and triggers protections. Time that goes back counts as standing still. */
export function checkProtections(state: EngineState, at: Millis): void {
  if (!beginCheck(state, at)) return;
  for (const watch of state.protections.watches.values()) if (mayChange(watch)) checkWatch(state, watch);
  endCheck(state);
}

/**
 * Returns whether a watch may change. A watch of swaps changes only with an event of its subject: time alone removes
 * events, and cannot trigger it. With many strategies, most events are of other subjects.
 */
function mayChange(watch: Watch): boolean {
  if (!watch.rule.isOfSwaps || watch.fired !== undefined) return true;
  const { notedN } = watch.memory;
  if (watch.checkedN === notedN) return false;
  watch.checkedN = notedN;
  return true;
}

/** Does the same where no swap closed since the last check: watches that only swaps trigger are skipped. */
export function checkOnMarketEvent(state: EngineState, at: Millis): void {
  const memory = state.protections;
  if (memory.isCurrent && at <= memory.now) return;
  if (!beginCheck(state, at)) return;
  const { on, timely, watches } = memory;
  if (on > 0) for (const watch of watches.values()) if (watch.fired !== undefined) checkWatch(state, watch);
  const noneUnknown = memory.unknownSince.size === 0;
  for (let i = 0; i < timely.length; i++) {
    const watch = timely[i]!;
    if (watch.fired === undefined && !(noneUnknown && watch.rule.isOfUnknown)) checkWatch(state, watch);
  }
  endCheck(state);
  // A triggered protection may be released by the next check.
  memory.isCurrent = memory.on === 0;
}

/** Releases protections that wait for an operator: all, or those of one strategy. */
export function releaseByOperator(state: EngineState, strategy: string | undefined, reason: string): void {
  for (const watch of state.protections.watches.values()) {
    const { protection: { scope, release: { kind } } } = watch.rule;
    if (watch.fired === undefined || kind !== 'operator') continue;
    if (strategy === undefined || (scope === 'strategy' && watch.subject === strategy))
      release(state, watch, `an operator resumed: ${reason}`);
  }
}

/** Returns the triggers and releases since the last call, in order. */
export function takeChanges(memory: ProtectionMemory): readonly ProtectionChange[] {
  const { changes } = memory;
  memory.changes = [];
  return changes;
}

/** Advances the time of protections, which never goes back. */
export function advanceTime(memory: ProtectionMemory, at: Millis): void {
  if (at > memory.now) memory.now = at;
}

function beginCheck(state: EngineState, at: Millis): boolean {
  const memory = state.protections;
  advanceTime(memory, at);
  if (memory.rules.length === 0) return false;
  memory.startedAt ??= memory.now;
  memory.presenceAt ??= memory.now;
  if (memory.watchesEquity) updateEquity(state, memory.now);
  return true;
}

function endCheck(state: EngineState): void {
  const memory = state.protections;
  memory.nextCheckAt = memory.now
    + (memory.on > 0 || (memory.watchesEquity && isExposed(state)) ? CHECK_EVERY_MS : memory.idleEveryMs);
}

/** Returns whether a book holds another token than its budget's; otherwise prices do not change equity. */
function isExposed(state: EngineState): boolean {
  for (const { balances, budget } of state.portfolio.books.values()) {
    if (balances.size > 1 || (balances.size === 1 && (budget === undefined || !balances.has(budget.mint)))) return true;
  }
  return false;
}

function checkWatch(state: EngineState, watch: Watch): void {
  if (watch.fired !== undefined) {
    const reason = whyReleased(state, watch, watch.fired);
    if (reason === undefined) return;
    release(state, watch, reason);
  } else if (watch.rule.isOfDrawdown && !hasEquityChanged(state.protections, watch)) {
    return;
  }
  const reason = condition(state, watch);
  if (reason !== undefined && !isIgnored(state.protections, watch.rule)) fire(state, watch, reason);
}

/** Returns whether the equity of a drawdown changed since its last check; it cannot trigger otherwise. */
function hasEquityChanged({ equity }: ProtectionMemory, watch: Watch): boolean {
  watch.equity ??= equity.get(watch.subject === '' ? ALL : watch.subject);
  if (watch.equity?.changes === watch.checkedN) return false;
  watch.checkedN = watch.equity?.changes ?? -1;
  return true;
}

function fire(state: EngineState, watch: Watch, reason: string): void {
  const memory = state.protections;
  watch.fired = { since: memory.now, n: memory.count, reason };
  memory.on += 1;
  if (watch.rule.protection.action === 'flatten') for (const name of covered(state, watch)) state.flattening.add(name);
  memory.changes.push(changeOf(state, 'fired', watch, reason));
}

function release(state: EngineState, watch: Watch, reason: string): void {
  const memory = state.protections;
  watch.fired = undefined;
  memory.on -= 1;
  if (watch.rule.protection.release.kind !== 'cleared') resetWatch(state, watch);
  if (watch.rule.protection.action === 'flatten') stopFlattening(state, watch);
  memory.changes.push(changeOf(state, 'released', watch, reason));
}

/** Resets a watch, so that the same cause does not trigger it again; other watches keep the cause. */
function resetWatch(state: EngineState, watch: Watch): void {
  const memory = state.protections;
  watch.reset = { n: memory.count, at: memory.now };
  const { kind } = watch.rule.protection.trigger;
  if (kind === 'max-drawdown' || kind === 'daily-loss') {
    const equity = memory.equity.get(watch.subject === '' ? ALL : watch.subject);
    if (equity !== undefined) {
      equity.resetHeights.set(watch.rule, { peak: equity.value, dayStart: equity.value });
      equity.changes += 1;
    }
  }
  if (kind === 'fee-budget') {
    const day = dayOf(memory.now);
    watch.feesBefore = { day, fees: feesOf(watch.memory, day) };
  }
  if (kind === 'reconciliation-mismatch') forgetMissing(memory);
}

/** Forgets missing amounts that no watch counts any more, so that they trigger no protection configured later. */
function forgetMissing(memory: ProtectionMemory): void {
  const counting = [...memory.watches.values()]
    .filter(({ rule }) => rule.protection.trigger.kind === 'reconciliation-mismatch');
  for (const [mint, missing] of memory.missing) {
    if (!counting.some(({ subject, reset }) => (subject === '' || subject === mint) && isLater(missing, reset)))
      memory.missing.delete(mint);
  }
}

function whyReleased(state: EngineState, watch: Watch, fired: Fired): string | undefined {
  const { now } = state.protections;
  const { release: rule, trigger } = watch.rule.protection;
  switch (rule.kind) {
    case 'elapsed': {
      if (trigger.kind === 'cooldown') prolong(watch, fired);
      return now - fired.since >= rule.afterMs ? `${formatDuration(rule.afterMs)} are over` : undefined;
    }
    case 'next-day':
      return dayOf(now) > dayOf(fired.since) ? 'a new day began (UTC)' : undefined;
    case 'cleared':
      return condition(state, watch) === undefined ? 'its condition no longer holds' : undefined;
    case 'operator':
      return undefined;
  }
}

/** Restarts a pause with the latest swap. */
function prolong({ rule: { protection: { trigger } }, memory }: Watch, fired: Fired): void {
  const last = trigger.kind === 'cooldown' && trigger.after === 'loss' ? memory.lastLoss : memory.lastTrade;
  if (last === undefined || last.n <= fired.n) return;
  fired.n = last.n;
  fired.since = last.at;
}

function covered(state: EngineState, { rule, subject }: Watch): Iterable<string> {
  return rule.protection.scope === 'strategy' ? [subject] : state.strategies.keys();
}

/** Stops flattening, except where an operator or another protection ordered it too. */
function stopFlattening(state: EngineState, watch: Watch): void {
  const kept = new Set(state.flattenOrders);
  for (const other of state.protections.watches.values()) {
    if (other.fired !== undefined && other.rule.protection.action === 'flatten')
      for (const name of covered(state, other)) kept.add(name);
  }
  for (const name of covered(state, watch)) if (!kept.has(name)) state.flattening.delete(name);
}

function changeOf(
  state: EngineState, change: ProtectionChange['change'], { rule, subject }: Watch, reason: string,
): ProtectionChange {
  return { change, protection: rule.protection, subject, code: rule.code, reason, at: state.protections.now };
}
