import type { BacktestStrategy } from '../../backtest/setup.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { groupThousands, pluralize, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { roughDuration } from '../../core/time.ts';
import { runInterruptibly, yieldToInterrupt } from '../../recording/interrupt.ts';
import type { Proposal } from '../../trading/proposal.ts';
import { whileWorking } from '../box/phases.ts';
import type { CheckFinding, CheckName, CheckResult } from './check-codes.ts';
import type { Endurance } from './endurance.ts';
import { measureEndurance } from './endurance.ts';
import type { HistoryVerdict, Load } from './history.ts';
import { judgeHistory } from './history.ts';
import { cutsOf, restartDifference } from './restart.ts';
import type { CheckedMarket, Trace } from './trace.ts';
import { traceInChunks } from './trace.ts';
import { leftoversOf } from './unsubscribe.ts';

/** An event that takes longer is slow: a run has hundreds of feeds. */
const SLOW_MICROSECONDS = 1_000;
/** What refuses decisions outside the engine's time. */
const LATE: ErrorCode = 'STRATEGY_ASYNC';
const CUTS = 8;
const STARTS = 4;
/** The processor time of a part of a check. */
const PART_MS: Millis = 1_000;

/** The checks that need no other process: all but those of the text, and of the future. */
export async function examine(
  load: Load, market: CheckedMarket, { interrupt }: { readonly interrupt?: AbortSignal | undefined } = {},
): Promise<CheckResult[]> {
  const { seed } = market.setup;
  const instance = await load();
  const { warmupMs = 0 } = instance;
  const first = await traced(instance, market, interrupt);
  if (first instanceof GannetError) return [failedRun(first), ...without('its run failed', AFTER_RUN)];
  const run = runResult(first);
  if (run.findings.some(({ code }) => code !== 'COMPLETES')) return [run, ...without('its run failed', AFTER_RUN)];
  const second = await traced(await load(), market, interrupt);
  const cpu = measureEndurance(first, await load(), seed);
  const repetition = repetitionResult(first, second);
  const proposals = first.calls.reduce((sum, { effects }) => sum + proposalsIn(effects).length, 0);
  const [cuts, starts] = [affordable(cpu, first, CUTS), affordable(cpu, first, STARTS)];
  const leftOut = proposals === 0 ? `it proposed nothing over ${count(first.calls.length)} calls`
    : repetition.findings.length > 0 ? 'two runs differ without a restart'
      : cuts === 0 ? 'it takes too long for repeated runs' : undefined;
  return whileWorking([instance], async () => [
    run,
    repetition,
    unsubscribeResult(first),
    ...(leftOut !== undefined ? without(leftOut, ['restart', 'warm-up']) : [
      await restartResult(first, load, { seed, cuts }),
      historyResult(await judgeHistory(first, load, { seed, warmupMs, starts }), warmupMs),
    ]),
    memoryResult(cpu), costResult(cpu),
  ]);
}

const AFTER_RUN: readonly CheckName[] = ['determinism', 'unsubscribe', 'restart', 'warm-up', 'memory', 'cost'];

function without(leftOut: string, checks: readonly CheckName[]): CheckResult[] {
  return checks.map((check) => ({ check, findings: [], leftOut, detail: leftOut }));
}

/** Promises get their turn between the chunks of a trace, and after it. */
async function traced(
  instance: BacktestStrategy, market: CheckedMarket, interrupt: AbortSignal | undefined,
): Promise<Trace | GannetError> {
  try {
    const trace = await whileWorking([instance], () => runInterruptibly(traceInChunks(instance, market), interrupt));
    await yieldToInterrupt(interrupt);
    return trace;
  } catch (error) {
    // What else is refused, such as a damaged recording, is no fault of the strategy.
    if (isGannetError(error) && error.code.startsWith('STRATEGY_')) return error;
    throw error;
  }
}

function failedRun(error: GannetError): CheckResult {
  const code = error.code === LATE ? 'DECIDES_LATE' : 'THROWS';
  return result('run', 'it cannot be run', [{ code, message: error.message }]);
}

function result(check: CheckName, detail: string, findings: readonly CheckFinding[] = []): CheckResult {
  return { check, findings, detail };
}

function proposalsIn(effects: Trace['calls'][number]['effects']): Proposal[] {
  return effects.flatMap((effect) => (effect.kind === 'propose' ? [effect.proposal] : []));
}

function runResult({ calls, stops, realm }: Trace): CheckResult {
  const findings: CheckFinding[] = [];
  const last = calls.at(-1)!.call.at;
  let proposals = 0;
  for (const { call, effects } of calls) {
    proposals += proposalsIn(effects).length;
    for (const effect of effects) {
      if (effect.kind === 'fail') {
        const code = effect.code === LATE ? 'DECIDES_LATE' : 'THROWS';
        findings.push({ code, message: `${told(effect.message)} (in the call "${call.kind}")`, place: effect.place });
      } else if (effect.kind === 'complete' && call.at < last) {
        const begin = calls[0]!.call.at;
        findings.push({ code: 'COMPLETES', message: `it completed after ${roughDuration(call.at - begin)} of `
          + `${roughDuration(last - begin)}, and decides nothing since` });
      }
    }
  }
  if (findings.every(({ code }) => code === 'COMPLETES'))
    for (const message of stops) findings.push({ code: 'THROWS', message });
  const late = realm.late();
  if (late !== undefined) findings.push({ code: 'DECIDES_LATE', message: told(late) });
  return result('run', `${pluralize(calls.length, 'call')}, ${pluralize(proposals, 'proposal')}`, findings);
}

function repetitionResult(first: Trace, second: Trace | GannetError): CheckResult {
  if (!(second instanceof GannetError) && second.decisionHash === first.decisionHash)
    return result('determinism', `${pluralize(first.decisions, 'decision')}, the same in two runs`);
  const message = second instanceof GannetError ? `the second run failed: ${told(second.message)}`
    : `${differenceBetween(first, second)} in a second run over the same recording`;
  return result('determinism', 'two runs differ', [{ code: 'NOT_REPEATABLE', message }]);
}

function differenceBetween(first: Trace, second: Trace): string {
  for (const [index, { call, effects }] of first.calls.entries()) {
    const [a, b] = [proposalsIn(effects), proposalsIn(second.calls[index]?.effects ?? [])];
    const at = a.findIndex((proposal, i) => textOf(proposal) !== textOf(b[i]));
    if (at >= 0 || a.length !== b.length) {
      const place = Math.max(0, at < 0 ? Math.min(a.length, b.length) : at);
      return `at ${new Date(call.at).toISOString()} it proposed ${said(b[place])} instead of ${said(a[place])}`;
    }
  }
  return 'it was called otherwise';
}

function unsubscribeResult(trace: Trace): CheckResult {
  const { streams, watches, timers, acts } = leftoversOf(trace);
  const findings: CheckFinding[] = [];
  if (streams.length > 0)
    findings.push({ code: 'SUBSCRIPTION_LEFT', message: `it still subscribes to ${told(streams.join(', '))}` });
  if (watches > 0) findings.push({ code: 'WATCH_LEFT', message: `${pluralize(watches, 'watch')} still open` });
  if (timers > 0) findings.push({ code: 'TIMER_LEFT', message: `${pluralize(timers, 'timer')} still waiting` });
  if (acts.length > 0)
    findings.push({ code: 'ACTS_AFTER_END', message: `on an event after its end it did: ${acts.join(', ')}` });
  return result('unsubscribe', 'it holds nothing after its end', findings);
}

/** Returns how often a part of a check is done: less often for a slow strategy, 0 times where it takes too long. */
function affordable(cpu: Endurance | undefined, { calls }: Trace, most: number): number {
  const ofOneMs = ((cpu?.microseconds ?? 0) * calls.length) / 1_000;
  return Math.min(most, Math.floor(PART_MS / Math.max(1, 2 * ofOneMs)));
}

async function restartResult(
  trace: Trace, load: Load, { seed, cuts: most }: { readonly seed: number; readonly cuts: number },
): Promise<CheckResult> {
  const cuts = cutsOf(trace.calls, most);
  for (const cut of cuts) {
    // A warm-up rebuilds what is known of the market, and misleads a strategy that notes its own proposals.
    const difference = restartDifference(trace, await load(), { seed, cut, isWarmed: false });
    if (difference === undefined) continue;
    if (restartDifference(trace, await load(), { seed, cut, isWarmed: true }) === undefined) continue;
    const { cutAt, at, expected, found } = difference;
    return result('restart', 'it goes on otherwise', [{ code: 'FORGETS', message:
      `after a restart at ${iso(cutAt)}, with a warm-up or without, it proposed ${said(found)} at ${iso(at)} instead `
        + `of ${said(expected)}` }]);
  }
  return result('restart', `goes on as before after ${pluralize(cuts.length, 'restart')}`);
}

function historyResult({ compared, early, neverSame }: HistoryVerdict, warmupMs: number): CheckResult {
  if (early !== undefined) {
    const { at, startAt, proposal, enoughMs } = early;
    const given = warmupMs === 0 ? 'no history' : `the configured ${roughDuration(warmupMs)}`;
    return result('warm-up', 'a longer history changes its decisions', [{ code: 'DECIDES_EARLY', message:
      `started at ${iso(startAt)} with ${given}, it proposed ${said(proposal)} at ${iso(at)}, and not after `
        + `${roughDuration(enoughMs)} or more of history` }]);
  }
  if (compared === 0) return { check: 'warm-up', findings: [], detail: NONE, leftOut: NONE };
  return result('warm-up', neverSame ? 'what it proposes depends on its start, whatever the history'
    : `${pluralize(compared, 'proposal')} compared with those after more history`);
}

const NONE = 'it proposed nothing after the starts that were tried';

function memoryResult(cpu: Endurance | undefined): CheckResult {
  if (cpu === undefined) return without(NOT_MEASURED, ['memory'])[0]!;
  const { deliveries, bytesPerDelivery, grows } = cpu;
  if (bytesPerDelivery === undefined)
    return without(`it is too slow: ${count(deliveries)} events took all the time of this check`, ['memory'])[0]!;
  const message = `it keeps ${count(Math.round(bytesPerDelivery))} bytes more with every event, `
    + `over ${count(deliveries)} events`;
  return result('memory', grows ? 'it grows' : `does not grow over ${count(deliveries)} events`,
    grows ? [{ code: 'KEEPS_MORE', message }] : []);
}

const NOT_MEASURED = 'no event of its inputs could be repeated';

function costResult(cpu: Endurance | undefined): CheckResult {
  if (cpu === undefined) return without(NOT_MEASURED, ['cost'])[0]!;
  const figure = cpu.microseconds < 10 ? cpu.microseconds.toFixed(1) : count(Math.round(cpu.microseconds));
  const detail = `${figure} microseconds of processor time for an event`;
  return result('cost', detail, cpu.microseconds > SLOW_MICROSECONDS ? [{ code: 'SLOW', message: detail }] : []);
}

function said(proposal: Proposal | undefined): string {
  if (proposal === undefined) return 'nothing';
  return proposal.kind === 'alert' ? `the alert "${told(proposal.message, 80)}"`
    : `a swap "${told(proposal.reason, 80)}"`;
}

function textOf(proposal: Proposal | undefined): string {
  return JSON.stringify(proposal, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)) ?? '';
}

function told(text: string, most = 300): string {
  return printable(text, most);
}

function count(value: number): string {
  return groupThousands(String(value));
}

function iso(at: number): string {
  return new Date(Math.floor(at)).toISOString();
}
