import type { HeldThings } from '../../engine/host/realm.ts';
import type { PortfolioView, StrategyEffect } from '../../engine/host/strategy-call.ts';
import type { Trace } from './trace.ts';

/** What a strategy still holds and does after its end. */
interface Leftovers extends HeldThings {
  /** The number of its proposals on events that came after its end. */
  readonly proposals: number;
}

const OVER: PortfolioView = {
  available: () => 0n as ReturnType<PortfolioView['available']>,
  holding: () => ({ amount: 0n, available: 0n, cost: 0n, value: undefined }) as ReturnType<PortfolioView['holding']>,
  openIntents: () => 0, equity: () => undefined, budget: () => undefined,
};

/** Unsubscribes the strategy of a trace, hands it the last event of each input once more, and returns what is left. */
export function leftoversOf({ calls, realm }: Trace): Leftovers {
  const at = calls.at(-1)!.call.at;
  const acts: StrategyEffect[] = [...realm.handle({ kind: 'end', at }, OVER)];
  const held = realm.held();
  const events = new Map(calls.flatMap(({ call }) => (call.kind === 'event' ? [[call.input, call] as const] : [])));
  if (held.streams.length > 0)
    for (const call of events.values()) acts.push(...realm.handle({ ...call, at: at + 1 }, OVER));
  return { ...held, proposals: acts.filter(({ kind }) => kind === 'propose').length };
}
