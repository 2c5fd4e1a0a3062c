import { originOfKey } from '../../market/feed.ts';
import type { TradingState } from '../../trading/engine-command.ts';
import { describeSource } from '../reporting/trading-text.ts';
import { actionText, kindText } from '../../trading/protections/protection-text.ts';
import type { FeedState, SessionState, RunStatus, StrategyState, StrategyStatus } from './session-state.ts';
import type { PauseState, ProtectionState, StrategyTrading } from './trading-view.ts';

/** What one strategy may do, apart from the rest. `stopped`: it has ended in an error. */
type Allowed = Exclude<StrategyStatus, 'waiting'>;

/** A daemon of another version may leave out members. */
type PartialState<T> = { readonly [member in keyof T]?: T[member] | undefined };

/** The part of a daemon's state that decides its status. */
type StatusView = PartialState<Pick<SessionState, 'phase' | 'trading' | 'trading_word' | 'effective'
    | 'protections' | 'pauses' | 'stop_file' | 'service_access' | 'waits_for'>> & {
  readonly feeds?: readonly Pick<FeedState, 'feed' | 'status'>[] | undefined;
  readonly strategies?: readonly (PartialState<StrategyTrading & Pick<StrategyState, 'running' | 'stopped'>>)[]
    | undefined;
};

const BY_TRADING: Readonly<Record<TradingState, Allowed>> =
  { active: 'trading', 'reduce-only': 'exits-only', halted: 'halted' };
/** The least restricted strategy decides the status of the daemon. */
const FREEST_FIRST: readonly Allowed[] = ['trading', 'flattening', 'exits-only', 'halted', 'stopped'];

type StrategyView = NonNullable<StatusView['strategies']>[number];

/** Returns the status of each strategy, in the order of the view. */
export function strategyStatuses(view: StatusView): StrategyStatus[] {
  const whole = runStatusOf(view);
  const isHeldUp = whole === 'waiting-for-service' || view.phase !== 'trading';
  const isBefore = whole === 'starting' || whole === 'recovering';
  return (view.strategies ?? []).map((strategy) => {
    // None runs before the recovery is done, and one that was stopped then says why.
    const isYetToRun = isBefore && (strategy.stopped ?? null) === null;
    const allowed = allowedOf(isYetToRun ? { ...strategy, running: undefined } : strategy, view.protections);
    return isHeldUp && allowed === 'trading' ? 'waiting' : allowed;
  });
}

/** A halt outranks a flattening: nothing is sold while it lasts. A protection that denies entries allows exits. */
function allowedOf(
  { name, running, effective, trading = 'active', flattening }: StrategyView,
  protections: StatusView['protections'] = [],
): Allowed {
  if (running === false) return 'stopped';
  const allowed = BY_TRADING[effective ?? trading];
  if (flattening === true && allowed !== 'halted') return 'flattening';
  return allowed === 'trading' && deniesEntries(protections, name) ? 'exits-only' : allowed;
}

function deniesEntries(protections: StatusView['protections'] = [], strategy?: string): boolean {
  return protections.some(({ action, scope, subject }) =>
    action === 'deny' && (scope === 'global' || (scope === 'strategy' && subject === strategy)));
}

/** Returns the status of the daemon: never more than its least restricted strategy may do. */
export function runStatusOf(view: StatusView): RunStatus {
  const { phase = 'trading', strategies = [], protections } = view;
  if (phase !== 'trading') {
    return phase === 'recovering' || phase === 'draining' || phase === 'ended' ? phase : 'starting';
  }
  const own = strategies.length === 0 ? [allowedOf(view, protections)]
    : strategies.map((strategy) => allowedOf(strategy, protections));
  const freest = FREEST_FIRST.find((one) => own.includes(one)) ?? 'stopped';
  return freest !== 'halted' && freest !== 'stopped' && serviceFault(view) !== undefined
    ? 'waiting-for-service' : freest;
}

/** Returns why the status is not plain trading, one reason a line; empty while it is. */
export function statusReasons(view: StatusView): string[] {
  const {
    phase, trading = 'active', trading_word: change, protections = [], stop_file: stopFile, strategies = [],
  } = view;
  const service = serviceFault(view);
  const areAllFlattening = strategies.length > 1 && strategies.every(({ flattening }) => flattening === true);
  return [
    ...(phase === 'recovering' ? (view.waits_for ?? []).map((what) => `waits for ${what}`) : []),
    ...(stopFile === null || stopFile === undefined ? []
      : [`the file STOP is there${stopFile === '' ? '' : ` (${stopFile})`}: remove it, then "gannet resume"`]),
    ...(areAllFlattening ? [
      strategies.every(({ effective }) => effective === 'halted') ? 'the sale of everything waits until the halt ends'
        : 'every strategy sells what it holds: "gannet resume" ends that',
    ] : []),
    ...(trading === 'active' || (areAllFlattening && trading === 'reduce-only') ? []
      : [`${trading === 'halted' ? 'halt' : 'exits only'} by ${changeText(change)}: "gannet resume" ends it`]),
    ...protections.map(protectionText),
    ...(view.pauses ?? []).map(pausedText),
    ...strategies.flatMap((strategy) => strategyReason(strategy, trading, areAllFlattening)),
    ...(service === undefined ? [] : [service]),
  ];
}

function pausedText({ what, since, until, reason }: PauseState): string {
  return `${what} is paused since ${instantText(since)}${until === null ? '' : `, until ${instantText(until)}`} UTC`
    + `${reason === '' ? '' : ` (${reason})`}: no entries, sales go on; "gannet resume ${what}" ends it`;
}

function changeText(change: StatusView['trading_word']): string {
  if (change === null || change === undefined) return 'an earlier run';
  const reason = change.reason === '' ? '' : ` (${change.reason})`;
  return `${describeSource(change.by)} at ${clockTime(change.since)} UTC${reason}`;
}

/** Returns a triggered protection for people: since when, what it does, until when and why. */
export function protectionText({ kind, subject, action, release, until, since, reason }: ProtectionState): string {
  const end = release === 'operator' ? 'until "gannet resume"' : release === 'cleared' ? 'while it lasts'
    : `until ${instantText(until ?? 0)} UTC`;
  return `${kindText(kind)}${subject === '' ? '' : ` of ${subject}`} since ${instantText(since)}: `
    + `${actionText(action)} ${end} (${reason})`;
}

function instantText(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

function strategyReason(
  { name = '', running, stopped, trading: own = 'active', effective, flattening }: StrategyView, global: TradingState,
  areAllFlattening: boolean,
): string[] {
  if (running === false) return [stopText(name, stopped)];
  if (own === 'halted' && global !== 'halted') {
    return [`${name} is halted${flattening === true ? ', and its sale waits' : ''}: "gannet resume --strategy ${name}" `
      + 'ends it'];
  }
  if (flattening === true) {
    if (areAllFlattening) return [];
    return [effective === 'halted' ? `the sale of ${name} waits until the halt ends`
      : `${name} sells what it holds: "gannet resume" ends that`];
  }
  return own === 'active' || own === global ? []
    : [`${name} is limited to exits: "gannet resume --strategy ${name}" ends it`];
}

/** A daemon of an earlier version does not say why. */
function stopText(name: string, stopped: StrategyView['stopped']): string {
  if (stopped === null || stopped === undefined)
    return `${name} has ended: its stream is complete, so it proposes nothing more`;
  const { code, reason, place, at } = stopped;
  return `${name} was stopped at ${clockTime(at)} UTC${place === null ? '' : ` in ${place}`}: ${reason} (${code})`;
}

/** Returns why the service cannot be used now; undefined where it can. */
function serviceFault({ service_access: access, feeds = [] }: StatusView): string | undefined {
  if (access?.state === 'refused' || access?.state === 'forbidden') {
    return `the service refuses ${access.state === 'refused' ? 'the API key' : 'your region, address or key'}`
      + `${access.since === null ? '' : ` since ${clockTime(access.since)} UTC`}: ${access.reason ?? ''}`;
  }
  if (access?.state === 'silent') {
    return `the service does not answer${access.since === null ? '' : ` since ${clockTime(access.since)} UTC`}, `
      + `entries wait for it: ${access.reason ?? ''}`;
  }
  const asked = feeds.filter(({ feed }) => originOfKey(feed) === 'service');
  return asked.length > 0 && asked.every(({ status }) => status !== 'healthy')
    ? 'the service gives no answers: no feed is healthy' : undefined;
}

function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}
