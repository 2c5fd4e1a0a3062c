import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { EngineState } from '../state.ts';
import { condition } from './conditions.ts';
import { lookAtEquity } from './equity.ts';
import type { Fired, ProtectionMemory, Watch } from './memory.ts';
import { ALL, dayOf, isLater, isLeftAlone, LOOK_EVERY_MS } from './memory.ts';
import type { ProtectionChange } from './protection-change.ts';
import { feesOf } from './record.ts';

/** Lets go what is to let go, and brings on what is to come on. For time that goes back, it stands still. */
export function lookAtProtections(state: EngineState, at: Millis): void {
  if (!beginLook(state, at)) return;
  for (const watch of state.protections.watches.values()) if (mayChange(watch)) lookWith(state, watch);
  endLook(state);
}

/**
 * With many strategies, most swaps are those of others; and what does not come on with a swap does not later either, as
 * time only takes away from what counts.
 */
function mayChange(watch: Watch): boolean {
  if (!watch.rule.isOfSwaps || watch.fired !== undefined) return true;
  const { notedN } = watch.memory;
  if (watch.lookedN === notedN) return false;
  watch.lookedN = notedN;
  return true;
}

/** Does the same where no swap of ours was closed since the last look: what only they bring on is left out. */
export function lookAtMarket(state: EngineState, at: Millis): void {
  if (!beginLook(state, at)) return;
  const { on, timely, watches } = state.protections;
  if (on > 0) for (const watch of watches.values()) if (watch.fired !== undefined) lookWith(state, watch);
  for (let i = 0; i < timely.length; i++) if (timely[i]!.fired === undefined) lookWith(state, timely[i]!);
  endLook(state);
}

/** Lets go what waits for an operator: everything, or what is of one strategy alone. */
export function releaseByOperator(state: EngineState, strategy: string | undefined, reason: string): void {
  for (const watch of state.protections.watches.values()) {
    const { protection: { scope, release: { kind } } } = watch.rule;
    if (watch.fired === undefined || kind !== 'operator') continue;
    if (strategy === undefined || (scope === 'strategy' && watch.subject === strategy))
      release(state, watch, `an operator resumed: ${reason}`);
  }
}

/** Returns what came on and let go since it was asked the last time, in order. */
export function takeChanges(memory: ProtectionMemory): readonly ProtectionChange[] {
  const { changes } = memory;
  memory.changes = [];
  return changes;
}

/** Moves the time that protections know of; it never goes back. */
export function advanceTime(memory: ProtectionMemory, at: Millis): void {
  if (at > memory.now) memory.now = at;
}

function beginLook(state: EngineState, at: Millis): boolean {
  const memory = state.protections;
  advanceTime(memory, at);
  if (memory.rules.length === 0) return false;
  memory.startedAt ??= memory.now;
  memory.presenceAt ??= memory.now;
  if (memory.watchesEquity) lookAtEquity(state, memory.now);
  return true;
}

function endLook(state: EngineState): void {
  const memory = state.protections;
  memory.nextLookAt = memory.now
    + (memory.on > 0 || (memory.watchesEquity && isExposed(state)) ? LOOK_EVERY_MS : memory.idleEveryMs);
}

/** Where all is in budgets' tokens, prices change nothing. */
function isExposed(state: EngineState): boolean {
  for (const { balances, budget } of state.portfolio.books.values()) {
    if (balances.size > 1 || (balances.size === 1 && (budget === undefined || !balances.has(budget.mint)))) return true;
  }
  return false;
}

function lookWith(state: EngineState, watch: Watch): void {
  if (watch.fired !== undefined) {
    const reason = whyReleased(state, watch, watch.fired);
    if (reason === undefined) return;
    release(state, watch, reason);
  }
  const reason = condition(state, watch);
  if (reason !== undefined && !isLeftAlone(state.protections, watch.rule)) fire(state, watch, reason);
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
  if (watch.rule.protection.release.kind !== 'cleared') beginAnew(state, watch);
  if (watch.rule.protection.action === 'flatten') stopFlattening(state, watch);
  memory.changes.push(changeOf(state, 'released', watch, reason));
}

/** What had brought it on must not bring it on again at once; for others that look at the same it stays. */
function beginAnew(state: EngineState, watch: Watch): void {
  const memory = state.protections;
  watch.reset = { n: memory.count, at: memory.now };
  const { kind } = watch.rule.protection.trigger;
  if (kind === 'max-drawdown' || kind === 'daily-loss') {
    const equity = memory.equity.get(watch.subject === '' ? ALL : watch.subject);
    equity?.anew.set(watch.rule, { peak: equity.value, dayStart: equity.value });
  }
  if (kind === 'fee-budget') {
    const day = dayOf(memory.now);
    watch.feesBefore = { day, fees: feesOf(watch.memory, day) };
  }
  if (kind === 'reconciliation-mismatch') forgetMissing(memory);
}

/** What no protection minds any more is not to bring on one that is configured later. */
function forgetMissing(memory: ProtectionMemory): void {
  const minding = [...memory.watches.values()]
    .filter(({ rule }) => rule.protection.trigger.kind === 'reconciliation-mismatch');
  for (const [mint, missing] of memory.missing) {
    if (!minding.some(({ subject, reset }) => (subject === '' || subject === mint) && isLater(missing, reset)))
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

/** A pause begins with the last swap, not with the first. */
function prolong({ rule: { protection: { trigger } }, memory }: Watch, fired: Fired): void {
  const last = trigger.kind === 'cooldown' && trigger.after === 'loss' ? memory.lastLoss : memory.lastTrade;
  if (last === undefined || last.n <= fired.n) return;
  fired.n = last.n;
  fired.since = last.at;
}

function covered(state: EngineState, { rule, subject }: Watch): Iterable<string> {
  return rule.protection.scope === 'strategy' ? [subject] : state.strategies.keys();
}

/** Unless the operator said so too, or another protection does. */
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
