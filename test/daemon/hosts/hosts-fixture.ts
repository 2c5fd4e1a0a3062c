import { join } from 'node:path';
import type { StrategyHosts } from '../../../src/daemon/hosts/host-generations.ts';
import { openHosts } from '../../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import type { Clock } from '../../../src/core/time.ts';
import type { ApartStrategy, CallResult, Ending, StrategyCall } from '../../../src/engine/host/strategy-call.ts';
import type { Command, StopStrategy } from '../../../src/trading/engine-command.ts';
import type { AlertProposal } from '../../../src/trading/proposal.ts';
import { buyingSol } from '../../market/events.ts';
import { SOL, USDC } from '../../market/tokens.ts';

const MISBEHAVING = join(import.meta.dirname, 'misbehaving.ts');
const HELD = 500_000_000n as never;
export const PORTFOLIO = {
  available: () => HELD, openIntents: () => 1, equity: () => 700_000_000n as never,
  budget: () => ({ token: USDC, amount: 600_000_000n }),
  holding: () => ({ amount: HELD, available: HELD, cost: 70_000_000n as never, value: 75_000_000n as never }),
};

/** The processes of strategies, on the machine's clock. */
export function hosts(clock: Clock = systemClock): StrategyHosts {
  return openHosts({ clock });
}

/** Loads the strategy that does a deed at its second event. */
export async function loadDeed(
  from: StrategyHosts, deed: string, name = deed, kind: 'shared' | 'per-strategy' = 'shared',
): Promise<ApartStrategy> {
  // Filling the memory takes a while on a busy machine.
  const callMs = deed === 'heap' || deed === 'buffers' ? 5_000 : 250;
  const reading = await from
    .load({ use: MISBEHAVING, file: MISBEHAVING, origin: 'project', isolation: { kind, callMs, memoryMb: 160 } })
    .read({ params: { deed, pair: 'SOL/USDC', size: '25 USDC' }, tokens: [SOL, USDC], name, seed: 7 });
  if ('ended' in reading) throw new Error(reading.ended);
  if (!reading.answer.startsWith('{"kind":"read"')) throw new Error(reading.answer);
  return reading.apart!;
}

/** Starts a strategy. */
export const begin = (strategy: ApartStrategy): CallResult =>
  call(strategy, { kind: 'start', warming: false, kept: undefined });

/** Shows an event to a strategy. */
export const show = (strategy: ApartStrategy, at: number): CallResult =>
  call(strategy, { kind: 'event', input: 0, event: buyingSol(150_000 + at, at) }, at);

type Unstamped<C = StrategyCall> = C extends StrategyCall ? Omit<C, 'at'> : never;

function call(strategy: ApartStrategy, given: Unstamped, at = 0): CallResult {
  return strategy.call({ ...given, at }, PORTFOLIO);
}

/** Returns the messages that a call proposed, or the ending. */
export function told(result: CallResult): readonly string[] | Ending {
  if ('ending' in result) return result.ending;
  return result.effects.map((effect) =>
    (effect.kind === 'propose' && effect.proposal.kind === 'alert' ? effect.proposal.message : effect.kind));
}

/** A run that starts strategies as the engine does, and takes notes. */
export interface NotedRun {
  readonly orders: Command[];
  readonly alerts: AlertProposal[];
  readonly detach: () => void;
}

/** Attaches a run of these strategies. */
export function attachRun(to: StrategyHosts, strategies: Readonly<Record<string, ApartStrategy>>): NotedRun {
  const orders: Command[] = [];
  const alerts: AlertProposal[] = [];
  const detach = to.attach({
    stopOrder: (strategy, { code, reason, place }): StopStrategy =>
      ({ kind: 'command', name: 'stop-strategy', strategy, code, reason, place, start: 1, call: 0 }),
    accept: (order) => {
      orders.push(order);
      if (order.kind === 'command' && order.name === 'start-strategy') begin(strategies[order.strategy]!);
    },
    alert: (alert) => { alerts.push(alert); },
    log: () => undefined,
  });
  return { orders, alerts, detach };
}
